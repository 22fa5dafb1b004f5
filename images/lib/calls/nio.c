/*
 * <nio.h>: file transfers under way.
 */
#include <nio.h>

#include "images/lib/devices/ndevice_switch.h"

/* Returns a negative error, which errno does not show. */
#define TRANSFER(name, parameters, ...)                                                 \
    int name parameters                                                                 \
    {                                                                                   \
        return (int)NDEVICE_ON_FD(#name, fd, name, ENOTSUP __VA_OPT__(, ) __VA_ARGS__); \
    }

TRANSFER(readstart, (int fd, int n), n)
TRANSFER(preadstart, (int fd, int n, off_t offset), n, offset)
TRANSFER(readend, (int fd, void *buf), buf)
TRANSFER(writestart, (int fd, const void *buf, int n), buf, n)
TRANSFER(pwritestart, (int fd, const void *buf, int n, off_t offset), buf, n, offset)
TRANSFER(writeend, (int fd))
TRANSFER(setview, (int fd, const void *packed, size_t n), packed, n)
TRANSFER(iochannel, (int fd, int channel), channel)

/* Records no failure: nfailed itself asks. */
int ionode(int fd)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);

    return !slot ? -EBADF : slot->device->ionode ? slot->device->ionode(slot->state) : -ENOTSUP;
}
