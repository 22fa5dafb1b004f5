/*
 * Plans of a stream, a part at a time. Two patterns whose periods do not divide are repeated after their least common
 * multiple only, which may be far beyond any file and have more nodes than a node's memory: a window has the plan of
 * the part that a transfer is in, and goes on with it.
 *
 *   stream    |displacement|   window   |    window    | ...         a plan of all of it, where that is short enough:
 *                          from         to                           then the window goes to PATTERN_OFFSET_MAX
 *
 * The first window is as long as the longer of both periods. A plan with more nodes than allowed is made of a shorter
 * part; the next window is as long as about half as many nodes as allowed reach. So what it costs to go on is in
 * proportion to the runs that are transferred, and the same numbers give the same windows on every node.
 */
#pragma once

#include "libpio/map/pattern.h"

/* Two elements; the patterns are the caller's. */
struct plan_pair {
    const struct pattern *a, *b;
    int32_t of_a, of_b;
};

/* As plan_make_within, but with at most nodes_most nodes, else -E2BIG: then the plan of from .. *reached-1 has not
 * more. *reached may be `from`: not known. */
int plan_make_some(const struct plan_pair *pair, int64_t from, int64_t to, int32_t nodes_most, int64_t *reached,
                   struct plan **plan);
/* Returns after how many bytes the common bytes are repeated, and the longer period of both in *longer. */
int64_t plan_periods(const struct plan_pair *pair, int64_t *longer);

/* A window of several plans that are made together, such as those of a view and each disk. */
struct plan_range {
    int64_t from, to; /* 0 and PATTERN_OFFSET_MAX: all that come; both 0: there is none */
    int64_t span;     /* how long it was to be */
    int32_t nodes;    /* of the plan that has most */
};
struct plan_maker {
    int64_t first; /* the file byte at which windows begin */
    /* Of a plan of all that come, and of one of a window. */
    int32_t nodes_most, window_nodes;
    /* Makes the plans of from .. to-1, in place of those that were made before. Sets *nodes to those of the plan that
     * has most. -E2BIG, and *reached: as plan_make_some. */
    int (*make)(void *ctx, int64_t from, int64_t to, int32_t nodes_most, int32_t *nodes, int64_t *reached);
    void *ctx;
};
/* Makes the plans of all that come, if they have few nodes, else of the first window. common, longest: the plans are
 * repeated after so many bytes; the longest period of any element. */
int plan_range_first(struct plan_range *r, const struct plan_maker *m, int64_t common, int64_t longest);
/* Makes the plans of a window that has file byte x: behind the window that ended at `behind`, or at a multiple of its
 * length. */
int plan_range_at(struct plan_range *r, const struct plan_maker *m, int64_t x, int64_t behind);

struct plan_window {
    struct plan_pair pair;
    struct plan *plan; /* of the common bytes of from .. to-1 */
    int64_t from, to;
    int64_t before; /* common bytes below `from` */
    int64_t span;   /* how long it was to be */
    int32_t nodes_most;
};

/* Returns a length at which a plan from `from` on, which had too many nodes for `span` bytes, has fewer. */
int64_t plan_span_shorter(int64_t span, int64_t from, int64_t reached);
/* Returns the length at which one has about half of the nodes that it may have, as far as one of `span` bytes tells. */
int64_t plan_span_next(int64_t span, int32_t nodes, int32_t nodes_most);

/* Makes the first window. The caller closes it. Errors as plan_make, without -E2BIG. */
int plan_window_open(struct plan_window *w, const struct plan_pair *pair, int32_t nodes_most);
/* Goes on to the window behind; there is one unless plan_window_is_last. After an error the present one stays. */
int plan_window_next(struct plan_window *w);
void plan_window_close(struct plan_window *w);

static inline bool plan_window_is_last(const struct plan_window *w)
{
    return w->to >= PATTERN_OFFSET_MAX;
}

/* Returns how many common bytes are below `end`, or below the window's end if that is lower. Not for ends before the
 * window. */
int64_t plan_window_bytes(const struct plan_window *w, int64_t end);
/* The common byte with k below it, none of which is before the window. Returns the window's end if the byte is not
 * before that; in the last one, INT64_MAX: there is none. */
int64_t plan_window_file(const struct plan_window *w, int64_t k);
/* Returns how many common bytes are from the window's end to `end`; a negative errno: as plan_make. */
int64_t plan_window_ahead(const struct plan_window *w, int64_t end);
