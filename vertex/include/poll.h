/*
 * poll. newlib has none.
 */
#ifndef _POLL_H
#define _POLL_H

#define POLLIN     0x001
#define POLLPRI    0x002
#define POLLOUT    0x004
#define POLLERR    0x008
#define POLLHUP    0x010
#define POLLNVAL   0x020
#define POLLRDNORM 0x040
#define POLLRDBAND 0x080
#define POLLWRNORM 0x100
#define POLLWRBAND 0x200

typedef unsigned long nfds_t;

struct pollfd {
    int fd;        /* negative: not looked at */
    short events;  /* asked for */
    short revents; /* of those that hold; POLLERR, POLLHUP, POLLNVAL (not open) without being asked for */
};

/* Waits until one of n descriptors is ready, for `timeout` milliseconds of virtual time at most; negative: for ever; 0:
 * not at all. Returns how many are ready. Files always are; the standard input, an end of a pipe and an endpoint of
 * messages when a read or write would go on at once. POLLHUP: the other end of a pipe is closed; POLLERR: a write
 * would fail.
 * EINTR    a signal's handler ran;  EINVAL: n is greater than the number of descriptors there can be */
int poll(struct pollfd *fds, nfds_t n, int timeout);

#endif
