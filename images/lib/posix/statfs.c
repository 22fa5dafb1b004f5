/*
 * How full a volume is: <sys/statfs.h> and <sys/statvfs.h>.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"

NDEVICE_FD_CALL(int, fstatfs, fstatfs, ENOTSUP, (int fd, struct statfs *st), st)

int statfs(const char *path, struct statfs *st)
{
    int fd = open(path, O_RDONLY);
    int result = fd < 0 ? -1 : fstatfs(fd, st);
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return result;
}

static int widen(int result, const struct statfs *from, struct statvfs *st)
{
    enum { NAME_MAX_BYTES = 255 };

    if (result == 0)
        *st = (struct statvfs){
            .f_bsize = from->f_bsize,
            .f_frsize = from->f_bsize,
            .f_blocks = from->f_blocks,
            .f_bfree = from->f_bfree,
            .f_bavail = from->f_bfree,
            .f_files = from->f_files,
            .f_ffree = from->f_ffree,
            .f_favail = from->f_ffree,
            .f_namemax = NAME_MAX_BYTES,
        };
    return result;
}

int fstatvfs(int fd, struct statvfs *st)
{
    struct statfs from;

    return widen(fstatfs(fd, &from), &from, st);
}

int statvfs(const char *path, struct statvfs *st)
{
    struct statfs from;

    return widen(statfs(path, &from), &from, st);
}
