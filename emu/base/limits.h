/*
 * Compares what a machine will need with what the host lets one process have, before anything is started: the error
 * names the limit, which a QEMU that fails in the middle of a start would not.
 *
 * Soft limits of descriptors and processes are raised to the hard ones; the soft ones exist for programs that use
 * select(). What the user has set with ulimit -v and -f stays as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct limits {             /* needed or available; UINT64_MAX: no limit */
    uint64_t descriptors;   /* of this process */
    uint64_t threads;       /* of all QEMUs */
    uint64_t address_bytes; /* of the address space of this process, or of a QEMU, which has the same limit */
    uint64_t file_bytes;    /* in the largest file, which is a cabinet's memory */
    uint64_t memory_bytes;  /* of the host, which the nodes touch at least */
};

/* Raises the soft limits that may be raised, and returns what this process may have. From then on, a write beyond the
 * host's limit of a file fails, instead of ending this process. Threads are the least of RLIMIT_NPROC (which does
 * not bind the superuser), the kernel's limits, and what the control group has left. */
struct limits limits_raise(void);

/* Returns true if everything needed is available. Otherwise writes one line to error: the limit, what is needed, what
 * is available, and what to do. */
bool limits_suffice(const struct limits *needed, const struct limits *there, char *error, size_t error_bytes);
