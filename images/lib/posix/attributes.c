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

static int set(const char *call, const char *path, int flags, struct nattr a)
{
    return (int)result_to_errno(NDEVICE_ON_PATH(call, path, setattr, path, flags, &a));
}

static int set_open(const char *call, int fd, struct nattr a)
{
    return (int)result_to_errno(NDEVICE_ON_FD(call, fd, fsetattr, ENOTSUP, &a));
}

int chmod(const char *path, mode_t mode)
{
    return set("chmod", path, 0, (struct nattr){.what = N_ATTR_MODE, .mode = mode});
}

int fchmod(int fd, mode_t mode)
{
    return set_open("fchmod", fd, (struct nattr){.what = N_ATTR_MODE, .mode = mode});
}

/* ---- Owners ---- */

static struct nattr owners(uid_t owner, gid_t group)
{
    unsigned what = (owner == (uid_t)-1 ? 0 : N_ATTR_UID) | (group == (gid_t)-1 ? 0 : N_ATTR_GID);

    return (struct nattr){.what = what, .uid = owner, .gid = group};
}

int chown(const char *path, uid_t owner, gid_t group)
{
    return set("chown", path, 0, owners(owner, group));
}

int lchown(const char *path, uid_t owner, gid_t group)
{
    return set("lchown", path, AT_SYMLINK_NOFOLLOW, owners(owner, group));
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return set_open("fchown", fd, owners(owner, group));
}

/* ---- Times ---- */

/* Takes one of the two times, which `bit` names. Returns false if it is not a valid time. */
static bool take_time(const struct timespec *t, unsigned bit, struct nattr *a, int64_t *to)
{
    if (t->tv_nsec == UTIME_OMIT)
        a->what &= ~bit;
    else if (t->tv_nsec != UTIME_NOW)
        *to = t->tv_sec;
    return t->tv_nsec == UTIME_NOW || t->tv_nsec == UTIME_OMIT || (t->tv_nsec >= 0 && t->tv_nsec < 1000000000);
}

/* `times` may be NULL: both are now. Returns false if one of them is not a valid time. */
static bool take_times(const struct timespec times[2], struct nattr *a)
{
    int us;
    int64_t now = NTIME_EPOCH_S + n_time(&us);

    *a = (struct nattr){.what = N_ATTR_ATIME | N_ATTR_MTIME, .atime = now, .mtime = now};
    return !times ||
           (take_time(&times[0], N_ATTR_ATIME, a, &a->atime) && take_time(&times[1], N_ATTR_MTIME, a, &a->mtime));
}

int attributes_set_times(const char *path, const struct timespec times[2], int flags)
{
    struct nattr a;

    return take_times(times, &a) ? set("utime", path, flags, a) : (int)result_to_errno(-EINVAL);
}

int futimens(int fd, const struct timespec *times)
{
    struct nattr a;

    return take_times(times, &a) ? set_open("futimens", fd, a) : (int)result_to_errno(-EINVAL);
}

/* Converts to nanoseconds; returns `two`, or NULL without times. Invalid microseconds become invalid nanoseconds, and
 * never UTIME_NOW. */
static const struct timespec *of_microseconds(const struct timeval *times, struct timespec two[2])
{
    for (int i = 0; times && i < 2; i++) {
        bool sound = times[i].tv_usec >= 0 && times[i].tv_usec < 1000000;

        two[i] = (struct timespec){times[i].tv_sec, sound ? times[i].tv_usec * 1000 : 1000000000};
    }
    return times ? two : NULL;
}

int utimes(const char *path, const struct timeval *times)
{
    struct timespec two[2];

    return attributes_set_times(path, of_microseconds(times, two), 0);
}

int lutimes(const char *path, const struct timeval *times)
{
    struct timespec two[2];

    return attributes_set_times(path, of_microseconds(times, two), AT_SYMLINK_NOFOLLOW);
}

int futimes(int fd, const struct timeval *times)
{
    struct timespec two[2];

    return futimens(fd, of_microseconds(times, two));
}

int utime(const char *path, const struct utimbuf *times)
{
    const struct timespec two[2] = {{times ? times->actime : 0, 0}, {times ? times->modtime : 0, 0}};

    return attributes_set_times(path, times ? two : NULL, 0);
}
