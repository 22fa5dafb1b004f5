/* Passes through a run (travel.h). */
#include "emu/debug/travel.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

static void forget_hits(struct travel *v)
{
    free(v->hit);
    v->hit = NULL;
}

void travel_free(struct travel *v)
{
    forget_hits(v);
    free(v->breaks);
    v->breaks = NULL;
}

/* ---- What is kept while there is no machine ---- */

static bool has_same_breaks(const struct debug_area *a, const struct debug_area *b)
{
    return a->breaks == b->breaks && a->watches == b->watches &&
           memcmp(a->break_pc, b->break_pc, a->breaks * sizeof *a->break_pc) == 0 &&
           memcmp(a->watch, b->watch, a->watches * sizeof *a->watch) == 0;
}

static void keep_breaks(struct travel *v, const struct target *t)
{
    if (v->breaks && !has_same_breaks(v->breaks, t->area))
        forget_hits(v);
    if (!v->breaks)
        v->breaks = memory_new(1, sizeof *v->breaks);
    memcpy(v->breaks, t->area, sizeof *v->breaks);
}

/* ---- Choosing ---- */

static void seek_begin(struct travel *v)
{
    v->pass = TRAVEL_BEGIN;
    v->at_begin = true;
}

static void seek_hit(struct travel *v, const struct target_hit *h)
{
    v->pass = TRAVEL_TO;
    v->place = h->place;
    v->event = (struct target_event){.why = h->why, .node = h->place.node, .watch = h->watch};
}

static bool counts(const struct travel *v, const struct target_hit *h)
{
    return h->place.node == v->watcher || (h->why != DEBUG_WATCH && !v->only);
}

/* Returns true if a kept hit, or none at all, is known to be the last one before the place. */
static bool choose_hit(struct travel *v, const struct target_place *before)
{
    size_t n = v->hits;

    while (n > 0 && !(counts(v, &v->hit[n - 1]) && target_is_before(&v->hit[n - 1].place, before)))
        n--;
    bool known = n > 0 ? !target_is_before(&v->hit[n - 1].place, &v->lost) : v->lost.cycles == 0;
    if (known && n > 0)
        seek_hit(v, &v->hit[n - 1]);
    else if (known)
        seek_begin(v);
    return known;
}

void travel_step(struct travel *v, const struct target *t, uint32_t node)
{
    keep_breaks(v, t);
    v->at_begin = false;
    v->event = (struct target_event){.why = DEBUG_STEP, .node = node};
    v->pass = TRAVEL_TO;
    if (!target_place_before(t, node, &v->place))
        seek_begin(v);
}

/* Where gdb has interrupted the nodes, or nothing moves any more, others may be beyond the node that is shown. */
static struct target_place present(const struct target *t, uint32_t node)
{
    struct target_place p = target_place(t, node);
    uint64_t now_cycles = t->ops->now(t->ctx), at;

    if (!target_clock(t, node, &at) && p.cycles < now_cycles)
        p.cycles = now_cycles;
    return p;
}

void travel_back(struct travel *v, const struct target *t, uint32_t node, uint32_t watcher, bool only)
{
    keep_breaks(v, t);
    v->at_begin = false;
    v->watcher = watcher;
    v->only = only;
    v->place = present(t, node);
    if (!v->hit || !choose_hit(v, &v->place))
        v->pass = TRAVEL_FIND;
}

/* ---- A pass ---- */

void travel_start(struct travel *v, struct target *t)
{
    target_copy_breaks(t, v->breaks);
    target_seek(t, &v->place, v->pass == TRAVEL_FIND);
}

bool travel_goes_on(struct travel *v, struct target *t)
{
    if (v->pass == TRAVEL_BEGIN)
        target_copy_breaks(t, v->breaks);
    if (v->pass != TRAVEL_FIND) {
        v->pass = TRAVEL_NOT;
        return false;
    }
    forget_hits(v);
    v->hits = target_hits(t, &v->hit, &v->lost);
    choose_hit(v, &v->place);
    return true;
}
