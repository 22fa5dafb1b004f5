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

static int file_close(void *ufid)
{
    return (int)trap_close((long)ufid);
}

static ssize_t file_read(void *ufid, void *buf, size_t n)
{
    return trap_read((long)ufid, buf, (long)n);
}

static ssize_t file_write(void *ufid, const void *buf, size_t n)
{
    return trap_write((long)ufid, buf, (long)n);
}

static ssize_t file_pread(void *ufid, void *buf, size_t n, off_t at)
{
    return trap_pread((long)ufid, buf, (long)n, at);
}

static ssize_t file_pwrite(void *ufid, const void *buf, size_t n, off_t at)
{
    return trap_pwrite((long)ufid, buf, (long)n, at);
}

static int file_setview(void *ufid, const void *packed, size_t n)
{
    long number = trap_askstart(ufid, N_FVIEW, 1, packed, (long)n);

    return (int)(number > 0 ? trap_askend(number, NULL) : number);
}

static off_t file_lseek(void *ufid, off_t offset, int whence)
{
    return trap_lseek((long)ufid, offset, whence);
}

static int stat_unpack(long result, struct stat *st, const struct file_stat *from)
{
    if (result < 0)
        return (int)result;
    memset(st, 0, sizeof *st);
    st->st_dev = from->dev;
    st->st_ino = from->ino;
    st->st_mode = from->mode;
    st->st_nlink = (nlink_t)from->nlink;
    st->st_uid = from->uid;
    st->st_gid = from->gid;
    st->st_size = (off_t)from->size_bytes;
    st->st_blksize = (blksize_t)from->block_bytes;
    st->st_blocks = (blkcnt_t)from->blocks_512;
    st->st_atime = from->atime_s;
    st->st_mtime = from->mtime_s;
    st->st_ctime = from->ctime_s;
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

static int file_ftruncate(void *ufid, off_t size)
{
    return (int)trap_ftruncate((long)ufid, size, 0);
}

static int file_fsync(void *ufid)
{
    return (int)trap_fsync((long)ufid);
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

static int file_readstart(void *ufid, int n)
{
    return (int)trap_readstart((long)ufid, n);
}

static int file_preadstart(void *ufid, int n, off_t at)
{
    return (int)trap_preadstart((long)ufid, n, at);
}

static int file_readend(void *ufid, void *buf)
{
    return (int)trap_readend((long)ufid, buf);
}

static int file_writestart(void *ufid, const void *buf, int n)
{
    return (int)trap_writestart((long)ufid, buf, n);
}

static int file_pwritestart(void *ufid, const void *buf, int n, off_t at)
{
    return (int)trap_pwritestart((long)ufid, buf, n, at);
}

static int file_writeend(void *ufid)
{
    return (int)trap_writeend((long)ufid);
}

static int file_ionode(void *ufid)
{
    return (int)trap_ionode((long)ufid);
}

static int file_iochannel(void *ufid, int channel)
{
    return (int)trap_iochannel((long)ufid, channel);
}

static int file_access(const char *path, int mode)
{
    return (int)trap_access(path, mode);
}

static int file_unlink(const char *path)
{
    return (int)trap_unlink(path);
}

static int file_rename(const char *from, const char *to)
{
    return (int)trap_rename(from, to);
}

static int file_link(const char *path, const char *new_path)
{
    return (int)trap_link(path, new_path);
}

static int file_mkdir(const char *path, mode_t mode)
{
    return (int)trap_mkdir(path, mode);
}

static int file_rmdir(const char *path)
{
    return (int)trap_rmdir(path);
}

static int file_symlink(const char *text, const char *path)
{
    return (int)trap_symlink(text, path);
}

static ssize_t file_readlink(const char *path, char *buf, size_t size)
{
    return trap_readlink(path, buf, (long)size);
}

const struct ndevice ndevice_file = {
    .name = "file",
    .match = match_all,
    .open = file_open,
    .close = file_close,
    .read = file_read,
    .write = file_write,
    .pread = file_pread,
    .pwrite = file_pwrite,
    .setview = file_setview,
    .lseek = file_lseek,
    .fstat = file_fstat,
    .fstatfs = file_fstatfs,
    .ftruncate = file_ftruncate,
    .fsync = file_fsync,
    .fsetattr = file_fsetattr,
    .readstart = file_readstart,
    .preadstart = file_preadstart,
    .readend = file_readend,
    .writestart = file_writestart,
    .pwritestart = file_pwritestart,
    .writeend = file_writeend,
    .ionode = file_ionode,
    .iochannel = file_iochannel,
    .stat = file_stat,
    .lstat = file_lstat,
    .access = file_access,
    .unlink = file_unlink,
    .rename = file_rename,
    .link = file_link,
    .mkdir = file_mkdir,
    .rmdir = file_rmdir,
    .symlink = file_symlink,
    .readlink = file_readlink,
    .setattr = file_setattr,
};
