/*
 * <nio.h>: file transfers under way.
 */
#include <nio.h>

#include "images/lib/trap.h"

int readstart(int fd, int n)
{
    return (int)trap_readstart(fd, n);
}

int readend(int fd, void *buf)
{
    return (int)trap_readend(fd, buf);
}

int writestart(int fd, const void *buf, int n)
{
    return (int)trap_writestart(fd, buf, n);
}

int writeend(int fd)
{
    return (int)trap_writeend(fd);
}

int ionode(int fd)
{
    return (int)trap_ionode(fd);
}

int iochannel(int fd, int channel)
{
    return (int)trap_iochannel(fd, channel);
}
