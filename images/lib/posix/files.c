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

int _read(int fd, void *buf, size_t n)
{
    return (int)result_to_errno(NDEVICE_ON_FD("read", fd, read, ENOTSUP, buf, io_count(n)));
}

int _write(int fd, const void *buf, size_t n)
{
    long result = NDEVICE_ON_FD("write", fd, write, ENOTSUP, buf, io_count(n));

    if (result < 0)
        stdio_note_failed_write(fd, (int)-result);
    return (int)result_to_errno(result);
}

ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
    return result_to_errno(NDEVICE_ON_FD("pread", fd, pread, ENOTSUP, buf, io_count(n), offset));
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    return result_to_errno(NDEVICE_ON_FD("pwrite", fd, pwrite, ENOTSUP, buf, io_count(n), offset));
}

off_t _lseek(int fd, off_t offset, int whence)
{
    return result_to_errno(NDEVICE_ON_FD("lseek", fd, lseek, ESPIPE, offset, whence));
}

int _fstat(int fd, struct stat *st)
{
    return (int)result_to_errno(NDEVICE_ON_FD("fstat", fd, fstat, ENOTSUP, st));
}

int _stat(const char *path, struct stat *st)
{
    return (int)result_to_errno(NDEVICE_ON_PATH("stat", path, stat, path, st));
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

int _unlink(const char *path)
{
    return (int)result_to_errno(NDEVICE_ON_PATH("unlink", path, unlink, path));
}

int rmdir(const char *path)
{
    return (int)result_to_errno(NDEVICE_ON_PATH("rmdir", path, rmdir, path));
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

int ftruncate(int fd, off_t size)
{
    return (int)result_to_errno(NDEVICE_ON_FD("ftruncate", fd, ftruncate, ENOTSUP, size));
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

int fsync(int fd)
{
    return (int)result_to_errno(NDEVICE_ON_FD("fsync", fd, fsync, ENOTSUP));
}

/* Servers write data and metadata together. */
int fdatasync(int fd)
{
    return fsync(fd);
}

void sync(void)
{
    trap_sync();
}

int symlink(const char *text, const char *path)
{
    return (int)result_to_errno(NDEVICE_ON_PATH("symlink", path, symlink, text, path));
}

ssize_t readlink(const char *path, char *buf, size_t size)
{
    return result_to_errno(NDEVICE_ON_PATH("readlink", path, readlink, path, buf, io_count(size)));
}

int access(const char *path, int mode)
{
    return (int)result_to_errno(NDEVICE_ON_PATH("access", path, access, path, mode));
}

int euidaccess(const char *path, int mode)
{
    return access(path, mode);
}

int eaccess(const char *path, int mode)
{
    return access(path, mode);
}
