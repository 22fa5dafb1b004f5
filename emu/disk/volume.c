/*
 * ext2 images on the host, by libext2fs (volume.h).
 *
 * Order of writing: a new file is complete before it gets its name, and a name is removed before its file, so that a
 * full image or a failed call leaves the old files intact.
 */
#include "emu/disk/volume.h"

#include <errno.h>
#include <et/com_err.h>
#include <ext2fs/ext2fs.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emu/base/child.h"
#include "emu/base/memory.h"
#include "vertex/contract/ext2_features.h"

struct volume {
    char *image;
    int fd; /* holds the lock */
    ext2_filsys fs;
    bool write;
};

struct volume_file {
    struct volume *v;
    ext2_ino_t inode;
    ext2_file_t file;
    bool unnamed; /* a new file without a name */
};

/* ---- Errors ---- */

/* Returns the text of an error of libext2fs: its own, or errno's for the errors that users meet. */
static const char *words_for(errcode_t code)
{
    switch (code) {
    case EXT2_ET_FILE_NOT_FOUND:
        return strerror(ENOENT);
    case EXT2_ET_NO_DIRECTORY:
        return strerror(ENOTDIR);
    case EXT2_ET_BLOCK_ALLOC_FAIL:
    case EXT2_ET_INODE_ALLOC_FAIL:
        return strerror(ENOSPC);
    case EXT2_ET_SYMLINK_LOOP:
        return strerror(ELOOP);
    case EXT2_ET_DIR_EXISTS:
        return strerror(EEXIST);
    default:
        return error_message(code);
    }
}

/* 0 if the code is 0; else -1 with "image: path: words". */
static int judge(const struct volume *v, const char *path, errcode_t code, char *error)
{
    if (code == 0)
        return 0;
    return error_line(error, "%s: %s%s%s", v->image, path ? path : "", path ? ": " : "", words_for(code));
}

/* ---- Opening and closing ---- */

/* Returns NULL, or why an open descriptor is not an image's that can be locked. */
static const char *refuse_lock(int fd)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "not a regular file";
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? "in use by another ncube" : strerror(errno);
    return NULL;
}

int volume_lock(const char *image, bool write, char *error)
{
    int fd = open(image, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK); /* a FIFO would block */
    const char *why = refuse_lock(fd);

    if (!why)
        return fd;
    error_line(error, "%s: %s", image, why);
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool is_clean(ext2_filsys fs)
{
    return (fs->super->s_state & EXT2_VALID_FS) && !(fs->super->s_state & EXT2_ERROR_FS) &&
           !ext2fs_has_feature_journal_needs_recovery(fs->super);
}

/* Opens the image by its descriptor, because libext2fs would read options behind a '?' in a name. Nothing is written
 * yet, also not the mark of the feature mmp. */
static errcode_t open_file_system(struct volume *v)
{
    char name[40];

    snprintf(name, sizeof name, "/proc/self/fd/%d", v->fd);
    errcode_t code = ext2fs_open(name, (v->write ? EXT2_FLAG_RW : 0) | EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0, 0,
                                 unix_io_manager, &v->fs);
    return code;
}

/* Lets e2fsck look for damage, which would make libext2fs write over what files have. */
static int refuse_damage(const struct volume *v, char *error)
{
    char name[40];

    snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), v->fd); /* e2fsck has other descriptors */
    int status = child_run((char *[]){"e2fsck", "-fn", name, NULL}, true);
    if (status < 0 || status == CHILD_NOT_FOUND)
        return error_line(error, "%s: e2fsck, which is to check it, cannot be run; Debian has it in e2fsprogs",
                          v->image);
    return status == 0 ? 0 : error_line(error, "%s: damaged; copy the image, then run e2fsck %s", v->image, v->image);
}

/* Refuses to write to an image that is damaged, or has what ext2 has not. */
static int refuse_to_write(struct volume *v, char *error)
{
    const struct ext2_super_block *super = v->fs->super;
    const char *other = ext2_incompatible_name(super->s_feature_incompat);

    if (!is_clean(v->fs))
        return error_line(error, "%s: not clean; \"ncube disk fsck %s\" repairs it", v->image, v->image);
    if (!other)
        other = ext2_ro_compatible_name(super->s_feature_ro_compat);
    if (other)
        return error_line(error, "%s: has %s%s, which ext2 does not have; its files must be copied to another image",
                          v->image, other[0] ? "the feature " : "unknown features", other);
    return refuse_damage(v, error);
}

static void set_clean(struct volume *v, bool clean)
{
    if (clean)
        v->fs->super->s_state |= EXT2_VALID_FS;
    else
        v->fs->super->s_state &= (uint16_t)~EXT2_VALID_FS;
    ext2fs_mark_super_dirty(v->fs);
}

static void drop(struct volume *v)
{
    if (v->fs)
        ext2fs_free(v->fs);
    if (v->fd >= 0)
        close(v->fd);
    free(v->image);
    free(v);
}

static int prepare(struct volume *v, char *error)
{
    v->fd = volume_lock(v->image, v->write, error);
    if (v->fd < 0)
        return -1;
    errcode_t code = open_file_system(v);
    if (code == EXT2_ET_BAD_MAGIC || code == EXT2_ET_SHORT_READ)
        return error_line(error, "%s: not an ext2 file system", v->image);
    if (code)
        return judge(v, NULL, code, error);
    if (!v->write)
        return 0;
    if (refuse_to_write(v, error) < 0 || judge(v, NULL, ext2fs_read_bitmaps(v->fs), error) < 0)
        return -1;
    set_clean(v, false);
    return judge(v, NULL, ext2fs_flush(v->fs), error);
}

int volume_open(struct volume **out, const char *image, bool write, char *error)
{
    struct volume *v = memory_new(1, sizeof *v);

    initialize_ext2_error_table();
    *v = (struct volume){.image = memory_copy_text(image, strlen(image)), .fd = -1, .write = write};
    if (prepare(v, error) < 0) {
        drop(v);
        return -1;
    }
    *out = v;
    return 0;
}

int volume_close(struct volume *v, int result, char *error)
{
    int closed = 0;

    if (!v)
        return result;
    error = result == 0 ? error : NULL;
    if (v->write) {
        closed = judge(v, NULL, ext2fs_flush(v->fs), error);
        if (closed == 0) {
            set_clean(v, true);
            closed = judge(v, NULL, ext2fs_flush(v->fs), error);
        }
        if (closed == 0 && fsync(v->fd) < 0)
            closed = error_line(error, "%s: %s", v->image, strerror(errno));
    }
    drop(v);
    return result == 0 ? closed : result;
}

/* ---- Looking up ---- */

static bool ends_in_slash(const char *path)
{
    return path[0] && path[strlen(path) - 1] == '/';
}

/* A path that ends in a slash leads to a directory. */
static int find(struct volume *v, const char *path, ext2_ino_t *inode, char *error)
{
    errcode_t code = ext2fs_namei_follow(v->fs, EXT2_ROOT_INO, EXT2_ROOT_INO, path[0] ? path : "/", inode);

    if (code == 0 && ends_in_slash(path))
        code = ext2fs_check_directory(v->fs, *inode);
    return judge(v, path, code, error);
}

static void fill_stat(ext2_filsys fs, ext2_ino_t number, const struct ext2_inode *inode, struct volume_stat *st)
{
    *st = (struct volume_stat){
        .inode = number,
        .mode = inode->i_mode,
        .links = inode->i_links_count,
        .uid = inode_uid(*inode),
        .gid = inode_gid(*inode),
        .generation = inode->i_generation,
        .bytes = EXT2_I_SIZE(inode),
        .blocks_512 = ext2fs_inode_i_blocks(fs, (struct ext2_inode *)inode),
        .mtime_s = inode->i_mtime,
    };
}

int volume_stat(struct volume *v, const char *path, struct volume_stat *st, char *error)
{
    struct ext2_inode inode;
    ext2_ino_t number;

    if (find(v, path, &number, error) < 0 || judge(v, path, ext2fs_read_inode(v->fs, number, &inode), error) < 0)
        return -1;
    fill_stat(v->fs, number, &inode, st);
    return 0;
}

bool volume_has(struct volume *v, const char *path)
{
    ext2_ino_t inode;

    return find(v, path, &inode, NULL) == 0;
}

struct listing {
    struct volume *v;
    void (*visit)(void *ctx, const char *name, const struct volume_stat *st);
    void *ctx;
    errcode_t code;
};

static int list_entry(ext2_ino_t dir, int kind, struct ext2_dir_entry *entry, int offset, int block_bytes, char *buf,
                      void *arg)
{
    struct listing *l = arg;
    char name[VOLUME_ENTRY_BYTES];
    struct ext2_inode inode;
    struct volume_stat st;

    (void)dir, (void)offset, (void)block_bytes, (void)buf;
    if (kind == DIRENT_DOT_FILE || kind == DIRENT_DOT_DOT_FILE)
        return 0;
    snprintf(name, sizeof name, "%.*s", ext2fs_dirent_name_len(entry), entry->name);
    l->code = ext2fs_read_inode(l->v->fs, entry->inode, &inode);
    if (l->code)
        return DIRENT_ABORT;
    fill_stat(l->v->fs, entry->inode, &inode, &st);
    l->visit(l->ctx, name, &st);
    return 0;
}

int volume_list(struct volume *v, const char *path,
                void (*visit)(void *ctx, const char *name, const struct volume_stat *st), void *ctx, char *error)
{
    struct listing l = {v, visit, ctx, 0};
    struct volume_stat st;

    if (volume_stat(v, path, &st, error) < 0)
        return -1;
    if (!LINUX_S_ISDIR(st.mode)) {
        visit(ctx, path, &st);
        return 0;
    }
    errcode_t code = ext2fs_dir_iterate2(v->fs, st.inode, 0, NULL, list_entry, &l);
    return judge(v, path, code ? code : l.code, error);
}

/* Splits a path into its directory, which must exist, and the last name, which need not. The caller frees *name. */
static int find_parent(struct volume *v, const char *path, ext2_ino_t *dir, char **name, char *error)
{
    size_t length = strlen(path);

    while (length > 0 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    if (start == length)
        return error_line(error, "%s: %s: has no name", v->image, path);
    if (length - start >= VOLUME_ENTRY_BYTES)
        return error_line(error, "%s: %s: %s", v->image, path, strerror(ENAMETOOLONG));
    char *parent = memory_copy_text(path, start);
    int result = find(v, parent, dir, error);
    free(parent);
    if (result == 0)
        result = judge(v, path, ext2fs_check_directory(v->fs, *dir), error);
    if (result == 0)
        *name = memory_copy_text(path + start, length - start);
    return result;
}

/* ---- Contents ---- */

static struct volume_file *file_new(struct volume *v, ext2_ino_t inode, bool unnamed)
{
    struct volume_file *f = memory_new(1, sizeof *f);

    *f = (struct volume_file){.v = v, .inode = inode, .unnamed = unnamed};
    return f;
}

int volume_file_open(struct volume *v, const char *path, struct volume_file **out, uint64_t *bytes, char *error)
{
    struct volume_stat st;

    if (volume_stat(v, path, &st, error) < 0)
        return -1;
    if (!LINUX_S_ISREG(st.mode))
        return error_line(error, "%s: %s: not a regular file", v->image, path);
    struct volume_file *f = file_new(v, st.inode, false);
    if (judge(v, path, ext2fs_file_open(v->fs, st.inode, 0, &f->file), error) < 0) {
        free(f);
        return -1;
    }
    *bytes = st.bytes;
    *out = f;
    return 0;
}

/* Frees an inode and its blocks. No name may refer to it any longer. */
static errcode_t release(struct volume *v, ext2_ino_t number, bool directory)
{
    struct ext2_inode inode;
    errcode_t code = ext2fs_read_inode(v->fs, number, &inode);

    if (code == 0 && ext2fs_inode_has_valid_blocks2(v->fs, &inode))
        code = ext2fs_punch(v->fs, number, &inode, NULL, 0, ~0ull);
    if (code)
        return code;
    inode.i_links_count = 0;
    inode.i_dtime = (uint32_t)time(NULL);
    code = ext2fs_write_inode(v->fs, number, &inode);
    if (code == 0)
        ext2fs_inode_alloc_stats2(v->fs, number, -1, directory);
    return code;
}

int volume_file_new(struct volume *v, struct volume_file **out, char *error)
{
    uint32_t now = (uint32_t)time(NULL);
    struct ext2_inode inode = {.i_mode = LINUX_S_IFREG | 0644, .i_atime = now, .i_ctime = now, .i_mtime = now};
    ext2_ino_t number;
    errcode_t code = ext2fs_new_inode(v->fs, EXT2_ROOT_INO, inode.i_mode, NULL, &number);

    if (code == 0)
        code = ext2fs_write_new_inode(v->fs, number, &inode);
    if (code)
        return judge(v, NULL, code, error);
    ext2fs_inode_alloc_stats2(v->fs, number, +1, 0);
    struct volume_file *f = file_new(v, number, true);
    code = ext2fs_file_open(v->fs, number, EXT2_FILE_WRITE, &f->file);
    if (code) {
        volume_file_close(f, -1, NULL);
        return judge(v, NULL, code, error);
    }
    *out = f;
    return 0;
}

int volume_file_read(struct volume_file *f, uint64_t offset, void *buf, size_t n, char *error)
{
    unsigned got = 0;
    errcode_t code = ext2fs_file_llseek(f->file, offset, EXT2_SEEK_SET, NULL);

    if (code == 0)
        code = ext2fs_file_read(f->file, buf, (unsigned)n, &got);
    memset((char *)buf + got, 0, n - got);
    return judge(f->v, NULL, code, error);
}

int volume_file_block(struct volume_file *f, uint64_t at, uint64_t *block, char *error)
{
    blk64_t found = 0;
    errcode_t code = ext2fs_bmap2(f->v->fs, f->inode, NULL, NULL, 0, at, NULL, &found);

    *block = found;
    return judge(f->v, NULL, code, error);
}

int volume_file_write(struct volume_file *f, uint64_t offset, const void *buf, size_t n, char *error)
{
    unsigned put;
    errcode_t code = ext2fs_file_llseek(f->file, offset, EXT2_SEEK_SET, NULL);

    if (code == 0)
        code = ext2fs_file_write(f->file, buf, (unsigned)n, &put);
    return judge(f->v, NULL, code, error);
}

static errcode_t link_name(struct volume *v, ext2_ino_t dir, const char *name, ext2_ino_t inode)
{
    errcode_t code = ext2fs_link(v->fs, dir, name, inode, EXT2_FT_REG_FILE);

    if (code != EXT2_ET_DIR_NO_SPACE)
        return code;
    code = ext2fs_expand_dir(v->fs, dir);
    return code ? code : ext2fs_link(v->fs, dir, name, inode, EXT2_FT_REG_FILE);
}

/* Takes a name from an inode, and frees the inode with its last name. */
static errcode_t unlink_name(struct volume *v, ext2_ino_t dir, const char *name, ext2_ino_t number)
{
    struct ext2_inode inode;
    errcode_t code = ext2fs_unlink(v->fs, dir, name, number, 0);

    if (code == 0)
        code = ext2fs_read_inode(v->fs, number, &inode);
    if (code || inode.i_links_count <= 1)
        return code ? code : release(v, number, false);
    inode.i_links_count--;
    return ext2fs_write_inode(v->fs, number, &inode);
}

static errcode_t give_first_link(struct volume_file *f)
{
    struct ext2_inode inode;
    errcode_t code = ext2fs_file_flush(f->file);

    if (code == 0)
        code = ext2fs_read_inode(f->v->fs, f->inode, &inode);
    inode.i_links_count = 1;
    return code ? code : ext2fs_write_inode(f->v->fs, f->inode, &inode);
}

/* Removes the name of an existing regular file; refuses anything else. */
static int make_way(struct volume *v, ext2_ino_t dir, const char *name, const char *path, char *error)
{
    ext2_ino_t before;
    struct ext2_inode inode;
    errcode_t code = ext2fs_lookup(v->fs, dir, name, (int)strlen(name), NULL, &before);

    if (code == EXT2_ET_FILE_NOT_FOUND)
        return 0;
    if (code == 0)
        code = ext2fs_read_inode(v->fs, before, &inode);
    if (code == 0 && !LINUX_S_ISREG(inode.i_mode))
        return error_line(error, "%s: %s: there is already something that is not a regular file", v->image, path);
    return judge(v, path, code ? code : unlink_name(v, dir, name, before), error);
}

int volume_file_link(struct volume_file *f, const char *path, char *error)
{
    struct volume *v = f->v;
    ext2_ino_t dir;
    char *name;

    if (ends_in_slash(path))
        return error_line(error, "%s: %s: %s", v->image, path, strerror(EISDIR));
    if (find_parent(v, path, &dir, &name, error) < 0)
        return -1;
    int result = judge(v, path, give_first_link(f), error);
    if (result == 0)
        result = make_way(v, dir, name, path, error);
    if (result == 0)
        result = judge(v, path, link_name(v, dir, name, f->inode), error);
    free(name);
    f->unnamed = result < 0;
    return result;
}

int volume_file_close(struct volume_file *f, int result, char *error)
{
    errcode_t code = 0;

    if (!f)
        return result;
    if (f->file)
        code = ext2fs_file_close(f->file);
    if (f->unnamed) {
        errcode_t released = release(f->v, f->inode, false);

        code = code ? code : released;
    }
    if (result == 0)
        result = judge(f->v, NULL, code, error);
    free(f);
    return result;
}

/* ---- Names ---- */

int volume_mkdir(struct volume *v, const char *path, char *error)
{
    ext2_ino_t dir;
    char *name;

    if (find_parent(v, path, &dir, &name, error) < 0)
        return -1;
    /* ext2fs_mkdir of an existing name would leave an inode behind. */
    ext2_ino_t there;
    errcode_t code = ext2fs_lookup(v->fs, dir, name, (int)strlen(name), NULL, &there);
    code = code == 0 ? EXT2_ET_DIR_EXISTS : code != EXT2_ET_FILE_NOT_FOUND ? code : ext2fs_mkdir(v->fs, dir, 0, name);
    if (code == EXT2_ET_DIR_NO_SPACE) {
        code = ext2fs_expand_dir(v->fs, dir);
        code = code ? code : ext2fs_mkdir(v->fs, dir, 0, name);
    }
    free(name);
    return judge(v, path, code, error);
}

static void count_entry(void *ctx, const char *name, const struct volume_stat *st)
{
    (void)name, (void)st;
    ++*(unsigned *)ctx;
}

/* Removes an empty directory: its ".." no longer counts as a link of its parent. */
static errcode_t remove_directory(struct volume *v, ext2_ino_t dir, const char *name, ext2_ino_t number)
{
    struct ext2_inode parent;
    errcode_t code = ext2fs_unlink(v->fs, dir, name, number, 0);

    if (code == 0)
        code = release(v, number, true);
    if (code == 0)
        code = ext2fs_read_inode(v->fs, dir, &parent);
    if (code)
        return code;
    parent.i_links_count--;
    return ext2fs_write_inode(v->fs, dir, &parent);
}

static int remove_found(struct volume *v, ext2_ino_t dir, const char *name, const char *path, char *error)
{
    struct ext2_inode inode;
    ext2_ino_t number;
    unsigned entries = 0;
    errcode_t code = ext2fs_lookup(v->fs, dir, name, (int)strlen(name), NULL, &number);

    if (code == 0)
        code = ext2fs_read_inode(v->fs, number, &inode);
    if (code == 0 && !LINUX_S_ISDIR(inode.i_mode))
        code = ends_in_slash(path) ? EXT2_ET_NO_DIRECTORY : unlink_name(v, dir, name, number);
    if (code || !LINUX_S_ISDIR(inode.i_mode))
        return judge(v, path, code, error);
    if (number == EXT2_ROOT_INO || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return error_line(error, "%s: %s: cannot be removed", v->image, path);
    if (volume_list(v, path, count_entry, &entries, error) < 0)
        return -1;
    if (entries > 0)
        return error_line(error, "%s: %s: %s", v->image, path, strerror(ENOTEMPTY));
    return judge(v, path, remove_directory(v, dir, name, number), error);
}

int volume_remove(struct volume *v, const char *path, char *error)
{
    ext2_ino_t dir;
    char *name;

    if (find_parent(v, path, &dir, &name, error) < 0)
        return -1;
    int result = remove_found(v, dir, name, path, error);
    free(name);
    return result;
}
