/*
 * Arrows of a timeline, from a send to its receive, that wait for their slices.
 *
 * An arrow belongs into a slice at both ends, and a slice is written when it ends, which may be after the receive. A
 * trace that reaches its limit in between would have an arrow from or to nowhere. So an arrow waits until the slices of
 * both nodes have been written as far as it reaches; one that still waits at the end is left out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trace_arrow {
    uint32_t from, to;     /* nodes */
    uint64_t since, until; /* cycles: sent, received */
    uint64_t id, bytes;
    uint32_t type, context;
};

struct trace_arrows {
    struct trace_arrow *waiting;
    size_t n, room;
    uint64_t *shown_until; /* by node: its slices up to here have been written */
};

void trace_arrows_begin(struct trace_arrows *a, uint32_t nodes);
void trace_arrows_end(struct trace_arrows *a);

void trace_arrows_add(struct trace_arrows *a, struct trace_arrow arrow);

/* Notes that the slices of `node` have been written up to `until`, and calls `put` for the arrows that waited for that,
 * in the order in which they were added. */
void trace_arrows_show(struct trace_arrows *a, uint32_t node, uint64_t until,
                       void (*put)(void *ctx, const struct trace_arrow *arrow), void *ctx);
