/*
 * Terminals, of which a node has none that could be set.
 */
#include <errno.h>
#include <termios.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"

static int refuse(int fd)
{
    return (int)result_set_errno(ndevice_slot(fd) ? -ENOTTY : -EBADF);
}

int tcgetattr(int fd, struct termios *t)
{
    (void)t;
    return refuse(fd);
}

int tcsetattr(int fd, int when, const struct termios *t)
{
    (void)when, (void)t;
    return refuse(fd);
}

/* No terminal has a group in its foreground: there is no job control. */
pid_t tcgetpgrp(int fd)
{
    return refuse(fd);
}

int tcsetpgrp(int fd, pid_t group)
{
    (void)group;
    return refuse(fd);
}
