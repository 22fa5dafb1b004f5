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

/* A call on `path` relative to `fd`, with flags of which these are known. */
#define AT_CALL(type, name, parameters, flags, known, call)                \
    type name parameters                                                   \
    {                                                                      \
        struct at_name absolute;                                           \
                                                                           \
        if (refuse(flags, known) < 0 || !(path = at(fd, path, &absolute))) \
            return -1;                                                     \
        return call;                                                       \
    }

AT_CALL(int, fstatat, (int fd, const char *path, struct stat *st, int flags), flags, AT_SYMLINK_NOFOLLOW,
        flags ? lstat(path, st) : stat(path, st))
AT_CALL(int, faccessat, (int fd, const char *path, int mode, int flags), flags, AT_EACCESS, access(path, mode))
AT_CALL(int, unlinkat, (int fd, const char *path, int flags), flags, AT_REMOVEDIR, flags ? rmdir(path) : unlink(path))
AT_CALL(int, mkdirat, (int fd, const char *path, mode_t mode), 0, 0, mkdir(path, mode))
AT_CALL(int, symlinkat, (const char *text, int fd, const char *path), 0, 0, symlink(text, path))
AT_CALL(ssize_t, readlinkat, (int fd, const char *path, char *buf, size_t size), 0, 0, readlink(path, buf, size))
AT_CALL(int, fchmodat, (int fd, const char *path, mode_t mode, int flags), flags, 0, chmod(path, mode))
AT_CALL(int, fchownat, (int fd, const char *path, uid_t owner, gid_t group, int flags), flags, AT_SYMLINK_NOFOLLOW,
        flags ? lchown(path, owner, group) : chown(path, owner, group))
AT_CALL(int, utimensat, (int fd, const char *path, const struct timespec *times, int flags), flags, AT_SYMLINK_NOFOLLOW,
        attributes_set_times(path, times, flags))
AT_CALL(int, futimesat, (int fd, const char *path, const struct timeval times[2]), 0, 0, utimes(path, times))

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
