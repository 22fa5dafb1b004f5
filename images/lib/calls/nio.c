/*
 * <nio.h>: file transfers under way.
 */
#include <nio.h>

#include "images/lib/devices/ndevice_switch.h"

int readstart(int fd, int n)
{
    return (int)NDEVICE_ON_FD("readstart", fd, readstart, ENOTSUP, n);
}

int preadstart(int fd, int n, off_t offset)
{
    return (int)NDEVICE_ON_FD("preadstart", fd, preadstart, ENOTSUP, n, offset);
}

int readend(int fd, void *buf)
{
    return (int)NDEVICE_ON_FD("readend", fd, readend, ENOTSUP, buf);
}

int writestart(int fd, const void *buf, int n)
{
    return (int)NDEVICE_ON_FD("writestart", fd, writestart, ENOTSUP, buf, n);
}

int pwritestart(int fd, const void *buf, int n, off_t offset)
{
    return (int)NDEVICE_ON_FD("pwritestart", fd, pwritestart, ENOTSUP, buf, n, offset);
}

int writeend(int fd)
{
    return (int)NDEVICE_ON_FD("writeend", fd, writeend, ENOTSUP);
}

int setview(int fd, const void *packed, size_t n)
{
    return (int)NDEVICE_ON_FD("setview", fd, setview, ENOTSUP, packed, n);
}

int ionode(int fd)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);

    return !slot ? -EBADF : slot->device->ionode ? slot->device->ionode(slot->state) : -ENOTSUP;
}

int iochannel(int fd, int channel)
{
    return (int)NDEVICE_ON_FD("iochannel", fd, iochannel, ENOTSUP, channel);
}
