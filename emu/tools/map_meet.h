/*
 * What the elements of two patterns have in common, for `ncube map`: the pairs that share bytes, and the runs of these,
 * which are contiguous in the file and in both elements [P1 section 1.2, P3 section 5.2].
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpio/map/pattern.h"

/* The number of runs, and the lengths in bytes of the shortest and the longest. */
struct map_runs {
    int64_t count, shortest, longest;
};

struct map_pair {
    int32_t of[2];
    int64_t bytes;
    struct map_runs runs;
};

struct map_meeting {
    const struct pattern *p[2];
    struct map_pair *pair; /* the pairs of elements that have bytes in common */
    size_t pairs, room;
    int64_t from, to; /* the bytes of the file that are compared */
    int64_t bytes;
    struct map_runs runs;
};

/* The runs of a set. */
struct map_runs map_runs_of(const struct falls_set *set);
/* Compares the bytes from where both patterns begin, a common period, or up to byte `to`. Returns false, and a line in
 * `error`, if a plan has too many nodes. The patterns are the caller's; map_meeting_free in any case. */
bool map_meet(struct map_meeting *m, const struct pattern *const p[2], int64_t to, char *error, size_t error_bytes);
void map_meeting_free(struct map_meeting *m);
/* The plan of two elements in the bytes from .. to-1. Returns NULL, and a line in `error`. */
struct plan *map_meet_plan(const struct pattern *const p[2], int32_t a, int32_t b, int64_t from, int64_t to,
                           char *error, size_t error_bytes);
/* The bytes that map_meet compares. */
struct map_meeting map_meet_range(const struct pattern *const p[2], int64_t to);
