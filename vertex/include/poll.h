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
    short revents; /* of those that can go on, and POLLNVAL: not open */
};

/* Returns how many of n descriptors a read or write can go on with, at once if there are any. A descriptor is ready for
 * whatever it was opened for: nothing but a call can tell whether the front end has input yet, so a read of a terminal
 * may wait in spite of POLLIN. Else it waits for `timeout` milliseconds, or, if that is negative, for a signal.
 * EINTR    a signal's handler ran;  EINVAL: n is greater than the number of descriptors there can be */
int poll(struct pollfd *fds, nfds_t n, int timeout);

#endif
