/*
 * Descriptors that outlive exec: those of the file driver, files and ends of pipes alike, without FD_CLOEXEC. The state
 * of any other driver is in the memory of the program that ends.
 */
#include "images/lib/devices/inherit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"

/* No descriptor: the umask, in `flags`. */
#define UMASK_ENTRY (-1)

uint32_t inherit_list(struct abi_inherited *list)
{
    mode_t mask = umask(0);
    uint32_t n = 1;

    umask(mask);
    list[0] = (struct abi_inherited){UMASK_ENTRY, UMASK_ENTRY, (int32_t)mask};

    for (int fd = 0; fd < NDEVICE_DESCRIPTORS; fd++) {
        const struct ndevice_slot *slot = &ndevice_table[fd];

        if (slot->device == &ndevice_file && !slot->close_on_exec)
            list[n++] = (struct abi_inherited){fd, (int32_t)(long)slot->state, slot->flags};
    }
    return n;
}

void ndevice_inherit(const struct abi_inherited *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].fd == UMASK_ENTRY)
            umask((mode_t)list[i].flags);
        else
            ndevice_table[list[i].fd] =
                (struct ndevice_slot){.device = &ndevice_file,
                                      .state = (void *)(long)list[i].ufid,
                                      .flags = list[i].flags,
                                      .shared = true,
                                      .standard = list[i].fd == list[i].ufid && list[i].fd <= STDERR_FILENO};
}
