/*
 * Calls on names relative to an open directory. They put the name by which it was opened before the path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "images/lib/posix/attributes.h"
#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

/* Some versions of newlib declare pairs of times as arrays, others as pointers. */
#pragma GCC diagnostic ignored "-Warray-parameter"

struct at_name {
    char text[FILE_NAME_MAX_BYTES + 1];
};

/* Returns the path of `path` relative to fd: it is in `name`, or is `path` itself. NULL with errno. */
static const char *at(int fd, const char *path, struct at_name *name)
{
    if (fd == AT_FDCWD || path[0] == '/' || path[0] == '\0')
        return path;
    long n = ndevice_path(fd, name->text, sizeof name->text);
    if (n >= 0 && (size_t)n + 1 + strlen(path) >= sizeof name->text)
        n = -N_ENAMETOOLONG;
    if (result_to_errno(failure_of_path("a directory's name", path, n)) < 0)
        return NULL;
    name->text[n] = '/';
    strcpy(name->text + n + 1, path);
    return name->text;
}

static int refuse(int flags, int known)
{
    return flags & ~known ? (int)result_to_errno(-EINVAL) : 0;
}

int openat(int fd, const char *path, int flags, ...)
{
    struct at_name name;
    va_list args;

    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    path = at(fd, path, &name);
    return path ? open(path, flags, mode) : -1;
}

int fstatat(int fd, const char *path, struct stat *st, int flags)
{
    struct at_name name;

    if (refuse(flags, AT_SYMLINK_NOFOLLOW) < 0 || !(path = at(fd, path, &name)))
        return -1;
    return flags ? lstat(path, st) : stat(path, st);
}

int faccessat(int fd, const char *path, int mode, int flags)
{
    struct at_name name;

    if (refuse(flags, AT_EACCESS) < 0 || !(path = at(fd, path, &name)))
        return -1;
    return access(path, mode);
}

int unlinkat(int fd, const char *path, int flags)
{
    struct at_name name;

    if (refuse(flags, AT_REMOVEDIR) < 0 || !(path = at(fd, path, &name)))
        return -1;
    return flags ? rmdir(path) : unlink(path);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
    struct at_name name;

    path = at(fd, path, &name);
    return path ? mkdir(path, mode) : -1;
}

int renameat(int fd, const char *from, int fd2, const char *to)
{
    struct at_name name, name2;

    from = at(fd, from, &name);
    to = from ? at(fd2, to, &name2) : NULL;
    return to ? rename(from, to) : -1;
}

/* As link: does not follow a symbolic link, but links to the link itself. */
int linkat(int fd, const char *from, int fd2, const char *to, int flags)
{
    struct at_name name, name2;

    if (refuse(flags, 0) < 0)
        return -1;
    from = at(fd, from, &name);
    to = from ? at(fd2, to, &name2) : NULL;
    return to ? link(from, to) : -1;
}

int symlinkat(const char *text, int fd, const char *path)
{
    struct at_name name;

    path = at(fd, path, &name);
    return path ? symlink(text, path) : -1;
}

ssize_t readlinkat(int fd, const char *path, char *buf, size_t size)
{
    struct at_name name;

    path = at(fd, path, &name);
    return path ? readlink(path, buf, size) : -1;
}

int fchmodat(int fd, const char *path, mode_t mode, int flags)
{
    struct at_name name;

    if (refuse(flags, 0) < 0 || !(path = at(fd, path, &name)))
        return -1;
    return chmod(path, mode);
}

int fchownat(int fd, const char *path, uid_t owner, gid_t group, int flags)
{
    struct at_name name;

    if (refuse(flags, AT_SYMLINK_NOFOLLOW) < 0 || !(path = at(fd, path, &name)))
        return -1;
    return flags ? lchown(path, owner, group) : chown(path, owner, group);
}

int utimensat(int fd, const char *path, const struct timespec *times, int flags)
{
    struct at_name name;

    if (refuse(flags, AT_SYMLINK_NOFOLLOW) < 0 || !(path = at(fd, path, &name)))
        return -1;
    return attributes_set_times(path, times, flags);
}

int futimesat(int fd, const char *path, const struct timeval times[2])
{
    struct at_name name;

    path = at(fd, path, &name);
    return path ? utimes(path, times) : -1;
}
