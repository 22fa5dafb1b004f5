/*
 * Making sets of nested FALLS (pattern.h). Nodes are pushed in file order to a list of siblings; a list is closed by
 * wrapping it into its parent, or at the end. Sets are made shorter [P3 section 4.1.4]: runs that touch become one,
 * runs at even distances become a row, a parent that occurs once is replaced by its children, and a row of rows that
 * goes on evenly becomes one row.
 *
 *   int32_t mark = b.listed;
 *   falls_push(&b, mark, ...);                children, relative to the parent's block
 *   falls_wrap(&b, outer_mark, mark, &parent);
 *
 * The first error is kept, and all further calls do nothing.
 */
#pragma once

#include "libpio/map/pattern.h"

struct falls_build {
    struct falls *node; /* closed lists */
    struct falls *list; /* the open ones, one behind the other */
    int32_t nodes, node_room, listed, list_room;
    int32_t nodes_most; /* more are -E2BIG; 0: PATTERN_NODES_MAX */
    int64_t reached;    /* of a plan: the file byte of the last run that was pushed */
    int error;          /* 0 or a negative errno value */
};

/* Appends a node to the list that begins at `mark`; its bytes count only if it has children. */
void falls_push(struct falls_build *b, int32_t mark, const struct falls *f);

/* Closes the list from `mark` on as children of f, which goes to the list that begins at outer_mark. Without children f
 * is dropped. f's length and bytes are set here. */
void falls_wrap(struct falls_build *b, int32_t outer_mark, int32_t mark, const struct falls *f);

/* Sets a node's places to those in the file: then only what lies together there is joined. */
static inline void falls_lies_as_in_file(struct falls *f)
{
    for (int side = 0; side < 2; side++) {
        f->in[side].at = f->left;
        f->in[side].step = f->stride;
    }
}

/* Closes the outermost list. The set then owns the nodes. The caller calls falls_build_free in any case. */
int falls_finish(struct falls_build *b, struct falls_set *set);
/* The same for an element whose space has its bytes in file order, whatever places the nodes were given. */
int falls_finish_by_rank(struct falls_build *b, struct falls_set *set);
void falls_build_free(struct falls_build *b);

/* ---- pattern.c ---- */

/* A pattern whose elements have nothing yet. NULL: no memory. */
struct pattern *pattern_new(int64_t displacement, int64_t period, int32_t elements);
/* Stores p in *to, or frees it after an error. Returns the error. */
int pattern_hand_over(struct pattern *p, int error, struct pattern **to);
/* Hands over a view whose one element is what was built, by rank, unless that failed with `error`. Frees what the
 * builder has. */
int pattern_finish_view(struct falls_build *b, int error, struct pattern *p, struct pattern **to);
