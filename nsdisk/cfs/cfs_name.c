/*
 * The name server [P2 section 3.0]: names in the tree of disk 0, each a text file that says where the file is:
 *
 *     cfs 1                     the format
 *     file 17                   its number: names of its parts on the disks
 *     age 1193881234            no other file 17 is as old
 *     home 3                    the place in the next line of the disk with its header
 *     disks cf00 cf01 ...
 *     end
 *
 * Numbers are never used again. /.cfs/next says which are free; CFS_NUMBERS_AHEAD of them are taken at once, so that
 * not every new file writes it.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "nsdisk/serve/family_names.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define TEXT_BYTES   (CFS_DISKS_BYTES + 128u)
#define FIRST_LINE   "cfs 1\n"
#define LONGEST_DISK 31u
#define HIDDEN       ".cfs" /* the servers' own folder */

/* ---- The text of a name ---- */

struct text {
    const char *at, *end;
    bool bad;
};

static void expect(struct text *t, const char *word)
{
    size_t n = strlen(word);

    if (t->bad || (size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        t->bad = true;
    else
        t->at += n;
}

/* A decimal number of 32 bits without a leading zero. */
static uint32_t number(struct text *t)
{
    uint64_t n = 0;
    const char *first = t->at;

    while (!t->bad && t->at < t->end && *t->at >= '0' && *t->at <= '9' && n <= UINT32_MAX)
        n = n * 10 + (uint64_t)(*t->at++ - '0');
    t->bad |= t->at == first || n > UINT32_MAX || (*first == '0' && t->at != first + 1);
    return (uint32_t)n;
}

/* Volumes with a space between. Returns how many there are. */
static uint32_t disks(struct text *t, const char **first, uint32_t *bytes)
{
    uint32_t n = 0;

    *first = t->at;
    do {
        const char *name = t->at;

        while (t->at<t->end && * t->at> ' ' && *t->at < 0x7f)
            t->at++;
        t->bad |= t->at == name || t->at - name > (int)LONGEST_DISK;
        n++;
    } while (!t->bad && t->at < t->end && *t->at == ' ' && t->at++);
    *bytes = (uint32_t)(t->at - *first);
    t->bad |= n > CFS_DISKS_MAX || *bytes > CFS_DISKS_BYTES;
    return n;
}

/* *list, *list_bytes: the disks, in the text. False: it is no file of the CFS. */
static bool parse(const char *text, size_t n, struct cfs_named *named, const char **list, uint32_t *list_bytes)
{
    struct text t = {text, text + n, false};

    expect(&t, FIRST_LINE "file ");
    named->number = number(&t);
    expect(&t, "\nage ");
    named->age = number(&t);
    expect(&t, "\nhome ");
    uint32_t home = number(&t);
    expect(&t, "\ndisks ");
    named->disks = t.bad ? 0 : (uint16_t)disks(&t, list, list_bytes);
    expect(&t, "\nend\n");
    named->home = (uint16_t)home;
    return !t.bad && t.at == t.end && named->number > 0 && home < named->disks;
}

/* ---- Numbers ---- */

/* A machine that ended may have written a longer number and not yet the size: then the end of the line is missing. */
static int read_next(struct ext2_inode *inode, uint32_t *next)
{
    char text[16];
    int64_t n = ext2_read(inode, 0, text, sizeof text);
    struct text t = {text, text + (n > 0 ? n : 0), false};

    *next = 1;
    if (n <= 0)
        return (int)n;
    *next = number(&t);
    if (t.at < t.end)
        expect(&t, "\n");
    return t.bad || *next == 0 ? ext2_corrupt(inode->fs, "/.cfs/next is no number") : 0;
}

/* Takes numbers off the disk: what is written says which are free, and is durable before one of these is used. */
static int take_numbers(struct cfs_call *c)
{
    struct ext2_inode *inode;
    char text[16];
    uint32_t next;
    int error = cfs_part_make_numbers(c, &inode);

    if (error < 0)
        return error;
    error = read_next(inode, &next);
    if (error == 0 && next > UINT32_MAX - CFS_NUMBERS_AHEAD)
        error = -N_ENOSPC;
    if (error == 0) {
        size_t n = text_print(text, sizeof text, "%u\n", next + CFS_NUMBERS_AHEAD);
        int64_t written = ext2_write(inode, 0, text, (uint32_t)n);

        error = written < 0 ? (int)written : written < (int64_t)n ? -N_ENOSPC : ext2_sync(c->fs);
    }
    int put = ext2_inode_put(inode);
    if (error < 0 || put < 0)
        return error < 0 ? error : put;
    c->disk->number_next = next;
    c->disk->number_end = next + CFS_NUMBERS_AHEAD;
    return 0;
}

/* ---- Names ---- */

static struct ext2_path first_name(const struct cfs_call *c)
{
    return (struct ext2_path){(const char *)c->data, c->r->bytes};
}

static struct ext2_path second_name(const struct cfs_call *c)
{
    return (struct ext2_path){(const char *)c->data + c->r->bytes, c->r->offset};
}

/* Tells about a name: struct cfs_named, then its disks. -N_EPROTO: it is no file of the CFS, and no folder. */
static int tell(struct cfs_call *c, struct ext2_inode *inode, struct cfs_named *named)
{
    char text[TEXT_BYTES];
    const char *list = text;
    uint32_t list_bytes = 0;
    int64_t n = 0;

    named->stat = family_name_stat(inode, CFS_BLOCK_BYTES);
    if (!ext2_is_dir(inode)) {
        n = ext2_is_file(inode) && (inode->flags & EXT2_PRIVATE) == 0 ? ext2_read(inode, 0, text, sizeof text) : 0;
        if (n >= 0 && !parse(text, (size_t)n, named, &list, &list_bytes))
            n = -N_EPROTO;
    }
    if (n < 0)
        return (int)n;
    memcpy(c->reply, named, sizeof *named);
    memcpy(c->reply + sizeof *named, list, list_bytes);
    c->reply_bytes = sizeof *named + list_bytes;
    return 0;
}

static int tell_of(struct cfs_call *c, struct ext2_path name, struct cfs_named *named)
{
    struct ext2_inode *inode;
    int error = family_lookup(c->fs, name, true, &inode);

    if (error < 0)
        return error;
    error = tell(c, inode, named);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

/* ---- Operations ---- */

/* Makes the name of a new file, of no bytes. */
static int make(struct cfs_call *c)
{
    const struct ext2_path list = second_name(c);
    struct text t = {list.text, list.text + list.bytes, false};
    const char *first;
    char text[TEXT_BYTES];
    uint32_t bytes, n = disks(&t, &first, &bytes);

    if (t.bad || bytes != list.bytes)
        return -N_EPROTO;
    int error = c->fs->read_only ? -N_EROFS : c->disk->number_next < c->disk->number_end ? 0 : take_numbers(c);
    if (error < 0)
        return error;
    uint32_t file = c->disk->number_next;
    size_t text_bytes = text_print(text, sizeof text, FIRST_LINE "file %u\nage %u\nhome %u\ndisks %.*s\nend\n", file,
                                   ext2_now(c->fs), file % n, (int)list.bytes, list.text);
    error = ext2_make_file(c->fs, first_name(c), (uint16_t)(c->r->arg >> 32 & 0777),
                           (struct ext2_path){text, (uint32_t)text_bytes});
    c->disk->number_next += error == 0;
    return error;
}

static int open_name(struct cfs_call *c)
{
    struct cfs_named named = {.made = 0};
    uint32_t flags = (uint32_t)c->r->arg;
    int error = tell_of(c, first_name(c), &named);

    if (error == -N_ENOENT && (flags & N_O_CREAT)) {
        error = make(c);
        named.made = 1;
        return error < 0 ? error : tell_of(c, first_name(c), &named);
    }
    return error == 0 && (flags & N_O_CREAT) && (flags & N_O_EXCL) ? -N_EEXIST : error;
}

static int stat_name(struct cfs_call *c)
{
    struct cfs_named named = {.made = 0};

    return tell_of(c, first_name(c), &named);
}

/* The reply, which is about the file, is made before the name goes. */
static int unlink_name(struct cfs_call *c)
{
    int error = stat_name(c);

    return error < 0 ? error : ext2_unlink(c->fs, first_name(c));
}

static int rename_name(struct cfs_call *c)
{
    struct cfs_named from = {.made = 0}, to = {.made = 0};
    int error = family_name_check(second_name(c), HIDDEN);

    if (error == 0)
        error = tell_of(c, first_name(c), &from);
    if (error == 0)
        error = tell_of(c, second_name(c), &to);
    if (error == -N_ENOENT && from.stat.ino != 0) /* the new name is free */
        error = 0;
    if (error < 0)
        return error;
    if (to.stat.ino == 0 || to.stat.ino == from.stat.ino) { /* nothing goes */
        memset(&to, 0, sizeof to);
        memcpy(c->reply, &to, sizeof to);
        c->reply_bytes = sizeof to;
    }
    return ext2_rename(c->fs, first_name(c), second_name(c));
}

static int make_folder(struct cfs_call *c)
{
    return c->fs->read_only ? -N_EROFS : ext2_mkdir(c->fs, first_name(c), (uint16_t)(c->r->arg & 0777));
}

static int remove_folder(struct cfs_call *c)
{
    return ext2_rmdir(c->fs, first_name(c));
}

static int list(struct cfs_call *c)
{
    int64_t bytes = family_name_list(c->fs, first_name(c), c->r->arg, HIDDEN, c->reply, CFS_REPLY_BYTES);

    c->reply_bytes = bytes > 0 ? (size_t)bytes : 0;
    return (int)bytes;
}

int64_t cfs_invoke_name(struct cfs_call *c)
{
    static int (*const operation[CFS_NAME_OPS])(struct cfs_call *) = {
        [CFS_NAME_OPEN] = open_name,     [CFS_NAME_STAT] = stat_name,    [CFS_NAME_UNLINK] = unlink_name,
        [CFS_NAME_RENAME] = rename_name, [CFS_NAME_MKDIR] = make_folder, [CFS_NAME_RMDIR] = remove_folder,
        [CFS_NAME_LIST] = list,
    };
    int error = c->r->op >= CFS_NAME_OPS ? -N_EINVAL : family_name_check(first_name(c), HIDDEN);

    return error < 0 ? error : operation[c->r->op](c);
}
