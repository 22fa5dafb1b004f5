/*
 * What the drivers of families' trees have in common: which paths are theirs, who may do what, where lseek goes.
 * Inline: a driver is also in a segment of its own (images/program.ld).
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vertex/contract/proto.h"

/* Whether a path is the prefix, such as "/cfs", or below it. */
static inline bool server_path_is(const char *prefix, const char *path)
{
    const size_t n = strlen(prefix);

    return strncmp(path, prefix, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The name in the tree of a path that is. */
static inline const char *server_path_name(const char *prefix, const char *path)
{
    const size_t n = strlen(prefix);

    return path[n] ? path + n : "/";
}

/* Whether an open file with these flags may be read, or written. -EISDIR, -EBADF. */
static inline int server_may_move(bool is_folder, uint32_t flags, bool write)
{
    const uint32_t access = flags & N_O_ACCMODE;

    if (is_folder)
        return -EISDIR;
    return access == (write ? N_O_RDONLY : N_O_WRONLY) ? -EBADF : 0;
}

/* Every program is the superuser, as on volumes: it may read and write all. -EACCES. */
static inline int server_may_access(const struct file_stat *file, int mode)
{
    return (mode & 1) && (file->mode & 0111) == 0 ? -EACCES : 0;
}

/* The place that lies `offset` behind `base`, which is the one that `whence` means. -EINVAL, -EOVERFLOW. */
static inline off_t server_seek(off_t base, off_t offset, int whence)
{
    if (whence < SEEK_SET || whence > SEEK_END)
        return -EINVAL;
    if (offset > 0 && base > INT64_MAX - offset)
        return -EOVERFLOW;
    return base + offset < 0 ? -EINVAL : base + offset;
}

/* The attributes of a name in the tree, with what the file itself has. */
static inline void server_stat(struct stat *st, const struct file_stat *from, uint64_t size_bytes, uint32_t block_bytes,
                               uint64_t blocks_512)
{
    *st = (struct stat){.st_ino = (ino_t)from->ino,
                        .st_mode = from->mode,
                        .st_nlink = (nlink_t)from->nlink,
                        .st_uid = (uid_t)from->uid,
                        .st_gid = (gid_t)from->gid,
                        .st_size = (off_t)size_bytes,
                        .st_blksize = (blksize_t)block_bytes,
                        .st_blocks = (blkcnt_t)blocks_512};
    st->st_atime = from->atime_s;
    st->st_mtime = from->mtime_s;
    st->st_ctime = from->ctime_s;
}

/* The driver's calls on names, by functions of the tree's client that begin with that word, and name_of. */
#define SERVER_DEVICE_NAMES(client)                                 \
    static int device_unlink(const char *path)                      \
    {                                                               \
        return client##unlink(name_of(path));                       \
    }                                                               \
    static int device_rename(const char *from, const char *to)      \
    {                                                               \
        return client##rename(name_of(from), name_of(to));          \
    }                                                               \
    static int device_mkdir(const char *path, mode_t mode)          \
    {                                                               \
        return client##mkdir(name_of(path), (uint32_t)mode & 0777); \
    }                                                               \
    static int device_rmdir(const char *path)                       \
    {                                                               \
        return client##rmdir(name_of(path));                        \
    }

/* The calls that both drivers have, in their struct ndevice. */
#define SERVER_DEVICE_CALLS                                                                                 \
    .match = match, .open = device_open, .close = device_close, .read = device_read, .write = device_write, \
    .pread = device_pread, .pwrite = device_pwrite, .lseek = device_lseek, .fstat = device_fstat,           \
    .ftruncate = device_ftruncate, .fsync = device_fsync, .readdir = device_readdir, .path = device_path,   \
    .stat = device_stat, .access = device_access, .unlink = device_unlink, .rename = device_rename,         \
    .mkdir = device_mkdir, .rmdir = device_rmdir
