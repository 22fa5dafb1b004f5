/*
 * What a timeline adds up to: where the time of each node went, what each channel and drive did, who sent to whom.
 * Everything counts in the program's time: from the first spell of user code on a compute node to the end of the last;
 * of a run that failed, to its failure, so that waits without an end count.
 */
#pragma once

#include "emu/report/timeline.h"

struct channel_use {
    uint32_t channel; /* of timeline.channel */
    uint64_t messages, bytes;
    uint64_t busy, waited; /* cycles: a message held it; headers waited for it, summed over the headers */
    uint32_t queue_max;    /* headers that waited at the same time */
};

struct drive_use {
    uint32_t drive; /* of timeline.drive */
    uint64_t reads, writes, read_bytes, written_bytes;
    uint64_t busy;
    double queue_mean; /* commands that waited or were executed */
    uint32_t queue_max;
};

struct phase_use { /* of all nodes */
    uint32_t name, nodes, times;
    uint64_t first, last; /* its first begin, its last end */
    uint64_t total, longest;
    uint32_t longest_node;
};

struct call_use { /* of a library, in a communicator: its waits, of all nodes */
    uint32_t call, communicator, longest_node;
    uint64_t times, total, longest;
};

struct request_use { /* of one kind, on one volume */
    uint32_t op, volume;
    uint64_t times, bytes, total, longest;
};

struct facts {
    uint64_t begin, end;         /* of the program's time */
    uint64_t first_begins;       /* when the first node begins, at most `begin` */
    uint32_t last_node;          /* that ended it */
    bool *ran;                   /* by node: a compute node with user code, at any time */
    uint64_t (*time)[STATES];    /* by node */
    struct channel_use *channel; /* the busiest first */
    struct drive_use *drive;     /* likewise */
    struct phase_use *phase;     /* in the order of their first begins */
    size_t phases, phase_room;
    struct call_use *call; /* the longest total first */
    size_t calls, call_room;
    struct request_use *request; /* the longest total first */
    size_t requests, request_room;
    uint64_t messages, bytes; /* received by the kernels of nodes and by the front end */
    uint64_t cube_messages;   /* of those, between two compute nodes, */
    uint64_t cube_hops, cube_bytes;
};

void facts_count(struct facts *f, const struct timeline *t);
void facts_free(struct facts *f);

/* Returns whether the run failed before the program had ended by itself. */
bool facts_cut_short(const struct timeline *t);

/* Returns how many compute nodes had user code. */
uint32_t facts_nodes(const struct facts *f, const struct timeline *t);

/* Returns the time in a state, of all of them together; and all their time. */
uint64_t facts_state(const struct facts *f, const struct timeline *t, enum state state);
uint64_t facts_all_time(const struct facts *f, const struct timeline *t);

/* Returns which part of the program's time that is, 0 to 1. */
double facts_part(const struct facts *f, uint64_t cycles);
