/*
 * <nio.h>: file transfers under way.
 */
#include <nio.h>

#include "images/lib/failure.h"
#include "vertex/contract/traps.h"

int readstart(int fd, int n)
{
    return (int)failure_of_fd("readstart", fd, trap_readstart(fd, n));
}

int readend(int fd, void *buf)
{
    return (int)failure_of_fd("readend", fd, trap_readend(fd, buf));
}

int writestart(int fd, const void *buf, int n)
{
    return (int)failure_of_fd("writestart", fd, trap_writestart(fd, buf, n));
}

int writeend(int fd)
{
    return (int)failure_of_fd("writeend", fd, trap_writeend(fd));
}

int ionode(int fd)
{
    return (int)trap_ionode(fd);
}

int iochannel(int fd, int channel)
{
    return (int)failure_of_fd("iochannel", fd, trap_iochannel(fd, channel));
}
