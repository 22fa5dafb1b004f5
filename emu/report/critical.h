/*
 * The critical path: the chain of work and messages that ended last. From the end of the program's time it goes back:
 * while its node worked, the path is there; where the node waited for a message, the path is the message's, and goes on
 * at the sender when it sent. What is on the path made the program as long as it was; what is not did not.
 */
#pragma once

#include "emu/report/facts.h"

enum step_kind {
    STEP_USER,    /* user code of a node */
    STEP_KERNEL,  /* its kernel */
    STEP_MESSAGE, /* on its way, or not yet noticed; without */
    STEP_CHANNEL, /* its header's waits for channels */
    STEP_DRIVE,   /* the node waited for a drive */
    STEP_HOST,    /* the front end */
    STEP_OTHER,   /* the node waited for something else: a signal, memory */
    STEP_KINDS
};

extern const char *const step_names[STEP_KINDS]; /* "user code" */

struct step {
    enum step_kind kind;
    uint64_t from, to;
    uint32_t node;    /* where it was; of a message, its sender */
    uint32_t peer;    /* of a message, its receiver; else the node itself */
    uint32_t channel; /* that a message waited for longest, of timeline.channel; UINT32_MAX: none */
    uint64_t waited;  /* of a message: by its header, for channels; this part of the step is STEP_CHANNEL */
    uint32_t name;    /* of a node's spell */
};

struct critical {
    struct step *step; /* from the last one back */
    size_t steps, step_room;
    uint64_t time[STEP_KINDS];
};

void critical_find(struct critical *c, const struct facts *f, const struct timeline *t);
void critical_free(struct critical *c);

/* What the path consists of, by place: "user code of node 3". */
struct stretch {
    enum step_kind kind;
    uint32_t node, peer, channel; /* as in a step; UINT32_MAX: of no meaning for the kind */
    uint64_t time, steps;
};

/* Returns the path's n stretches, the longest first, which the caller frees. */
struct stretch *critical_stretches(const struct critical *c, size_t *n);
