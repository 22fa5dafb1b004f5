/*
 * Going back in a run that can be repeated exactly: which place is sought, and by how many passes. A pass is a new
 * machine that executes the run from its beginning; what leads to one is stub.h's.
 *
 *   one instruction back     the place is known (debug_area.h: before)                         TO the place
 *   back to a breakpoint     FIND: all nodes run to the present place, and note their hits;    TO the last one
 *   or watchpoint            if they are known from the last FIND, that pass is left out
 *   nothing is before        BEGIN: the program's first node stops at its entry
 *
 * Passes from the beginning, not undone steps: QEMU's plugins cannot write registers.
 */
#ifndef NCUBE_TRAVEL_H
#define NCUBE_TRAVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/target.h"

enum travel_pass { TRAVEL_NOT, TRAVEL_BEGIN, TRAVEL_FIND, TRAVEL_TO };

struct travel {
    enum travel_pass pass;     /* that is to be made, or is being made */
    struct target_place place; /* which it seeks */
    uint32_t watcher;          /* node whose watchpoints count, */
    bool only;                 /* and no other's breakpoints */
    struct target_event event; /* why the program stops there */
    bool at_begin;             /* what has been sought is before the begin of the program */
    struct debug_area *breaks; /* those that hold while there is no machine; NULL: none are kept */
    struct target_hit *hit;    /* of the last FIND, in order; NULL: there was none, or its breakpoints were others */
    size_t hits;
    struct target_place lost; /* hits up to here have been lost */
};

void travel_free(struct travel *v);

/* Choose the place one instruction before a node's, or that of the last hit before it, and the first pass. A watchpoint
 * is hit by `watcher` alone, since a variable is another one on each node; `only`: and so is a breakpoint. */
void travel_step(struct travel *v, const struct target *t, uint32_t node);
void travel_back(struct travel *v, const struct target *t, uint32_t node, uint32_t watcher, bool only);

/* Begins the pass on the nodes of a new machine, which have not begun. */
void travel_start(struct travel *v, struct target *t);
/* The pass is over. Returns true if another one is to be made. */
bool travel_goes_on(struct travel *v, struct target *t);

#endif
