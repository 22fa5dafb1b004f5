/*
 * poll, select and pselect. A descriptor is ready for whatever it was opened for: files are, and of what comes from the
 * front end only a read can tell. Without a descriptor that is ready the calls are sleeps, which many programs use them
 * for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "images/lib/ndevice_switch.h"

/* Sleeps; NULL: until a signal's handler has run. Returns 0, or -1 with EINTR. */
static int sleep_for(const struct timespec *t)
{
    return t ? nanosleep(t, NULL) : pause();
}

/* ---- poll ---- */

#define FOR_READS  (POLLIN | POLLRDNORM)
#define FOR_WRITES (POLLOUT | POLLWRNORM)

static short ready(const struct pollfd *p)
{
    const struct ndevice_slot *slot = ndevice_slot(p->fd);

    if (!slot)
        return POLLNVAL;
    int mode = slot->flags & O_ACCMODE;
    short possible = (short)((mode != O_WRONLY ? FOR_READS : 0) | (mode != O_RDONLY ? FOR_WRITES : 0));
    return (short)(p->events & possible);
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    const struct timespec t = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000l};
    int found = 0;

    if (n > NDEVICE_DESCRIPTORS) {
        errno = EINVAL;
        return -1;
    }
    for (nfds_t i = 0; i < n; i++) {
        fds[i].revents = fds[i].fd < 0 ? 0 : ready(&fds[i]);
        found += fds[i].revents != 0;
    }
    if (found > 0 || timeout == 0)
        return found;
    return sleep_for(timeout < 0 ? NULL : &t);
}

/* ---- select ---- */

/* Leaves in the set what is ready for the mode, O_RDONLY or O_WRONLY. Returns how many; -1: one is not open. */
static int sift(int n, fd_set *set, int unfit_mode)
{
    int found = 0;

    for (int fd = 0; set && fd < n; fd++) {
        if (!FD_ISSET(fd, set))
            continue;
        const struct ndevice_slot *slot = ndevice_slot(fd);

        if (!slot)
            return -1;
        if ((slot->flags & O_ACCMODE) == unfit_mode)
            FD_CLR(fd, set);
        else
            found++;
    }
    return found;
}

static int select_now(int n, fd_set *reads, fd_set *writes, fd_set *exceptions)
{
    if (n < 0 || n > FD_SETSIZE) {
        errno = EINVAL;
        return -1;
    }
    int readable = sift(n, reads, O_WRONLY), writable = sift(n, writes, O_RDONLY);
    if (readable < 0 || writable < 0) {
        errno = EBADF;
        return -1;
    }
    if (exceptions)
        FD_ZERO(exceptions);
    return readable + writable;
}

int select(int n, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
    int found = select_now(n, reads, writes, exceptions);

    if (found != 0)
        return found;
    const struct timespec t = {.tv_sec = timeout ? timeout->tv_sec : 0,
                               .tv_nsec = timeout ? timeout->tv_usec * 1000l : 0};
    return sleep_for(timeout ? &t : NULL);
}

int pselect(int n, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *timeout,
            const sigset_t *mask)
{
    sigset_t before;
    int found = select_now(n, reads, writes, exceptions);

    if (found != 0)
        return found;
    if (!timeout && mask)
        return sigsuspend(mask);
    if (mask)
        sigprocmask(SIG_SETMASK, mask, &before);
    int result = sleep_for(timeout);
    int error = errno;
    if (mask)
        sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return result;
}
