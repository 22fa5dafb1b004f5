/*
 * The data of a machine: its options, its parts, where its nodes are. emu/machine/assemble.h builds one, operate.h runs
 * it, explain.h says what became of it.
 *
 * One thread. A function that returns -1 has printed one line on standard error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/inputs.h"
#include "emu/config/config.h"
#include "emu/state/heartbeat.h"
#include "emu/report/reporting.h"
#include "emu/stats/stats.h"
#include "emu/state/tracing.h"
#include "emu/front/front.h"
#include "emu/job/loader.h"
#include "emu/model/disk.h"
#include "emu/model/ncu.h"
#include "emu/trace/trace.h"
#include "emu/qemu/cabinet.h"
#include "emu/qemu/harts.h"
#include "emu/qemu/snapshot.h"
#include "emu/qemu/text_pool.h"
#include "emu/time/sched.h"

struct checking;
struct checkpoints;
struct machine;
struct cores;
struct origins;
struct stub;
struct user_calls;

/* Cabinets on other hosts, their racks: who runs them is in emu/rack, which only ncube-mpi has. Its functions get the
 * machine. */
struct machine_far {
    uint32_t racks;
    struct harts_far harts;
    struct ncu_memory memory;
    int (*start)(struct machine *m); /* the cabinets; returns 0, or -1 after one line */
    uint64_t (*text)(void *machine, uint32_t index, uint64_t addr, uint64_t bytes); /* as ncu_ops.text */
    void (*keep_state)(void *machine, uint32_t index, bool keep);                   /* as sched_ops.keep_state */
    bool (*same_state)(void *machine, uint32_t index);                              /* as sched_ops.same_state */
    bool (*is_lost)(void *machine);                                                 /* as harts.is_lost */
    bool (*failed)(struct machine *m, char *text, size_t bytes); /* if so, writes one line that says how */
    void (*stop)(struct machine *m);                             /* and frees all; at any stage after start */
};

enum machine_harts {                        /* how a cabinet executes its harts */
                     MACHINE_HARTS_BEST,    /* by turns, where this host and what is asked for allow it */
                     MACHINE_HARTS_THREADS, /* a thread for each */
                     MACHINE_HARTS_TURNS,   /* one thread for each processor, in which they take turns */
                     MACHINE_HARTS_INSIDE,  /* likewise, with ncube in the process of its only cabinet */
};

struct machine_options { /* they outlive the machine */
    const char *machine; /* machine file, NULL: compute nodes only */
    const char *images;  /* folder of the drives' images; NULL: the machine file gives it */
    void (*say_fault)(void *machine, const char *fault); /* is told of each fault of the file; NULL: of the first */
    struct tracing trace;
    const char *program; /* what is to run, for the trace: words of the command line; NULL: not known */
    const char *lib;     /* folder of plugin.so, vertex.elf and nsdisk.elf */
    uint32_t dim;        /* of the machine, if there is no machine file */
    uint32_t processors; /* of the host, to use; 0: all that this process may use */
    const char *racks;   /* nodes of each rack, as "16,48"; NULL: the machine file says it, or they are even */
    enum machine_harts harts;
    bool from_words;             /* all of these are from the command line, which may be executed again (guard.h) */
    bool strict;                 /* user code does not run ahead (sched.h); slow, for comparisons */
    bool silent;                 /* lines are left in m->error, for another process to print */
    enum slot_traps user_traps;  /* of a rack, for the trace of another process */
    bool statistics;             /* print them at the end, */
    const char *statistics_file; /* or write them to this file, if it is not NULL */
    bool progress;               /* a line about how far the machine is, on a terminal */
    double heartbeat_s;          /* seconds of the host between two lines about how far the machine is; 0: none */
    bool gdb;                    /* a program can be debugged, */
    uint16_t gdb_port;           /* on this port; 0: any free one */
    uint32_t gdb_memory;         /* MB, at most, for going back in a run; 0: it cannot */
    struct stub **gdb_goes_back; /* it may go back, by further machines: where its stub is meanwhile; NULL: it cannot */
    struct machine_config *config; /* and where the machine file is, if the run is not of a recording; else NULL */
    bool gdb_from_end;             /* and finds the program at the end of its run, */
    uint64_t gdb_end_cycles;       /* which was known at that virtual time; 0: when is not known */
    bool check;                    /* tells at the end what went wrong in silence (emu/watch/checking.h) */
    const char *core_dir;          /* folder for core files; NULL: none */
    const char *record;            /* the command line's file for a recording */
    struct recording *recording;   /* to write or to replay; NULL: none */
    bool light;                    /* it gets no programs */
    const char *machine_name;      /* in a replay: of the machine file; NULL: none */
    const struct machine_far *far; /* NULL: all cabinets are on this host */
    bool kept_up;                  /* jobs come and go, and none waits for another's output; else the end of its one job
                                  * ends the machine */
};

#define MACHINE_ERROR_BYTES 4608u

struct machine {
    const struct machine_options *options;
    struct machine_config config;
    struct inputs inputs; /* which trace and statistics must not overwrite */
    struct disk **disk;   /* DRIVE_MAX for each I/O node */
    struct elf_image kernel, nsdisk;
    struct front *front;
    struct trace *trace;
    struct reporting *reporting; /* for --report; NULL: none */
    bool *traced;                /* by address: nodes that are; NULL: all */
    FILE *statistics;            /* the file for them, open; NULL: none */
    struct stats_calls *calls;   /* for them; NULL: nothing is counted */
    uint64_t build_begun_ns;     /* by the host's clock */
    struct heartbeat heartbeat;
    uint64_t followed_ns; /* when it last looked for a processor with fewer runs */
    uint64_t resumed_ns;  /* when machine_run was last called */
    bool job_ended;       /* since then */
    bool settles;         /* machine_settle runs */
    struct harts harts;
    bool harts_ready;
    uint32_t nodes; /* compute nodes, then I/O nodes */
    uint32_t cabinets;
    uint32_t first_cabinet, end_cabinet; /* those that this process runs */
    struct cabinet *cabinet;
    void *racks;        /* the others; NULL: there are none */
    uint32_t *rack_end; /* likewise; by rack: the first cabinet of the next one */
    uint64_t work_ns;   /* processor time of the QEMUs at the last silence (explain.h) */
    uint32_t silences;  /* in a row in which they have done nothing */
    struct text_pool *text;
    uint32_t *slot_of;          /* node's slot */
    struct snapshot **snapshot; /* by node: its state, while a loop that polls is looked at; else NULL */
    struct eventq *events;
    struct ncu *ncu;
    struct sched *sched;
    struct sched_ops sched_ops;
    struct ncu_ops ncu_ops;
    struct checking *checking;       /* NULL: nothing is checked */
    struct cores *cores;             /* for core files; NULL: none are written */
    struct stub *stub;               /* for gdb; NULL: none */
    struct checkpoints *checkpoints; /* for going back; NULL: there are none */
    bool behind;                     /* another process has come further with the host */
    uint64_t pause_cycles;           /* up to which it runs (checkpoints.h) */
    struct origins *origins;         /* of messages; NULL: none are noted */
    struct user_calls *places;       /* for the lines at traps; NULL: none was asked for yet */
    uint32_t debugged_job;           /* 0: none */
    bool gdb_next;                   /* the next program is to wait for gdb */
    bool gdb_kills;                  /* gdb's user has asked for the program's end */
    uint64_t running_va;             /* unread.c: Vertex's proc_running; 0: not looked for */
    uint64_t failed_cycles;          /* when the fault of the program, or the deadlock, was known; 0: there was none */
    bool end_told;                   /* the trace knows how the run has failed */
    bool stuck;                      /* a deadlock has been reported: the statistics include what each node waits for */
    bool failed;                     /* and the line has been printed */
    char error[MACHINE_ERROR_BYTES];
};

/* Nodes are numbered: compute nodes first, then I/O nodes. The address of one, and where QEMU has it. */
static inline uint32_t machine_address_of(const struct machine *m, uint32_t index)
{
    uint32_t compute = 1u << m->config.topo.dim;

    return index < compute ? index : m->config.topo.io[index - compute].node;
}

static inline uint32_t machine_cabinet_of(const struct machine *m, uint32_t index)
{
    return index / m->config.topo.nodes_per_cabinet;
}

static inline uint32_t machine_hart_of(const struct machine *m, uint32_t index)
{
    return index % m->config.topo.nodes_per_cabinet;
}

/* Returns the memory of the hart of a slot: each cabinet's injector follows its nodes. */
static inline uint8_t *machine_slot_window(const struct machine *m, uint32_t slot)
{
    uint32_t each = m->config.topo.nodes_per_cabinet + 1;

    return cabinet_window(&m->cabinet[slot / each], slot % each);
}

/* Returns the processor time of all QEMUs of a machine so far. Signal handlers may call it. */
uint64_t machine_work_ns(void *machine);
/* Finds the address of a global symbol of Vertex. False: vertex.elf has none. */
bool machine_find_symbol(const struct machine *m, const char *name, uint64_t *va);
/* Reads from a node's memory, node-physical; the bytes must lie in it. */
void machine_read_memory(const struct machine *m, uint32_t index, uint64_t addr, void *to, size_t bytes);
/* If another host has a node's memory, brings the page at that place of its cabinet to cabinet.ram, if it is the node's
 * and not the mailbox's; then returns true. */
bool machine_bring_page(const struct machine *m, uint32_t index, uint64_t at);
/* Prints one line, "ncube: ...". */
void machine_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints a further line, indented; as a callback, without a machine. */
void machine_say_more(void *unused, const char *line);
/* As machine_say, and notes that the machine has failed. Returns -1. */
int machine_complain(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
