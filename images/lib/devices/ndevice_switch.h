/*
 * The switch of nDEVICES: which driver has a descriptor or a path. Part of libvertex; <ndevices.h> is the public side.
 */
#pragma once

#include <errno.h>
#include <ndevices.h>
#include <stdbool.h>
#include <stdint.h>

#include "images/lib/traps/failure.h"
#include "images/lib/traps/result.h"
#include "vertex/contract/abi.h"

struct ndevice_slot {
    const struct ndevice *device; /* NULL: the descriptor is not open */
    void *state;
    int flags; /* of open */
    bool close_on_exec;
    bool shared;                /* dup was called: another slot may have the same state */
    bool standard;              /* a standard stream with which the program began */
} __attribute__((aligned(32))); /* a shift finds it */

/* Opens the standard streams. Called before constructors and main. */
void ndevice_start(void);
/* Opens those that a program has inherited by exec, in place of that. */
void ndevice_inherit(const struct abi_inherited *list, uint32_t n);

/* Called before the process ends, whichever way it exits; NULL: nothing is to be done. */
extern void (*ndevice_end)(void);

struct load_pipes;
/* What the program got at its start (vertex/contract/abi.h), or NULL. */
extern const struct load_pipes *program_pipes;
/* Opens the program's ends of pipes and its files (libpio/pipes/pipe.c). */
void pipes_start(const struct load_pipes *pipes);
struct load_fd;
/* Returns the state of an end of a pipe, for ndevice_pipe, of node `own` of a program of so many nodes. NULL: no
 * memory. As all of that driver, only where program_pipes->has_driver. */
void *pipes_new_end(const struct load_fd *fd, int nodes, int own);

#define NDEVICE_DESCRIPTORS 256

extern struct ndevice_slot ndevice_table[NDEVICE_DESCRIPTORS]; /* by descriptor */

/* Returns the slot of an open descriptor, or NULL. */
static inline struct ndevice_slot *ndevice_slot(int fd)
{
    return (unsigned)fd < NDEVICE_DESCRIPTORS && ndevice_table[fd].device ? &ndevice_table[fd] : NULL;
}

/* Returns the driver of a path. The file driver takes every path that no other driver takes, even an invalid
 * address. */
const struct ndevice *ndevice_of(const char *path);

/* Returns the file driver's UFID of a descriptor; -N_EBADF, or -N_ENOTSUP: another driver has it. */
long ndevice_ufid(int fd);

/* Writes the path by which a directory was opened, and a NUL, to path[0 .. bytes). Returns its length, or as
 * ndevice_ufid; -N_ENOTDIR, -N_ERANGE. */
long ndevice_path(int fd, char *path, size_t bytes);

/* Takes global mode off the end of a pipe, which gets a mapping now. Only programs that call nglobal have it. */
void global_uncover(struct ndevice_slot *slot) __attribute__((weak));

extern const struct ndevice ndevice_file;        /* images/lib/devices/dev_file.c */
extern const struct ndevice ndevice_striped;     /* libpio/ndevices/striped.c */
extern const struct ndevice ndevice_pipe;        /* libpio/pipes/pipe.c */
extern const struct ndevice ndevice_cfs_segment; /* libpio/cfs/cfs_device.c */

/* Above 0, open gives the highest free descriptor: a driver opens files that are none of the program's. */
extern int ndevice_opens_at_top;
/* As ndevice_add, but the switch asks this driver before all others, also before those that are added later. */
int ndevice_add_outermost(const struct ndevice *device);

/* Opens the lowest free descriptor for a driver's state. -EMFILE. */
int ndevice_open_state(const struct ndevice *device, void *state, int flags);

/* Sets driver and state of a slot and of those that dup has made of it. */
void ndevice_replace(struct ndevice_slot *slot, const struct ndevice *device, void *state);

/* The address of a descriptor's slot, which is there only if the descriptor is below NDEVICE_DESCRIPTORS. gcc is
 * kept from computing it twice. */
static inline const struct ndevice_slot *ndevice_slot_address(int fd)
{
    uintptr_t slot = (uintptr_t)ndevice_table + (uintptr_t)(intptr_t)fd * sizeof(struct ndevice_slot);

    __asm__("" : "+r"(slot));
    return (const struct ndevice_slot *)slot;
}

/* A driver's function on a state; `missing`: the error when the driver has none. */
#define NDEVICE_CALL(device, state, entry, missing, ...) \
    ((device)->entry ? (device)->entry((state)__VA_OPT__(, ) __VA_ARGS__) : -(missing))

/* The result of a driver's function, recorded for nfailed when it is negative. */
#define NDEVICE_ON_FD(call, fd, entry, missing, ...)                                                           \
    ({                                                                                                         \
        const struct ndevice_slot *slot_ = ndevice_slot_address(fd);                                           \
        const struct ndevice *device_ = (unsigned)(fd) < NDEVICE_DESCRIPTORS ? slot_->device : NULL;           \
        failure_of_fd(call, fd,                                                                                \
                      device_ ? NDEVICE_CALL(device_, slot_->state, entry, missing __VA_OPT__(, ) __VA_ARGS__) \
                              : -EBADF);                                                                       \
    })

#define NDEVICE_ON_PATH(call, path, entry, ...)                                               \
    ({                                                                                        \
        const struct ndevice *device_ = ndevice_of(path);                                     \
        failure_of_path(call, path, device_->entry ? device_->entry(__VA_ARGS__) : -ENOTSUP); \
    })

/* Calls of POSIX that are a driver's function: on a descriptor, which is the parameter `fd`, and on a `path`. */
#define NDEVICE_FD_CALL(type, name, entry, missing, parameters, ...)                                        \
    type name parameters                                                                                    \
    {                                                                                                       \
        return (type)result_to_errno(NDEVICE_ON_FD(#entry, fd, entry, missing __VA_OPT__(, ) __VA_ARGS__)); \
    }

#define NDEVICE_PATH_CALL(type, name, entry, parameters, ...)                            \
    type name parameters                                                                 \
    {                                                                                    \
        return (type)result_to_errno(NDEVICE_ON_PATH(#entry, path, entry, __VA_ARGS__)); \
    }
