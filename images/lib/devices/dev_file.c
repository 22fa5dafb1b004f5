/*
 * The file driver of nDEVICES: files of volumes and of the front end, by the traps. A path is //VOLUME/PATH on an I/O
 * node, or a file of the front end. The state is the kernel's UFID.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

_Static_assert(O_RDONLY == N_O_RDONLY && O_WRONLY == N_O_WRONLY && O_RDWR == N_O_RDWR && O_ACCMODE == N_O_ACCMODE &&
                   O_APPEND == N_O_APPEND && O_CREAT == N_O_CREAT && O_TRUNC == N_O_TRUNC && O_EXCL == N_O_EXCL &&
                   O_DIRECTORY == N_O_DIRECTORY && O_SYNC == N_O_SYNC,
               "the flags of N_FOPEN are newlib's");
_Static_assert(sizeof(off_t) == 8, "off_t has 64 bits");
_Static_assert(N_ATTR_MODE == FILE_ATTR_MODE && N_ATTR_UID == FILE_ATTR_UID && N_ATTR_GID == FILE_ATTR_GID &&
                   N_ATTR_ATIME == FILE_ATTR_ATIME && N_ATTR_MTIME == FILE_ATTR_MTIME,
               "struct nattr says what struct file_attr says");

/* Flags that change nothing: every open does what they ask for. */
#define IDLE_FLAGS (O_NOCTTY | O_NONBLOCK | O_CLOEXEC)

static int match_all(const char *path)
{
    (void)path;
    return 1;
}

/* Checks O_NOFOLLOW itself, as the servers follow every symbolic link. */
static int file_open(const char *path, int flags, mode_t mode, void **state)
{
    struct file_stat st;

    if ((flags & O_NOFOLLOW) && trap_lstat(path, &st) == 0 && S_ISLNK(st.mode))
        return -N_ELOOP;
    long ufid = trap_open(path, flags & ~(O_NOFOLLOW | IDLE_FLAGS), mode);
    *state = (void *)ufid;
    return ufid < 0 ? (int)ufid : 0;
}

/* Traps whose registers are those of the driver's function (traps.c). */
#define BY_TRAP(ROW)                                                        \
    ROW(int, close, (void *ufid))                                           \
    ROW(ssize_t, read, (void *ufid, void *buf, size_t n))                   \
    ROW(ssize_t, write, (void *ufid, const void *buf, size_t n))            \
    ROW(ssize_t, pread, (void *ufid, void *buf, size_t n, off_t at))        \
    ROW(ssize_t, pwrite, (void *ufid, const void *buf, size_t n, off_t at)) \
    ROW(off_t, lseek, (void *ufid, off_t offset, int whence))               \
    ROW(int, fsync, (void *ufid))                                           \
    ROW(int, readstart, (void *ufid, int n))                                \
    ROW(int, preadstart, (void *ufid, int n, off_t at))                     \
    ROW(int, readend, (void *ufid, void *buf))                              \
    ROW(int, writestart, (void *ufid, const void *buf, int n))              \
    ROW(int, pwritestart, (void *ufid, const void *buf, int n, off_t at))   \
    ROW(int, writeend, (void *ufid))                                        \
    ROW(int, ionode, (void *ufid))                                          \
    ROW(int, iochannel, (void *ufid, int channel))                          \
    ROW(int, access, (const char *path, int mode))                          \
    ROW(int, unlink, (const char *path))                                    \
    ROW(int, rename, (const char *from, const char *to))                    \
    ROW(int, link, (const char *path, const char *new_path))                \
    ROW(int, mkdir, (const char *path, mode_t mode))                        \
    ROW(int, rmdir, (const char *path))                                     \
    ROW(int, symlink, (const char *text, const char *path))                 \
    ROW(ssize_t, readlink, (const char *path, char *buf, size_t size))

#define TRAP(type, name, parameters) type file_##name parameters __asm__("trap_" #name);
BY_TRAP(TRAP)

static int file_setview(void *ufid, const void *packed, size_t n)
{
    long number = trap_askstart(ufid, N_FVIEW, 1, packed, (long)n);

    return (int)(number > 0 ? trap_askend(number, NULL) : number);
}

static int file_ftruncate(void *ufid, off_t size)
{
    return (int)trap_ftruncate((long)ufid, size, 0);
}

static int stat_unpack(long result, struct stat *st, const struct file_stat *from)
{
    if (result < 0)
        return (int)result;
    *st = (struct stat){.st_dev = from->dev,
                        .st_ino = from->ino,
                        .st_mode = from->mode,
                        .st_nlink = (nlink_t)from->nlink,
                        .st_uid = from->uid,
                        .st_gid = from->gid,
                        .st_size = (off_t)from->size_bytes,
                        .st_atime = from->atime_s,
                        .st_mtime = from->mtime_s,
                        .st_ctime = from->ctime_s,
                        .st_blksize = (blksize_t)from->block_bytes,
                        .st_blocks = (blkcnt_t)from->blocks_512};
    return 0;
}

static int file_fstat(void *ufid, struct stat *st)
{
    struct file_stat from;

    return stat_unpack(trap_fstat((long)ufid, &from), st, &from);
}

static int file_stat(const char *path, struct stat *st)
{
    struct file_stat from;

    return stat_unpack(trap_stat(path, &from), st, &from);
}

static int file_lstat(const char *path, struct stat *st)
{
    struct file_stat from;

    return stat_unpack(trap_lstat(path, &from), st, &from);
}

static int file_fstatfs(void *ufid, struct statfs *st)
{
    struct file_statfs from;
    long result = trap_statfs((long)ufid, &from);

    if (result >= 0)
        *st = (struct statfs){from.block_bytes, from.blocks, from.blocks_free, from.inodes, from.inodes_free};
    return (int)result;
}

static struct file_attr attr_pack(const struct nattr *a)
{
    return (struct file_attr){
        .what = a->what, .mode = a->mode, .uid = a->uid, .gid = a->gid, .atime_s = a->atime, .mtime_s = a->mtime};
}

static int file_fsetattr(void *ufid, const struct nattr *attr)
{
    struct file_attr a = attr_pack(attr);

    return (int)trap_fsetattr((long)ufid, &a);
}

static int file_setattr(const char *path, int flags, const struct nattr *attr)
{
    struct file_attr a = attr_pack(attr);

    return (int)trap_setattr(path, flags & AT_SYMLINK_NOFOLLOW ? N_O_NOFOLLOW : 0, &a);
}

#define ENTRY(type, name, parameters) , .name = file_##name

const struct ndevice ndevice_file = {
    .name = "file",
    .match = match_all,
    .open = file_open,
    .setview = file_setview,
    .fstat = file_fstat,
    .fstatfs = file_fstatfs,
    .ftruncate = file_ftruncate,
    .fsetattr = file_fsetattr,
    .stat = file_stat,
    .lstat = file_lstat,
    .setattr = file_setattr BY_TRAP(ENTRY),
};
