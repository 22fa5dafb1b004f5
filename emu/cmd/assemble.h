/*
 * A machine as a machine file describes it, put together from its parts (docs/architecture.md), and taken apart
 * again. Used by run.c, for one program, and by boot.c, which keeps it up.
 *
 *   machine_configure --> (jobs may be begun) --> machine_build --> machine_run ... --> machine_free
 *
 * One thread; every error has printed its one line on standard error before it is returned as -1.
 */
#ifndef NCUBE_ASSEMBLE_H
#define NCUBE_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "emu/base/inputs.h"
#include "emu/cmd/config.h"
#include "emu/cmd/heartbeat.h"
#include "emu/cmd/stats.h"
#include "emu/front/front.h"
#include "emu/front/loader.h"
#include "emu/model/disk.h"
#include "emu/model/ncu.h"
#include "emu/model/trace.h"
#include "emu/qemu/cabinet.h"
#include "emu/qemu/harts.h"
#include "emu/qemu/text_pool.h"
#include "emu/time/sched.h"

struct machine_options {         /* outlive the machine */
    const char *machine;         /* machine file, NULL: compute nodes only */
    const char *images;          /* folder of the drives' images, NULL: as the machine file says */
    const char *trace;           /* file for the trace, NULL: none */
    const char *lib;             /* folder of plugin.so, vertex.elf and nsdisk.elf */
    uint32_t dim;                /* without a machine file: of the machine */
    uint32_t processors;         /* of the host, to use; 0: all that this process may */
    bool strict;                 /* user code does not run ahead (sched.h): slow, for comparison */
    bool statistics;             /* print them at the end, */
    const char *statistics_file; /* or write them to this file, if it is not NULL */
    double heartbeat_s;          /* say so often, by the host's clock, how far the machine is; 0: never */
    bool keeps_going;            /* nothing waits for ncube's own output (streams.h) */
};

struct machine_hooks {
    void (*ended)(void *ctx, uint32_t id); /* a job has ended (front.h) */
    bool (*pause)(void *ctx);              /* machine_run is to return; NULL: never. Asked often. */
};

#define MACHINE_ERROR_BYTES 4608u

struct machine {
    const struct machine_options *options;
    const struct machine_hooks *hooks;
    void *ctx;
    struct machine_config config;
    struct inputs inputs; /* which trace and statistics must not be written over */
    struct disk **disk;   /* DRIVE_MAX for each I/O node */
    struct elf_image kernel, nsdisk;
    struct front *front;
    struct trace *trace;
    FILE *statistics;            /* the file for them, opened; NULL: none */
    struct timespec build_begun; /* by the host's clock */
    struct heartbeat heartbeat;
    struct timespec looked; /* for a processor with fewer runs */
    struct harts harts;
    bool harts_ready;
    uint32_t nodes; /* compute nodes, then I/O nodes */
    uint32_t cabinets;
    struct cabinet *cabinet;
    struct text_pool *text;
    uint32_t *slot_of; /* node's slot */
    struct eventq *events;
    struct ncu *ncu;
    struct sched *sched;
    bool stuck;  /* a deadlock has been reported: the statistics have what each node waits for */
    bool failed; /* with its line printed */
    char error[MACHINE_ERROR_BYTES];
};

/* Prints one line, "ncube: ...", notes the failure, returns -1. */
int machine_complain(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the machine file and makes the front end. machine_free is the caller's, whatever is returned. */
int machine_configure(struct machine *m, const struct machine_options *o, const struct machine_hooks *hooks, void *ctx);

/* To be called before machine_build for what else is read: no trace and no statistics go there. */
void machine_reads(struct machine *m, const char *path, const char *what);

/* Opens drives, trace and the file for statistics, starts the cabinets, fills their memory. Signals are caught from
 * here on. */
int machine_build(struct machine *m);

/* Runs on to an end (sched.h); SCHED_FINISHED also when the machine has failed or the hook pauses it. */
enum sched_end machine_run(struct machine *m, uint64_t limit_cycles);

/* To be called before the front end is made to act while machine_run does not run: what it sends starts now. */
void machine_act_now(struct machine *m);

/* Nothing will run for a while: other runs may have our processor. */
void machine_rest(struct machine *m);

/* After SCHED_DEADLOCK: the front end has not sent anything since. */
bool machine_is_quiet(const struct machine *m);

/* Virtual time. */
double machine_seconds(const struct machine *m);

/* After SCHED_DEADLOCK: what nodes wait for, or how those of the job have ended; those that are alike in one line. Of the
 * job's nodes, numbered from 0, or of the whole machine (j may be NULL then). Then what is broken. */
void machine_report_waits(struct machine *m, const struct job *j, bool whole, void (*say)(void *ctx, const char *line),
                          void *ctx);

/* A node of the job that is dead and has not exited: its fault, or NULL. */
const struct fault *machine_find_dead_node(const struct machine *m, const struct job *j);

/* After SCHED_STOPPED: says which cabinet was lost, nothing if it was a signal. Returns -1. */
int machine_explain_stop(struct machine *m);

/* At the end: prints or writes the statistics that were asked for. 0, or -1 if they could not be written. */
int machine_tell_statistics(struct machine *m);

/* Ends the cabinets; no process, shared memory or file of ours is left. -1 if the trace could not be written. */
int machine_free(struct machine *m);

#endif
