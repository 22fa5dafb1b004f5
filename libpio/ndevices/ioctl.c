/*
 * ioctl, and its requests that belong to no driver: those that map a descriptor [P1 section 2.6]. It is part of libpio
 * so that only programs that call it have the mapping engine.
 */
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "libpio/ndevices/mapped.h"

static int unmap(struct ndevice_slot *slot)
{
    struct mapped *m = slot->state;
    void *state;

    if (slot->device != &mapped_device)
        return -EINVAL;
    const struct ndevice *below = mapped_below(m, &state);
    ndevice_replace(slot, below, state);
    mapped_end(m);
    if (below->alone)
        below->alone(state, false);
    return 0;
}

/* Node k of the program gets element k; there may be fewer elements than nodes. Nodes have one process. */
static int set_map(struct ndevice_slot *slot, const struct pattern *pattern)
{
    int node, proc, nodes = ncubesize(), result;
    struct mapped *m;

    whoami(&node, &proc, NULL, NULL);
    if (global_uncover)
        global_uncover(slot);
    if (!pattern || proc > 0 || (slot->flags & O_APPEND))
        return -EINVAL;
    if (pattern->elements > nodes)
        return -EINVAL;
    if (slot->device->setmap)
        return slot->device->setmap(slot->state, pattern);
    struct mapped *before = slot->device == &mapped_device ? slot->state : NULL;
    const struct ndevice *below = slot->device;
    void *state = slot->state;
    if (before)
        below = mapped_below(before, &state);
    result = before || !below->alone ? 0 : below->alone(state, true);
    if (result < 0)
        return result;
    result = mapped_new(below, state, pattern, node, &m);
    if (result < 0 && !before && below->alone)
        below->alone(state, false);
    if (result < 0)
        return result;
    ndevice_replace(slot, &mapped_device, m);
    if (before)
        mapped_free(before);
    return 0;
}

static int get_map(const struct ndevice_slot *slot, const struct pattern **pattern)
{
    if (slot->device != &mapped_device)
        return -EINVAL;
    *pattern = mapped_pattern(slot->state);
    return 0;
}

static int request_on(struct ndevice_slot *slot, int request, void *arg)
{
    switch (request) {
    case N_SETMAP:
        return set_map(slot, arg);
    case N_GETMAP:
        return slot->device->setmap ? slot->device->ioctl(slot->state, request, arg) : get_map(slot, arg);
    case N_UNMAP:
        return unmap(slot);
    default:
        return slot->device->ioctl ? slot->device->ioctl(slot->state, request, arg) : -ENOTTY;
    }
}

int ioctl(int fd, int request, ...)
{
    struct ndevice_slot *slot = ndevice_slot(fd);
    va_list args;

    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    return (int)result_to_errno(failure_of_fd("ioctl", fd, slot ? request_on(slot, request, arg) : -EBADF));
}
