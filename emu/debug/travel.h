/*
 * Going back in a run that can be repeated exactly: which place is sought, and by how many passes. A pass is a new
 * machine that executes the run from its beginning; what leads to one is stub.h's.
 *
 *   one instruction back     the trail has it (trail.h)                                        none
 *                            or the place is known (debug_area.h: before)                      TO the place
 *   back to a breakpoint     FIND: all nodes run to the present place, and note their hits;    TO the last one
 *   or watchpoint            if they are known from the last FIND, that pass is left out;
 *                            if there was none in its last part, FIND around the last one before
 *   nothing is before        BEGIN: the program's first node stops at its entry
 *   to a time                ALL: each node stops at its first instruction that is not before it
 *   to the end               END: the nodes run to the first fault, or until nothing moves any more
 *   on to a breakpoint       AHEAD: user code runs ahead, to about the first hit after the     ON from shortly before,
 *   that is far away         present place                                                     as after `continue`
 *
 * Passes from the beginning, not undone steps: QEMU's plugins cannot write registers. A pass first goes forward, as a
 * run without gdb: user code runs ahead, and nobody looks at instructions; up to `from`, shortly before what is sought.
 * From there on the nodes are in the same places in every run, and all their places are noted. A FIND looks at a part
 * before the present place: without running ahead, but only at breakpoints and accesses to what is watched, which the
 * plugin knows before it translates the program. So hits before that part are noted, too, at a rough clock, since user
 * code has run ahead of its interrupts; but they can be counted. Another FIND looks at a part around the last one: it
 * is the last one in fact if as many were counted up to the part's end. If not, a longer part before the present place
 * is looked at.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/target.h"

enum travel_pass { TRAVEL_NOT, TRAVEL_BEGIN, TRAVEL_FIND, TRAVEL_TO, TRAVEL_ALL, TRAVEL_END, TRAVEL_AHEAD, TRAVEL_ON };

enum travel_wish { /* what gdb's next command to go on, or back, is to do instead */
                   WISH_NONE,
                   WISH_TIME, /* to go to the wished place's time, */
                   WISH_CALL, /* to the instruction of its node before it */
};

struct travel {
    enum travel_pass pass;     /* that is to be made, or is being made */
    struct target_place place; /* which it seeks */
    uint32_t watcher;          /* node whose watchpoints count, */
    bool only;                 /* and no other's breakpoints */
    struct target_event event; /* why the program stops there */
    bool calls;                /* TO: from there, to the instruction before */
    bool returns;              /* FIND: then back to `present`, with the hits known */
    struct target_place present;
    enum travel_wish wish;
    struct target_place wished;
    bool at_begin;             /* what has been sought is before the begin of the program */
    struct debug_area *held;   /* breakpoints that gdb has set now: it removes them while the nodes stand; NULL: none */
    struct debug_area *breaks; /* those of its last command to go on, or back; NULL: none */
    struct target_hit *hit;    /* of the last FIND, in order; NULL: there was none, or its breakpoints were others */
    size_t hits;
    struct target_place known;  /* it has all of them up to here, but that */
    struct target_place lost;   /* those up to here have been lost, or not looked for */
    uint64_t from;              /* the present pass has noted nothing before, */
    uint64_t closely;           /* and has not looked at each instruction before; 0: it has looked at all */
    bool scans;                 /* it has come to `from` */
    enum travel_pass made;      /* the nodes stand where this pass has led them; TRAVEL_NOT: they have gone on since */
    uint64_t found_from;        /* `from` of the last FIND */
    struct target_place sought; /* hits before this, which were counted: */
    uint64_t rough_hits;        /* so many; UINT64_MAX: they were not counted; */
    uint64_t rough_cycles;      /* the last at about this time; 0: that is not known */
    uint64_t base;              /* the pass has counted none before this: the machine has gone on from there, */
    uint64_t rough_base;        /* and so had the last FIND before */
    bool around;                /* the pass looks around that one, */
    uint64_t counted;           /* and has counted so many */
    bool freely;                /* where nodes seek nothing, nobody looks at them; false: each pass looks at all */
    bool kept;                  /* the run is kept as it goes on (stub.h) */
    bool missed;                /* a pass has found its nodes beyond the place, so this one looks at all */
};

void travel_free(struct travel *v);

/* Notes the breakpoints of a command to go on. */
void travel_note_breaks(struct travel *v, const struct target *t);

/* Choose the place one instruction before a node's, or that of the last hit before it, and the first pass. A watchpoint
 * is hit by `watcher` alone, since a variable is another one on each node; `only`: and so is a breakpoint. */
void travel_step(struct travel *v, const struct target *t, uint32_t node);
void travel_back(struct travel *v, const struct target *t, uint32_t node, uint32_t watcher, bool only);

/* Choose the place that the trail shows, to be there in fact, or the one that is wished. */
void travel_to_view(struct travel *v, const struct target *t);
void travel_to_wish(struct travel *v, const struct target *t);
/* Chooses to find the hits before a node's place, and to come back. travel_knows_hits: they are known already, and are
 * those of v->hit that are before *present. */
void travel_find(struct travel *v, const struct target *t, uint32_t node);
bool travel_knows_hits(const struct travel *v, const struct target *t, uint32_t node, struct target_place *present);

/* Returns false if the last pass does not know where the node is, or which instruction was before: it has begun to look
 * when the node was in the kernel already. travel_look_closer chooses to be at the same place, at which the node
 * `stopped` has stopped, after a look at all; where the nodes have gone on freely, after a look at the last stretch.
 * `ends`: they have stopped for a fault, or because nothing moves any more. */
bool travel_sees(const struct travel *v, const struct target *t, uint32_t node);
void travel_look_closer(struct travel *v, const struct target *t, uint32_t stopped, bool ends);
/* The nodes are beyond what is sought: the same pass, with a look at all. */
void travel_miss(struct travel *v);
/* Whether they are, if the latest has that clock. */
bool travel_is_beyond(const struct travel *v, uint64_t latest_cycles);
/* The pass END: how the run ends is known at that time; 0: it is not known when. */
void travel_to_end(struct travel *v, uint64_t end_cycles);

/* The nodes have gone on for long, and no breakpoint has stopped one: choose a pass that runs ahead to the first hit
 * after the virtual time that they have come to. */
void travel_ahead(struct travel *v, const struct target *t);
/* It is broken off: chooses to be where virtual time is. */
void travel_stay(struct travel *v, const struct target *t);
/* Returns true if it is there: then it has chosen the pass ON. `ends`: nothing more can come. */
bool travel_has_come(struct travel *v, const struct target *t, bool ends);

/* Returns the time before which a pass has nothing to look at, nor to note. */
uint64_t travel_earliest(const struct travel *v);
/* Returns true if it had best count from that time on, as the pass before. */
bool travel_wants_base(const struct travel *v, uint64_t *base);
/* Returns the time of the next stage of the pass, before which nodes are not looked at closely: up to `from` they run
 * ahead, up to `closely` they do not. 0: the last stage has come. */
uint64_t travel_stage(const struct travel *v);
/* The program is about to be loaded: prepares a pass that has stages. */
void travel_prepare(struct travel *v, struct target *t);
/* The nodes have come to travel_stage. Returns true if that was the last one: travel_start follows. */
bool travel_next_stage(struct travel *v, struct target *t);
/* Begins the pass on the nodes of a new machine, which have not begun. */
void travel_start(struct travel *v, struct target *t);
/* The pass END is over, and gdb has been there before: its breakpoints hold again. */
void travel_set_breaks(const struct travel *v, struct target *t);
/* The pass is over. Returns true if another one is to be made. */
bool travel_goes_on(struct travel *v, struct target *t);
