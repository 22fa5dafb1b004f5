/*
 * One run: boots the machine that a machine file describes, runs one parallel program on a subcube of it, ends it.
 */
#pragma once

#include <stdint.h>

#include "emu/machine/assemble.h"
#include "emu/job/job.h"

struct run_options {
    struct machine_options machine;
    struct job_options job;
    uint64_t limit_cycles; /* of virtual time */
    uint32_t shown;        /* in a replay of a machine that was kept up: the program whose output is shown; 0: all */
};

/* Exit statuses of ncube itself, beside the program's. */
enum {
    RUN_FAILED = 1, /* also: the program did something that the machine forbids */
    RUN_USAGE = 2,
    RUN_DEAD = 123,     /* a deadlock, and a node of the program is dead */
    RUN_LIMIT = 124,    /* the limit of virtual time was reached */
    RUN_DEADLOCK = 125, /* nothing can happen, and the program has not ended */
    RUN_SIGNAL = 128,   /* plus the signal's number */
    RUN_AGAIN = 1024,   /* no exit status: gdb goes back (machine_options.gdb_goes_back), by another run */
};

/* Returns the exit status: the program's (job.h), or one of the above after a line on standard error. Leaves no
 * process, shared memory or file behind, however it ends. */
int run_program(const struct run_options *o);
