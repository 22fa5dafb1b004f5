/*
 * Two-phase I/O: collective reads and writes of a file by a group, some of whose members hold parts of the file between
 * its medium and all members' memory [del Rosario, Bordawekar, Choudhary: Improved parallel I/O via a two-phase
 * run-time access strategy, IPPS 1993 workshop; P3 section 7.2.1; P4 section 5.2].
 *
 *   member    view --- plan ---.                              .--- part: a window of it in the holder's memory
 *   member    view --- plan ---+--- exchange in the group ----+        |
 *   member    view --- plan ---'                              '--- part: store.move, in runs as long as they are
 *
 * Views are patterns, which the members tell each other once (two_phase_learn), or know (two_phase_know). So an access
 * is agreed on by one message of two numbers for each member, and no list of offsets travels: both sides of an exchange
 * find what they have in common by a plan. Parts are the elements of a pattern, too: blocks in turn, or one range of
 * the file for each holder.
 *
 * All members of the group make the same calls in the same order. Functions return >= 0, or a negative error
 * (vertex/contract/errors.h), the same on all members unless it is of a message.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/group/group.h"
#include "libpio/map/pattern.h"

/*
 * Where a holder's bytes are. Moves `bytes` of them and returns how many were moved, fewer at the end of the file or
 * where there is no room, or a negative error. at: counts the bytes of the holder's part; with by_file: those of the
 * file, of which all are the holder's.
 */
struct two_phase_store {
    int64_t (*move)(void *ctx, bool writes, void *buf, int64_t bytes, int64_t at);
    void *ctx;
    bool by_file;
};

/* What this member has done, for studies. */
struct two_phase_counts {
    uint64_t calls, turns;
    uint64_t sent, received; /* bytes of data, without those for itself */
    uint64_t moves, moved;   /* calls of the store, and their bytes */
};

/* The caller sets what comes first, zeros what follows, and ends it with two_phase_end. */
struct two_phase {
    struct group *g;
    const struct pattern *parts; /* element h is the part of holder h; they ascend */
    const int *holder;           /* [parts->elements]: its rank; none has two parts */
    struct two_phase_store store;
    int64_t window_bytes; /* of its part that a holder has in memory; it is read and written in multiples of that */
    /* the engine's */
    struct pattern **learned;         /* [size], or NULL */
    const struct pattern *known;      /* whose element r is rank r's view, if they were not learned */
    int *part_of;                     /* [size]: the part that a rank holds, or -1 */
    struct plan **own;                /* [parts->elements]: A: this member's view, B: the part */
    struct plan **held;               /* [size]: A: this member's part, B: the rank's view; NULL: it has none */
    int64_t planned_from, planned_to; /* the range of the file for which the plans hold */
    struct two_phase_call *kept;      /* memory of calls; NULL: each takes its own */
    struct two_phase_counts counts;
};

/* How many holders there are at most of a group, n of them being wanted, and the rank of holder h of n: evenly among
 * the ranks. */
static inline int two_phase_holder(const struct group *g, int n, int h)
{
    return (int)((int64_t)h * g->size / n);
}

/* Tells the others this member's view: the one element of a pattern, which stays the caller's. -N_E2BIG: it does not
 * ascend, or has too many nodes; -N_ENOMEM. A second call takes the place of the first. */
int two_phase_learn(struct two_phase *t, const struct pattern *view);
/* Rank r's view is element r of the pattern, on all members; no message. The pattern must live as long. */
int two_phase_know(struct two_phase *t, const struct pattern *views);
/* Takes now, and keeps, what calls of at most `most` bytes need, so that none of them lacks memory. Members' views are
 * known, and do not overlap. Not kept are plans of a part of the file, where one of all of it has too many nodes. Of
 * this member alone, without a message. -N_ENOMEM. */
int two_phase_reserve(struct two_phase *t, int64_t most);
/* Frees what the engine has. */
void two_phase_end(struct two_phase *t);

/*
 * Moves n bytes, 0 or more, at byte `at` of this member's view. Returns how many were moved: those before the first
 * that could not be, at the end of the file or by an error; an error if there are none and it was one. Members' views
 * may overlap: of a byte that several write, the highest rank's stays.
 */
int64_t two_phase_move(struct two_phase *t, bool writes, void *buf, int64_t n, int64_t at);
