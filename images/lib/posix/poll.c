/*
 * poll, select and pselect. The kernel looks at files, ends of local pipes and messages; a driver of nDEVICES says what
 * of its own is ready, and for which message it waits. Files are always ready.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/posix/cycles.h"
#include "images/lib/traps/result.h"

#define FOR_READS  (POLLIN | POLLRDNORM)
#define FOR_WRITES (POLLOUT | POLLWRNORM)

/* ---- One look ---- */

/* What a descriptor without a state of its own is ready for. */
static short by_mode(const struct ndevice_slot *slot)
{
    int mode = slot->flags & O_ACCMODE;

    return (short)((mode != O_WRONLY ? FOR_READS : 0) | (mode != O_RDONLY ? FOR_WRITES : 0));
}

static short events_of(const struct abi_poll *e)
{
    return (short)((e->ready & ABI_POLL_IN ? FOR_READS : 0) | (e->ready & ABI_POLL_OUT ? FOR_WRITES : 0) |
                   (e->ready & ABI_POLL_ERROR ? POLLERR : 0) | (e->ready & ABI_POLL_HANGUP ? POLLHUP : 0) |
                   (e->ready & ABI_POLL_INVALID ? POLLNVAL : 0));
}

/* Describes a descriptor for the kernel, unless it can be told at once what it is ready for. */
static short look_at(const struct pollfd *p, struct abi_poll *e)
{
    const struct ndevice_slot *slot = ndevice_slot(p->fd);
    struct nawaited message = {.context = 0, .source = -1, .type = -1};
    short always = POLLERR | POLLHUP;

    *e = (struct abi_poll){.kind = ABI_POLL_NOTHING};
    if (!slot)
        return p->fd < 0 ? 0 : POLLNVAL;
    if (slot->device == &ndevice_file) {
        *e = (struct abi_poll){.kind = ABI_POLL_UFID, .ufid = (int)(long)slot->state};
        e->events = (uint16_t)((p->events & by_mode(slot) & FOR_READS ? ABI_POLL_IN : 0) |
                               (p->events & by_mode(slot) & FOR_WRITES ? ABI_POLL_OUT : 0));
        return 0;
    }
    if (!slot->device->poll)
        return (short)(p->events & by_mode(slot));
    int state = slot->device->poll(slot->state, p->events, &message);
    if (state == 0)
        *e = (struct abi_poll){.kind = ABI_POLL_MESSAGE,
                               .events = ABI_POLL_IN,
                               .context = (uint16_t)message.context,
                               .ufid = message.source,
                               .type = message.type};
    return (short)(state & (p->events | always));
}

/* Writes what the kernel has found. A message that has come may make its driver ready: then *again is true. */
static int take_answers(struct pollfd *fds, nfds_t n, const struct abi_poll *entry, bool *again)
{
    int found = 0;

    for (nfds_t i = 0; i < n; i++) {
        if (entry[i].kind == ABI_POLL_UFID)
            fds[i].revents = (short)(events_of(&entry[i]) & (fds[i].events | POLLERR | POLLHUP | POLLNVAL));
        *again = *again || (entry[i].kind == ABI_POLL_MESSAGE && entry[i].ready);
        found += fds[i].revents != 0;
    }
    return found;
}

/* Waits until a descriptor is ready or the time has come, with these signals blocked meanwhile; NULL: those that are.
 * Returns how many are ready; -1 with EINTR. */
static int poll_until(struct pollfd *fds, nfds_t n, uint64_t until_cycles, const sigset_t *mask)
{
    const uint64_t blocked = mask ? ABI_POLL_MASK | (uint32_t)*mask : 0;
    struct abi_poll entry[n + 1];
    bool again;
    int found;

    do {
        uint64_t until = until_cycles;

        again = false;
        for (nfds_t i = 0; i < n; i++) {
            fds[i].revents = look_at(&fds[i], &entry[i]);
            if (fds[i].revents)
                until = 0;
        }
        long result = trap_poll(entry, (long)n, until, blocked);
        if (result < 0)
            return (int)result_to_errno(result);
        found = take_answers(fds, n, entry, &again);
    } while (found == 0 && again);
    return found;
}

static uint64_t time_after(const struct timespec *t)
{
    if (!t)
        return FOR_EVER;
    return t->tv_sec == 0 && t->tv_nsec == 0 ? 0 : cycles_after(t);
}

/* ---- poll ---- */

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    const struct timespec t = {.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1000000l};

    if (n > NDEVICE_DESCRIPTORS)
        return (int)result_to_errno(-EINVAL);
    return poll_until(fds, n, time_after(timeout < 0 ? NULL : &t), NULL);
}

/* ---- select ---- */

#define SETS 3

static const short events_of_set[SETS] = {FOR_READS, FOR_WRITES, POLLPRI};
static const short answers_of_set[SETS] = {FOR_READS | POLLHUP | POLLERR, FOR_WRITES | POLLERR, POLLPRI};

/* Makes a list of the descriptors in the sets. Returns their number. */
static nfds_t list_sets(int n, fd_set *const set[SETS], struct pollfd *fds)
{
    nfds_t count = 0;

    for (int fd = 0; fd < n; fd++) {
        short events = 0;

        for (int k = 0; k < SETS; k++)
            if (set[k] && FD_ISSET(fd, set[k]))
                events |= events_of_set[k];
        if (events)
            fds[count++] = (struct pollfd){.fd = fd, .events = events};
    }
    return count;
}

static bool one_is_not_open(const struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n; i++)
        if (!ndevice_slot(fds[i].fd))
            return true;
    return false;
}

/* Leaves in the sets what is ready. Returns how many bits. */
static int answer_sets(fd_set *const set[SETS], const struct pollfd *fds, nfds_t n)
{
    int found = 0;

    for (nfds_t i = 0; i < n; i++)
        for (int k = 0; k < SETS; k++) {
            if (!set[k] || !FD_ISSET(fds[i].fd, set[k]))
                continue;
            if (fds[i].revents & answers_of_set[k])
                found++;
            else
                FD_CLR(fds[i].fd, set[k]);
        }
    return found;
}

static int select_until(int n, fd_set *const set[SETS], const struct timespec *timeout, const sigset_t *mask)
{
    struct pollfd fds[NDEVICE_DESCRIPTORS];

    if (n < 0 || n > FD_SETSIZE || (timeout && (timeout->tv_sec < 0 || timeout->tv_nsec < 0)))
        return (int)result_to_errno(-EINVAL);
    nfds_t count = list_sets(n < NDEVICE_DESCRIPTORS ? n : NDEVICE_DESCRIPTORS, set, fds);
    if (one_is_not_open(fds, count))
        return (int)result_to_errno(-EBADF);
    int found = poll_until(fds, count, time_after(timeout), mask);
    return found < 0 ? found : answer_sets(set, fds, count);
}

int select(int n, fd_set *reads, fd_set *writes, fd_set *exceptions, struct timeval *timeout)
{
    const struct timespec t = {.tv_sec = timeout ? timeout->tv_sec : 0,
                               .tv_nsec = timeout ? timeout->tv_usec * 1000l : 0};

    return select_until(n, (fd_set *[SETS]){reads, writes, exceptions}, timeout ? &t : NULL, NULL);
}

int pselect(int n, fd_set *reads, fd_set *writes, fd_set *exceptions, const struct timespec *timeout,
            const sigset_t *mask)
{
    return select_until(n, (fd_set *[SETS]){reads, writes, exceptions}, timeout, mask);
}
