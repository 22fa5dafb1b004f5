/*
 * Files: the calls that newlib wants, with an underscore, and those that it leaves to the system.
 * A path is //VOLUME/PATH on an I/O node, or a file of the front end.
 */
#include <errno.h>
#include <fcntl.h>
#include <reent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/failure.h"
#include "images/lib/result.h"
#include "images/lib/stdio.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

_Static_assert(O_RDONLY == N_O_RDONLY && O_WRONLY == N_O_WRONLY && O_RDWR == N_O_RDWR && O_ACCMODE == N_O_ACCMODE &&
                   O_APPEND == N_O_APPEND && O_CREAT == N_O_CREAT && O_TRUNC == N_O_TRUNC && O_EXCL == N_O_EXCL &&
                   O_DIRECTORY == N_O_DIRECTORY && O_SYNC == N_O_SYNC,
               "the flags of N_FOPEN are newlib's");
_Static_assert(sizeof(off_t) == 8, "off_t has 64 bits");

int _open(const char *path, int flags, ...);
int _close(int fd);
int _read(int fd, void *buf, size_t n);
int _write(int fd, const void *buf, size_t n);
off_t _lseek(int fd, off_t offset, int whence);
int _fstat(int fd, struct stat *st);
int _stat(const char *path, struct stat *st);
int _isatty(int fd);
int _remove_r(struct _reent *reent, const char *path);
int _link(const char *path, const char *new_path);
int _unlink(const char *path);
int _rename(const char *from, const char *to);

static mode_t mask = S_IWGRP | S_IWOTH; /* umask */

mode_t umask(mode_t new)
{
    mode_t before = mask;

    mask = new &ACCESSPERMS;
    return before;
}

/* Flags that ask for what every open does anyway. */
#define IDLE_FLAGS (O_NOCTTY | O_NONBLOCK | O_CLOEXEC)

/* O_NOFOLLOW is looked after here: servers follow what they find. */
static long open_checked(const char *path, int flags, mode_t mode)
{
    struct file_stat st;

    if ((flags & O_NOFOLLOW) && trap_lstat(path, &st) == 0 && S_ISLNK(st.mode))
        return -N_ELOOP;
    return trap_open(path, flags & ~O_NOFOLLOW, mode);
}

int _open(const char *path, int flags, ...)
{
    mode_t mode = 0;

    if (flags & O_CREAT) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t) & ~mask;
        va_end(args);
    }
    long fd = failure_of_path("open", path, open_checked(path, flags & ~IDLE_FLAGS, mode));
    if (fd >= 0)
        failure_name(fd, path);
    return (int)result_to_errno(fd);
}

int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

int _close(int fd)
{
    long result = failure_of_fd("close", fd, trap_close(fd));

    failure_forget(fd);
    return (int)result_to_errno(result);
}

/* newlib's type of these two is int: a count that does not fit is cut, as POSIX lets a call do less. */
static long io_count(size_t n)
{
    const size_t most = 1u << 30;

    return (long)(n < most ? n : most);
}

int _read(int fd, void *buf, size_t n)
{
    return (int)result_to_errno(failure_of_fd("read", fd, trap_read(fd, buf, io_count(n))));
}

int _write(int fd, const void *buf, size_t n)
{
    long result = failure_of_fd("write", fd, trap_write(fd, buf, io_count(n)));

    if (result < 0)
        stdio_note_failed_write(fd, (int)-result);
    return (int)result_to_errno(result);
}

ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
    return result_to_errno(failure_of_fd("pread", fd, trap_pread(fd, buf, io_count(n), offset)));
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    return result_to_errno(failure_of_fd("pwrite", fd, trap_pwrite(fd, buf, io_count(n), offset)));
}

off_t _lseek(int fd, off_t offset, int whence)
{
    return result_to_errno(failure_of_fd("lseek", fd, trap_lseek(fd, offset, whence)));
}

static void stat_unpack(struct stat *st, const struct file_stat *from)
{
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
}

int _fstat(int fd, struct stat *st)
{
    struct file_stat from;
    long result = failure_of_fd("fstat", fd, trap_fstat(fd, &from));

    if (result >= 0)
        stat_unpack(st, &from);
    return (int)result_to_errno(result);
}

int _stat(const char *path, struct stat *st)
{
    struct file_stat from;
    long result = failure_of_path("stat", path, trap_stat(path, &from));

    if (result >= 0)
        stat_unpack(st, &from);
    return (int)result_to_errno(result);
}

/* For stdio: a standard stream is line-buffered, terminal or not, so that its lines come as they are printed. */
int _isatty(int fd)
{
    struct file_stat from;
    long result = trap_fstat(fd, &from);

    if (result >= 0 && S_ISCHR(from.mode))
        return 1;
    errno = result < 0 ? (int)-result : ENOTTY;
    return 0;
}

int isatty(int fd)
{
    struct file_stat from;
    long result = trap_fstat(fd, &from);

    if (result >= 0 && from.mode == FILE_TERMINAL_MODE)
        return 1;
    errno = result < 0 ? (int)-result : ENOTTY;
    return 0;
}

int _link(const char *path, const char *new_path)
{
    return (int)result_to_errno(failure_of_path("link", path, trap_link(path, new_path)));
}

int _unlink(const char *path)
{
    return (int)result_to_errno(failure_of_path("unlink", path, trap_unlink(path)));
}

/* tmpfile's. */
int _remove_r(struct _reent *reent, const char *path)
{
    (void)reent;
    return remove(path);
}

int remove(const char *path)
{
    long result = trap_unlink(path);

    if (result == -N_EISDIR)
        result = trap_rmdir(path);
    return (int)result_to_errno(failure_of_path("remove", path, result));
}

int _rename(const char *from, const char *to)
{
    return (int)result_to_errno(failure_of_path("rename", from, trap_rename(from, to)));
}

int ftruncate(int fd, off_t size)
{
    return (int)result_to_errno(failure_of_fd("ftruncate", fd, trap_ftruncate(fd, size)));
}

int fsync(int fd)
{
    return (int)result_to_errno(failure_of_fd("fsync", fd, trap_fsync(fd)));
}

/* Files have no data without metadata here. */
int fdatasync(int fd)
{
    return fsync(fd);
}

int mkdir(const char *path, mode_t mode)
{
    return (int)result_to_errno(failure_of_path("mkdir", path, trap_mkdir(path, mode & ~mask)));
}

int rmdir(const char *path)
{
    return (int)result_to_errno(failure_of_path("rmdir", path, trap_rmdir(path)));
}

int lstat(const char *path, struct stat *st)
{
    struct file_stat from;
    long result = failure_of_path("lstat", path, trap_lstat(path, &from));

    if (result >= 0)
        stat_unpack(st, &from);
    return (int)result_to_errno(result);
}

int symlink(const char *text, const char *path)
{
    return (int)result_to_errno(failure_of_path("symlink", path, trap_symlink(text, path)));
}

ssize_t readlink(const char *path, char *buf, size_t size)
{
    return result_to_errno(failure_of_path("readlink", path, trap_readlink(path, buf, io_count(size))));
}

int truncate(const char *path, off_t size)
{
    int fd = open(path, O_WRONLY);
    int result = fd < 0 ? -1 : ftruncate(fd, size);
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return result;
}

void sync(void)
{
    trap_sync();
}

int euidaccess(const char *path, int mode)
{
    return access(path, mode);
}

int eaccess(const char *path, int mode)
{
    return access(path, mode);
}

int access(const char *path, int mode)
{
    return (int)result_to_errno(failure_of_path("access", path, trap_access(path, mode)));
}
