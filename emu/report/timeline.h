/*
 * What a timeline (docs/tracing.md) tells about a run, in arrays: the spells of each node, the messages, who held which
 * channel, the commands of the drives. timeline_read.h fills one; facts.h counts in it, critical.h looks for the path.
 *
 *   as they come, a wait in its call      call ------------------  user ----  call --
 *                                             wait -------
 *   after timeline_sort                   k.. wait ------- kernel  user ----  kernel
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/memory.h"
#include "vertex/contract/machine.h"

/* What a node does. */
enum state {
    STATE_USER,
    STATE_KERNEL,  /* calls, interrupts, page faults */
    STATE_MESSAGE, /* waits for a message; */
    STATE_REPLY,   /* for a file server; */
    STATE_DRIVE,
    STATE_MEMORY,
    STATE_OTHER, /* for a signal, the end of a child, a pipe of the node, one of several descriptors */
    STATE_FREE,  /* no program */
    STATES
};

/* A word for each, as "waits for a message". */
extern const char *const state_names[STATES];

struct spell {
    uint64_t from, to; /* cycles, as all times here */
    uint32_t node;     /* index, as all nodes here */
    uint32_t name;     /* of timeline.name, as all names here */
    enum state state;
};

struct place { /* a trap in the program */
    uint64_t at;
    uint32_t node, line; /* a name: "main (x.c:20)" */
};

struct letter {              /* a message between NCUs */
    uint64_t sent, received; /* its SEND; its receiver's kernel learns of it */
    uint64_t number, bytes;
    uint32_t from, to;
    uint32_t type, context;
};

struct hold { /* of a channel by a message */
    uint64_t from, to;
    uint64_t waited;  /* by its header, before `from` */
    uint64_t number;  /* of the message, */
    uint64_t bytes;   /* its length, */
    uint32_t sender;  /* the address from which it comes */
    uint32_t channel; /* its number; after timeline_sort, its index in timeline.channel */
};

struct command { /* of a drive */
    uint64_t from, to;
    uint64_t sectors;
    uint32_t drive;
    bool write;
};

struct queue_change {
    uint64_t at;
    uint32_t drive, commands; /* that wait or are executed, from then on */
};

struct phase {
    uint64_t from, to;
    uint32_t node, name;
};

struct waiting { /* in a library's call: MPI's */
    uint64_t from, to;
    uint32_t node, call, communicator; /* the last two are names; communicator "": none */
};

struct request { /* to a file server */
    uint64_t from, to, bytes;
    uint32_t node, op, volume; /* the last two are names; volume "": none */
};

/* How the run failed: what trace.h's TRACE_END says. */
struct ending {
    uint64_t at;
    uint32_t how; /* enum trace_end */
    uint32_t line;
};

struct timeline_node {
    uint32_t address;
    bool wired;                  /* an I/O node, and the next line is known */
    int32_t si[NCU_SI_CHANNELS]; /* SI nodes of its channels; -1: not connected */
    size_t first, n;             /* its spells, after timeline_sort */
};

struct timeline_channel {
    uint32_t number;   /* its index in the machine */
    uint32_t from, to; /* addresses */
};

struct timeline_drive {
    uint32_t volume, model; /* names; model "": not known */
    int32_t node;           /* address of its I/O node; -1: not known */
    uint32_t track;         /* in the trace; 0: it has no commands */
};

#define TIMELINE_LIST(type, name) \
    type *name;                   \
    size_t name##s, name##_room

struct timeline {
    json_t *about;               /* what the trace's head says of the run */
    bool limited;                /* the trace reached its limit */
    uint64_t end;                /* the last time in it */
    TIMELINE_LIST(char *, name); /* texts, each once */
    void *name_tree;             /* timeline.c's, to find one */
    int32_t *index_of;           /* by address; -1: not seen */
    TIMELINE_LIST(struct timeline_node, node);
    TIMELINE_LIST(struct timeline_channel, channel);
    TIMELINE_LIST(struct timeline_drive, drive);
    TIMELINE_LIST(struct spell, spell);
    TIMELINE_LIST(struct place, place); /* none: nobody asked for the lines */
    TIMELINE_LIST(struct letter, letter);
    TIMELINE_LIST(struct hold, hold);
    TIMELINE_LIST(struct command, command);
    TIMELINE_LIST(struct queue_change, queue);
    TIMELINE_LIST(struct phase, phase);
    TIMELINE_LIST(struct waiting, waiting);
    TIMELINE_LIST(struct request, request);
    TIMELINE_LIST(struct ending, ending); /* none: the run ended well */
};

/* Adds an empty element to a list of the timeline and returns it; it stays there until the next one. */
#define timeline_add(t, list)                                                                    \
    ((t)->list = memory_grow((t)->list, &(t)->list##_room, (t)->list##s + 1, sizeof *(t)->list), \
     &(t)->list[(t)->list##s++])

void timeline_begin(struct timeline *t);
void timeline_free(struct timeline *t);

/* Returns the number of a text, which is added if it is new. */
uint32_t timeline_name(struct timeline *t, const char *text);

/* Returns the index of the node with that address (at most NODE_HOST), which is added if it is new. */
uint32_t timeline_node(struct timeline *t, uint32_t address);
/* Likewise, of a drive. */
uint32_t timeline_drive(struct timeline *t, const char *volume);

/* Orders everything by time, when all has been read: nodes by address, spells by node and without overlap, messages by
 * receiver. */
void timeline_sort(struct timeline *t);

/* Returns whether a node belongs to the cube. */
static inline bool timeline_computes(const struct timeline *t, uint32_t node)
{
    return NODE_IS_COMPUTE(t->node[node].address);
}
