/* What the calls of <cfs.h> begin and end with: a descriptor's file, and an error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/cfs/cfs_calls.h"
#include "libpio/cfs/cfs_client.h"
#include "libpio/cfs/cfs_device.h"

struct cfs_open *cfs_call_file(int fd, int *error)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    struct cfs_open *f = slot && slot->device == &ndevice_cfs ? slot->state : NULL;

    *error = !slot ? -EBADF : !f ? -ENOTSUP : f->folder ? -EISDIR : 0;
    return *error < 0 ? NULL : f;
}

long cfs_call_result(int64_t n)
{
    if (n >= 0)
        return (long)n;
    errno = (int)-n;
    return -1;
}

void cfs_call_fails(const char *call, int fd, const char *why)
{
    fprintf(stderr, "%s: descriptor %d: %s\n", call, fd, why);
    exit(1);
}

long cfs_call_must(const char *call, int fd, long n)
{
    if (n < 0)
        cfs_call_fails(call, fd, strerror(errno));
    return n;
}
