/*
 * Attributes of files: permissions, owners, times. The resolution of times is one second.
 */
#include "images/lib/posix/attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <ntime.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"

/* Some versions of newlib declare pairs of times as arrays, others as pointers. */
#pragma GCC diagnostic ignored "-Warray-parameter"

static int set(const char *call, const char *path, int flags, const struct nattr *a)
{
    return (int)result_to_errno(NDEVICE_ON_PATH(call, path, setattr, path, flags, a));
}

static int set_open(const char *call, int fd, const struct nattr *a)
{
    return (int)result_to_errno(NDEVICE_ON_FD(call, fd, fsetattr, ENOTSUP, a));
}

int chmod(const char *path, mode_t mode)
{
    return set("chmod", path, 0, &(struct nattr){.what = N_ATTR_MODE, .mode = mode});
}

int fchmod(int fd, mode_t mode)
{
    return set_open("fchmod", fd, &(struct nattr){.what = N_ATTR_MODE, .mode = mode});
}

/* ---- Owners ---- */

static struct nattr owners(uid_t owner, gid_t group)
{
    unsigned what = (owner == (uid_t)-1 ? 0 : N_ATTR_UID) | (group == (gid_t)-1 ? 0 : N_ATTR_GID);

    return (struct nattr){.what = what, .uid = owner, .gid = group};
}

int chown(const char *path, uid_t owner, gid_t group)
{
    struct nattr a = owners(owner, group);

    return set("chown", path, 0, &a);
}

int lchown(const char *path, uid_t owner, gid_t group)
{
    struct nattr a = owners(owner, group);

    return set("lchown", path, AT_SYMLINK_NOFOLLOW, &a);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    struct nattr a = owners(owner, group);

    return set_open("fchown", fd, &a);
}

/* ---- Times ---- */

static bool is_time(const struct timespec *t)
{
    return t->tv_nsec == UTIME_NOW || t->tv_nsec == UTIME_OMIT || (t->tv_nsec >= 0 && t->tv_nsec < 1000000000);
}

/* `times` may be NULL: both are now. Returns false if one of them is not a valid time. */
static bool take_times(const struct timespec times[2], struct nattr *a)
{
    int us;
    int64_t now = NTIME_EPOCH_S + n_time(&us);

    *a = (struct nattr){.what = N_ATTR_ATIME | N_ATTR_MTIME, .atime = now, .mtime = now};
    if (!times)
        return true;
    if (times[0].tv_nsec == UTIME_OMIT)
        a->what &= ~(unsigned)N_ATTR_ATIME;
    else if (times[0].tv_nsec != UTIME_NOW)
        a->atime = times[0].tv_sec;
    if (times[1].tv_nsec == UTIME_OMIT)
        a->what &= ~(unsigned)N_ATTR_MTIME;
    else if (times[1].tv_nsec != UTIME_NOW)
        a->mtime = times[1].tv_sec;
    return is_time(&times[0]) && is_time(&times[1]);
}

int attributes_set_times(const char *path, const struct timespec times[2], int flags)
{
    struct nattr a;

    return take_times(times, &a) ? set("utime", path, flags, &a) : (int)result_to_errno(-EINVAL);
}

int futimens(int fd, const struct timespec *times)
{
    struct nattr a;

    return take_times(times, &a) ? set_open("futimens", fd, &a) : (int)result_to_errno(-EINVAL);
}

struct two_times {
    struct timespec t[2];
};

/* Converts to nanoseconds. Invalid microseconds become invalid nanoseconds, and never UTIME_NOW. */
static struct two_times of_microseconds(const struct timeval times[2])
{
    struct two_times two;

    for (int i = 0; i < 2; i++) {
        bool sound = times[i].tv_usec >= 0 && times[i].tv_usec < 1000000;

        two.t[i] = (struct timespec){times[i].tv_sec, sound ? times[i].tv_usec * 1000 : 1000000000};
    }
    return two;
}

static int set_microseconds(const char *path, const struct timeval times[2], int flags)
{
    struct two_times two;

    if (!times)
        return attributes_set_times(path, NULL, flags);
    two = of_microseconds(times);
    return attributes_set_times(path, two.t, flags);
}

int utimes(const char *path, const struct timeval *times)
{
    return set_microseconds(path, times, 0);
}

int lutimes(const char *path, const struct timeval *times)
{
    return set_microseconds(path, times, AT_SYMLINK_NOFOLLOW);
}

int futimes(int fd, const struct timeval *times)
{
    struct two_times two;

    if (!times)
        return futimens(fd, NULL);
    two = of_microseconds(times);
    return futimens(fd, two.t);
}

int utime(const char *path, const struct utimbuf *times)
{
    if (!times)
        return attributes_set_times(path, NULL, 0);
    const struct timespec two[2] = {{times->actime, 0}, {times->modtime, 0}};
    return attributes_set_times(path, two, 0);
}
