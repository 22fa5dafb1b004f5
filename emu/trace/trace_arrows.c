/* Arrows that wait for their slices (trace_arrows.h). */
#include "emu/trace/trace_arrows.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

void trace_arrows_begin(struct trace_arrows *a, uint32_t nodes)
{
    *a = (struct trace_arrows){.shown_until = memory_new(nodes, sizeof *a->shown_until)};
}

void trace_arrows_end(struct trace_arrows *a)
{
    free(a->waiting);
    free(a->shown_until);
}

void trace_arrows_add(struct trace_arrows *a, struct trace_arrow arrow)
{
    if (a->n == a->room) {
        size_t room = 2 * a->room + 64;
        struct trace_arrow *more = memory_new(room, sizeof *more);

        if (a->n > 0)
            memcpy(more, a->waiting, a->n * sizeof *more);
        free(a->waiting);
        a->waiting = more;
        a->room = room;
    }
    a->waiting[a->n++] = arrow;
}

void trace_arrows_show(struct trace_arrows *a, uint32_t node, uint64_t until,
                       void (*put)(void *ctx, const struct trace_arrow *arrow), void *ctx)
{
    size_t left = 0;

    if (a->shown_until[node] < until)
        a->shown_until[node] = until;
    for (size_t i = 0; i < a->n; i++) {
        const struct trace_arrow arrow = a->waiting[i];

        if (arrow.since <= a->shown_until[arrow.from] && arrow.until <= a->shown_until[arrow.to])
            put(ctx, &arrow);
        else
            a->waiting[left++] = arrow;
    }
    a->n = left;
}
