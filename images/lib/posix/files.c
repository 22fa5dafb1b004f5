/*
 * Files: the calls that newlib wants, with an underscore, and those that it leaves to the system. Each goes through the
 * switch to the driver of its descriptor or path.
 */
#include <errno.h>
#include <fcntl.h>
#include <reent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "images/lib/posix/stdio.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/traps.h"

int creat(const char *path, mode_t mode)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

/* newlib's _read and _write return int. Cuts a count that does not fit; POSIX lets a call transfer less. */
static size_t io_count(size_t n)
{
    const size_t most = 1u << 30;

    return n < most ? n : most;
}

NDEVICE_FD_CALL(int, _read, read, ENOTSUP, (int fd, void *buf, size_t n), buf, io_count(n))
NDEVICE_FD_CALL(ssize_t, pread, pread, ENOTSUP, (int fd, void *buf, size_t n, off_t offset), buf, io_count(n), offset)
NDEVICE_FD_CALL(ssize_t, pwrite, pwrite, ENOTSUP, (int fd, const void *buf, size_t n, off_t offset), buf, io_count(n),
                offset)
NDEVICE_FD_CALL(off_t, _lseek, lseek, ESPIPE, (int fd, off_t offset, int whence), offset, whence)
NDEVICE_FD_CALL(int, _fstat, fstat, ENOTSUP, (int fd, struct stat *st), st)
NDEVICE_FD_CALL(int, ftruncate, ftruncate, ENOTSUP, (int fd, off_t size), size)
NDEVICE_FD_CALL(int, fsync, fsync, ENOTSUP, (int fd))
int fdatasync(int fd) __attribute__((alias("fsync"))); /* servers write data and metadata together */

NDEVICE_PATH_CALL(int, _stat, stat, (const char *path, struct stat *st), path, st)
NDEVICE_PATH_CALL(int, _unlink, unlink, (const char *path), path)
NDEVICE_PATH_CALL(int, rmdir, rmdir, (const char *path), path)
NDEVICE_PATH_CALL(int, symlink, symlink, (const char *text, const char *path), text, path)
NDEVICE_PATH_CALL(ssize_t, readlink, readlink, (const char *path, char *buf, size_t size), path, buf, io_count(size))
NDEVICE_PATH_CALL(int, access, access, (const char *path, int mode), path, mode)
int euidaccess(const char *path, int mode) __attribute__((alias("access")));
int eaccess(const char *path, int mode) __attribute__((alias("access")));

int _write(int fd, const void *buf, size_t n)
{
    long result = NDEVICE_ON_FD("write", fd, write, ENOTSUP, buf, io_count(n));

    if (result < 0)
        stdio_note_failed_write(fd, (int)-result);
    return (int)result_to_errno(result);
}

int lstat(const char *path, struct stat *st)
{
    if (!ndevice_of(path)->lstat)
        return stat(path, st);
    return (int)result_to_errno(NDEVICE_ON_PATH("lstat", path, lstat, path, st));
}

/* Returns 1 if the descriptor is open and its mode under `mask` is `mode`. */
static int has_mode(int fd, mode_t mask, mode_t mode)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    struct stat st;
    int result = !slot ? -EBADF : slot->device->fstat ? slot->device->fstat(slot->state, &st) : -ENOTTY;

    if (result >= 0 && (st.st_mode & mask) == mode)
        return 1;
    errno = result < 0 ? -result : ENOTTY;
    return 0;
}

/* Tells stdio that every standard stream is a terminal, so that its lines are written as soon as they are printed. */
int _isatty(int fd)
{
    return has_mode(fd, S_IFMT, S_IFCHR);
}

int isatty(int fd)
{
    return has_mode(fd, (mode_t)-1, FILE_TERMINAL_MODE);
}

/* True if two drivers have the two paths of a call, which then fails with EXDEV. */
static bool cross_drivers(const char *path, const char *other)
{
    return ndevice_of(path) != ndevice_of(other);
}

int _link(const char *path, const char *new_path)
{
    if (cross_drivers(path, new_path))
        return (int)result_to_errno(failure_of_path("link", path, -EXDEV));
    return (int)result_to_errno(NDEVICE_ON_PATH("link", path, link, path, new_path));
}

int _rename(const char *from, const char *to)
{
    if (cross_drivers(from, to))
        return (int)result_to_errno(failure_of_path("rename", from, -EXDEV));
    return (int)result_to_errno(NDEVICE_ON_PATH("rename", from, rename, from, to));
}

int remove(const char *path)
{
    long result = NDEVICE_ON_PATH("remove", path, unlink, path);

    if (result == -EISDIR)
        result = NDEVICE_ON_PATH("remove", path, rmdir, path);
    return (int)result_to_errno(result);
}

/* Called by newlib's tmpfile. */
int _remove_r(struct _reent *reent, const char *path)
{
    (void)reent;
    return remove(path);
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
