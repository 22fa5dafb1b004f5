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

/* disk: its name, or NULL. */
static void end_program(const char *call, int fd, const char *disk, const char *why)
{
    int error;
    const struct cfs_open *f = cfs_call_file(fd, &error);

    if (f && f->name)
        fprintf(stderr, "%s: /cfs%s: %s%s%s%s\n", call, f->name, disk ? "disk " : "", disk ? disk : "",
                disk ? ": " : "", why);
    else
        fprintf(stderr, "%s: descriptor %d: %s\n", call, fd, why);
    exit(1);
}

void cfs_call_fails(const char *call, int fd, const char *why)
{
    end_program(call, fd, NULL, why);
}

void cfs_call_moves_less(const char *call, int fd, long moved, const char *why)
{
    int error;
    const struct cfs_open *f = cfs_call_file(fd, &error);
    const bool at_disk = f && f->failed && (moved >= 0 || errno == -f->error);

    end_program(call, fd, at_disk ? cfs_machine()->name[f->failed - 1] : NULL,
                at_disk     ? strerror(-f->error)
                : moved < 0 ? strerror(errno)
                            : why);
}

long cfs_call_must(const char *call, int fd, long n)
{
    if (n < 0)
        cfs_call_fails(call, fd, strerror(errno));
    return n;
}
