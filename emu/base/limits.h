/*
 * What the host lets one process have, against what a machine will need: told before anything is
 * started, by name, and not by a QEMU that ends in the middle.
 *
 * Soft limits of descriptors and processes are raised to the hard ones: they are there for programs
 * that use select(). What the user has set with ulimit -v and -f stays as it is.
 */
#ifndef NCUBE_LIMITS_H
#define NCUBE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limits {             /* what is needed, or what there is: UINT64_MAX for no limit */
    uint64_t descriptors;   /* of this process */
    uint64_t threads;       /* of all QEMUs */
    uint64_t address_bytes; /* of this process's address space */
    uint64_t file_bytes;    /* in the largest file, which is a cabinet's memory */
    uint64_t memory_bytes;  /* of the host, which the nodes touch at the least */
};

/* Of this process, after raising what may be raised. Threads: the least of RLIMIT_NPROC (where it
 * binds us), kernel's and control group's, less what the latter two have already. */
struct limits limits_raise(void);

/* True if there is enough. Else one line in error: which limit, what is needed and there, what to
 * do. */
bool limits_suffice(const struct limits *needed, const struct limits *there, char *error, size_t error_bytes);

#endif
