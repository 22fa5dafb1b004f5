/*
 * One run: builds the machine that a machine file describes, boots it, runs one program on a subcube, ends it.
 */
#ifndef NCUBE_RUN_H
#define NCUBE_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct run_options {
    const char *machine; /* machine file, NULL: compute nodes only */
    const char *images;  /* folder of the drives' images, NULL: as the machine file says */
    const char *serve;   /* host folder that programs may reach, NULL: none */
    const char *trace;   /* file for the trace, NULL: none */
    const char *lib;     /* folder of plugin.so, vertex.elf and nsdisk.elf */
    uint32_t dim;        /* of the subcube */
    uint64_t limit_cycles; /* of virtual time */
    uint32_t processors; /* of the host, to use; 0: all that this process may */
    bool strict;         /* user code does not run ahead (sched.h): slow, for comparison */
    bool statistics;     /* print them at the end */
    char *const *argv;   /* the program's path and its arguments, argc of them */
    int argc;
};

/* Exit statuses of ncube's own, beside the program's. */
enum {
    RUN_FAILED = 1,     /* and: the program did what the machine forbids */
    RUN_USAGE = 2,
    RUN_LIMIT = 124,    /* the limit of virtual time was reached */
    RUN_DEADLOCK = 125, /* nothing can happen any more and the program has not ended */
    RUN_SIGNAL = 128,   /* plus the signal's number */
};

/* Returns the exit status: the highest of the nodes', or one of ours after one clear line on standard error. Whatever
 * happens, no process, shared memory or file of ours is left. */
int run_program(const struct run_options *o);

#endif
