/*
 * The metadata manager [P3 section 3.1.1]: names in the tree of the metadata volume, each a text file that says how the
 * file is laid out:
 *
 *     clf 1                     the format
 *     age 1193881234            with the inode, it names the file's parts on all volumes
 *     ...                       the layout, which clients write and read (libpio/clusterfile/clf_layout.c)
 *     end
 *
 * Sizes are where the data are: clients ask the servers for them.
 */
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "nsdisk/serve/family_names.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define FIRST_LINE "clf 1\nage "
#define HEAD_BYTES 32u /* more than the first two lines */
#define LAST_LINE  "end\n"

/* ---- The text of a name ---- */

/* A text begins with its format and a number without a leading zero. Returns the bytes of that, or 0: it is none. */
static size_t parse_head(const char *text, size_t n, uint32_t *age)
{
    const size_t first = sizeof FIRST_LINE - 1;
    uint64_t number = 0;
    size_t at = first;

    if (n < first || memcmp(text, FIRST_LINE, first) != 0)
        return 0;
    for (; at < n && text[at] >= '0' && text[at] <= '9' && number <= UINT32_MAX; at++)
        number = number * 10 + (uint64_t)(text[at] - '0');
    *age = (uint32_t)number;
    return at > first && at < n && text[at] == '\n' && number > 0 && number <= UINT32_MAX && text[first] != '0' ? at + 1
                                                                                                                : 0;
}

/* A layout is lines of text, of which the last says that it is whole. */
static bool is_layout(const char *text, size_t n)
{
    const size_t last = sizeof LAST_LINE - 1;

    return n > last && n <= CLF_TEXT_BYTES && text[n - last - 1] == '\n' &&
           memcmp(text + n - last, LAST_LINE, last) == 0 && !memchr(text, '\0', n);
}

static struct ext2_path first_name(const struct clf_call *c)
{
    return (struct ext2_path){(const char *)c->record->data, c->r->bytes};
}

static struct ext2_path second_name(const struct clf_call *c)
{
    return (struct ext2_path){(const char *)c->record->data + c->r->bytes, c->r->second};
}

/* ---- Telling about a name ---- */

/* Reads a file's layout into the reply, and its handle. -N_EPROTO: it is no file of Clusterfile. */
static int tell_file(struct clf_call *c, struct ext2_inode *inode, struct clf_named *named)
{
    uint8_t *to = c->reply + sizeof *named;
    uint32_t age;

    if (!ext2_is_file(inode) || (inode->flags & EXT2_PRIVATE))
        return -N_EPROTO;
    int64_t n = ext2_read(inode, 0, to, HEAD_BYTES + CLF_TEXT_BYTES);
    if (n < 0)
        return (int)n;
    size_t head = parse_head((const char *)to, (size_t)n, &age);
    if (head == 0 || !is_layout((const char *)to + head, (size_t)n - head))
        return -N_EPROTO;
    /* An inode that is used again has another generation, which makes it another file within the same second. */
    named->handle = CLF_HANDLE(inode->ino, age + inode->generation);
    memmove(to, to + head, (size_t)n - head);
    c->reply_bytes = sizeof *named + (size_t)n - head;
    return 0;
}

/* Tells about a file or a folder. */
static int tell(struct clf_call *c, struct ext2_path name, struct clf_named *named)
{
    struct ext2_inode *inode;
    int error = family_lookup(c->fs, name, true, &inode);

    if (error < 0)
        return error;
    named->stat = family_name_stat(inode, c->fs->block_bytes);
    c->reply_bytes = sizeof *named;
    if (!ext2_is_dir(inode))
        error = tell_file(c, inode, named);
    memcpy(c->reply, named, sizeof *named);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

/* ---- Operations ---- */

static int make(struct clf_call *c)
{
    const struct ext2_path layout = second_name(c);
    char *text = (char *)c->reply;

    if (!is_layout(layout.text, layout.bytes))
        return layout.bytes == 0 ? -N_EINVAL : -N_EPROTO;
    if (c->fs->read_only)
        return -N_EROFS;
    size_t head = text_print(text, HEAD_BYTES, FIRST_LINE "%u\n", ext2_now(c->fs));
    memcpy(text + head, layout.text, layout.bytes);
    return ext2_make_file(c->fs, first_name(c), (uint16_t)(c->r->offset >> 32 & 0777),
                          (struct ext2_path){text, (uint32_t)head + layout.bytes});
}

static int open_name(struct clf_call *c)
{
    struct clf_named named = {.made = 0};
    const uint32_t flags = (uint32_t)c->r->offset;
    int error = tell(c, first_name(c), &named);

    if (error == -N_ENOENT && (flags & N_O_CREAT)) {
        error = make(c);
        named = (struct clf_named){.made = 1};
        return error < 0 ? error : tell(c, first_name(c), &named);
    }
    return error == 0 && (flags & N_O_CREAT) && (flags & N_O_EXCL) ? -N_EEXIST : error;
}

static int stat_name(struct clf_call *c)
{
    struct clf_named named = {.made = 0};

    return tell(c, first_name(c), &named);
}

/* The reply, which is about the file, is made before the name goes. */
static int unlink_name(struct clf_call *c)
{
    int error = stat_name(c);

    return error < 0 ? error : ext2_unlink(c->fs, first_name(c));
}

static int rename_name(struct clf_call *c)
{
    struct clf_named from = {.made = 0}, to = {.made = 0};
    int error = family_name_check(second_name(c), CLF_FOLDER);

    if (error == 0)
        error = tell(c, first_name(c), &from);
    if (error == 0)
        error = tell(c, second_name(c), &to);
    if (error == -N_ENOENT && from.stat.ino != 0) /* the new name is free */
        error = 0;
    if (error < 0)
        return error;
    if (to.stat.ino == 0 || to.stat.ino == from.stat.ino) { /* nothing goes */
        memset(c->reply, 0, sizeof to);
        c->reply_bytes = sizeof to;
    }
    return ext2_rename(c->fs, first_name(c), second_name(c));
}

static int make_folder(struct clf_call *c)
{
    return c->fs->read_only ? -N_EROFS : ext2_mkdir(c->fs, first_name(c), (uint16_t)(c->r->offset & 0777));
}

static int remove_folder(struct clf_call *c)
{
    return ext2_rmdir(c->fs, first_name(c));
}

static int list(struct clf_call *c)
{
    int64_t bytes = family_name_list(c->fs, first_name(c), c->r->offset, CLF_FOLDER, c->reply, CLF_LIST_BYTES);

    c->reply_bytes = bytes > 0 ? (size_t)bytes : 0;
    return (int)bytes;
}

int64_t clf_invoke_name(struct clf_call *c)
{
    static int (*const operation[CLF_NAME_OPS])(struct clf_call *) = {
        [CLF_NAME_OPEN] = open_name,     [CLF_NAME_STAT] = stat_name,    [CLF_NAME_UNLINK] = unlink_name,
        [CLF_NAME_RENAME] = rename_name, [CLF_NAME_MKDIR] = make_folder, [CLF_NAME_RMDIR] = remove_folder,
        [CLF_NAME_LIST] = list,
    };
    int error = c->r->op >= CLF_NAME_OPS ? -N_EINVAL : family_name_check(first_name(c), CLF_FOLDER);

    if (error == 0 && c->room < sizeof(struct clf_named) + HEAD_BYTES + CLF_TEXT_BYTES)
        error = -N_ENOMEM;
    return error < 0 ? error : operation[c->r->op](c);
}
