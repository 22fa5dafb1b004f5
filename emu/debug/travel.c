/* Passes through a run (travel.h). */
#include "emu/debug/travel.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

#define TRAIL_CYCLES  10000u  /* about 3000 instructions */
#define WINDOW_CYCLES 200000u /* 10 ms: longer than interrupts that are handled one after the other, but for floods */
#define FIND_PART     32u     /* of the run is looked at first, */
#define FIND_GROWS    8u      /* then so many times as much: the forward part of a pass is some 30 times faster */

static void forget_hits(struct travel *v)
{
    free(v->hit);
    v->hit = NULL;
}

void travel_free(struct travel *v)
{
    forget_hits(v);
    free(v->breaks);
    free(v->held);
    v->breaks = v->held = NULL;
}

/* ---- What is kept while there is no machine ---- */

static void keep(struct debug_area **kept, const struct target *t)
{
    if (!*kept)
        *kept = memory_new(1, sizeof **kept);
    memcpy(*kept, t->area, sizeof **kept);
}

void travel_note_breaks(struct travel *v, const struct target *t)
{
    if (v->breaks && !target_has_same_breaks(v->breaks, t->area))
        forget_hits(v);
    keep(&v->breaks, t);
}

/* ---- Where a pass begins to look ---- */

static void look_from(struct travel *v, uint64_t cycles, uint64_t before_cycles)
{
    v->from = cycles > before_cycles && !v->missed && v->freely ? cycles - before_cycles : 0;
    v->closely = v->from;
    v->scans = false;
}

static void look_before_place(struct travel *v)
{
    look_from(v, v->place.cycles, v->pass == TRAVEL_TO ? TRAIL_CYCLES + WINDOW_CYCLES : WINDOW_CYCLES);
}

static void look_for_hits(struct travel *v, uint64_t cycles)
{
    uint64_t last = v->place.cycles > WINDOW_CYCLES ? v->place.cycles - WINDOW_CYCLES : 0;

    look_from(v, v->place.cycles, cycles > WINDOW_CYCLES ? cycles : WINDOW_CYCLES);
    if (!v->missed && v->freely && last > v->from)
        v->closely = last;
}

#define NEVER (UINT64_MAX - 1)

uint64_t travel_stage(const struct travel *v)
{
    if (v->pass == TRAVEL_AHEAD)
        return NEVER;
    return v->from > 0 && !v->scans ? v->from : v->closely;
}

uint64_t travel_earliest(const struct travel *v)
{
    uint64_t cycles = v->pass == TRAVEL_AHEAD ? v->place.cycles - WINDOW_CYCLES : v->from;

    return (v->pass == TRAVEL_AHEAD || v->closely > 0) && cycles > WINDOW_CYCLES && cycles <= NEVER / 2
               ? cycles - WINDOW_CYCLES
               : 0;
}

bool travel_wants_base(const struct travel *v, uint64_t *base)
{
    *base = v->rough_base;
    return v->around;
}

static bool has_scan(const struct travel *v)
{
    return v->pass == TRAVEL_FIND && v->closely > v->from;
}

void travel_prepare(struct travel *v, struct target *t)
{
    if (v->pass == TRAVEL_AHEAD) {
        target_copy_breaks(t, v->breaks);
        target_await_hits(t, v->place.cycles > WINDOW_CYCLES ? v->place.cycles - WINDOW_CYCLES : 0);
    }
    v->scans = v->from == 0;
    if (!has_scan(v))
        return;
    target_copy_breaks(t, v->breaks);
    if (v->scans)
        target_pace(t, NULL);
    target_scan(t, &v->place);
}

bool travel_next_stage(struct travel *v, struct target *t)
{
    bool last = v->scans || !has_scan(v);

    v->scans = true;
    if (!last) /* where user code does not run ahead, each place is a clock that it has in every run */
        target_pace(t, NULL);
    return last;
}

bool travel_sees(const struct travel *v, const struct target *t, uint32_t node)
{
    bool looked_at_all = v->closely == 0 && (!v->freely || v->made != TRAVEL_NOT);

    return looked_at_all || target_knows_places(t, node);
}

void travel_miss(struct travel *v)
{
    if (v->pass == TRAVEL_ON) { /* from there on, the nodes go on without a place that is sought */
        look_from(v, v->from, 16 * WINDOW_CYCLES);
        return;
    }
    v->from = v->closely = 0;
    v->missed = true;
}

bool travel_is_beyond(const struct travel *v, uint64_t latest_cycles)
{
    return !v->scans && latest_cycles >= v->from + WINDOW_CYCLES;
}

/* A message has told of it. */
void travel_to_end(struct travel *v, uint64_t end_cycles)
{
    v->pass = TRAVEL_END;
    look_from(v, end_cycles, 2 * WINDOW_CYCLES);
}

/* ---- Choosing ---- */

static void seek_begin(struct travel *v)
{
    v->pass = TRAVEL_BEGIN;
    v->at_begin = true;
    v->from = v->closely = 0;
}

static void seek_hit(struct travel *v, const struct target_hit *h)
{
    v->pass = TRAVEL_TO;
    v->place = h->place;
    v->event = (struct target_event){.why = h->why, .node = h->place.node, .watch = h->watch};
    v->missed = false;
    look_before_place(v);
}

static bool counts(const struct travel *v, const struct target_hit *h)
{
    return h->place.node == v->watcher || (h->why != DEBUG_WATCH && !v->only);
}

/* Returns true if a kept hit, or none at all, is known to be the last one before the place. */
static bool choose_hit(struct travel *v, const struct target_place *before)
{
    size_t n = v->hits;

    if (!v->hit || target_is_before(&v->known, before))
        return false;
    while (n > 0 && !(counts(v, &v->hit[n - 1]) && target_is_before(&v->hit[n - 1].place, before)))
        n--;
    bool known = n > 0 ? !target_is_before(&v->hit[n - 1].place, &v->lost) : v->lost.cycles == 0;
    if (known && n > 0)
        seek_hit(v, &v->hit[n - 1]);
    else if (known)
        seek_begin(v);
    return known;
}

static void choose(struct travel *v, const struct target *t, enum travel_pass pass, const struct target_place *p)
{
    keep(&v->held, t);
    if (!v->breaks)
        keep(&v->breaks, t);
    v->at_begin = v->calls = v->returns = v->missed = v->around = false;
    v->wish = WISH_NONE;
    v->pass = pass;
    v->place = *p;
    if (pass == TRAVEL_END)
        v->from = v->closely = 0;
    else if (pass == TRAVEL_FIND)
        look_for_hits(v, p->cycles / FIND_PART);
    else
        look_before_place(v);
    v->event = (struct target_event){.why = DEBUG_STEP, .node = p->node};
}

void travel_step(struct travel *v, const struct target *t, uint32_t node)
{
    struct target_place before;
    bool any = target_place_before(t, node, &before);

    travel_note_breaks(v, t);
    choose(v, t, TRAVEL_TO, &before);
    if (!any)
        seek_begin(v);
}

void travel_to_view(struct travel *v, const struct target *t)
{
    const struct target_place p = target_place(t, t->trail.node);
    enum travel_wish wish = v->wish;

    choose(v, t, TRAVEL_TO, &p);
    v->wish = wish;
}

/* Where nobody has looked, the place is the virtual time. */
static void look_back(struct travel *v, const struct target *t, uint32_t stopped, bool ends)
{
    const struct target_place shown = target_shown_place(t, stopped), now = {t->ops->now(t->ctx), stopped};
    enum travel_wish wish = v->wish;

    if (target_has_place(t, stopped))
        choose(v, t, TRAVEL_TO, &shown);
    else
        choose(v, t, ends ? TRAVEL_END : TRAVEL_ALL, &now);
    if (v->pass == TRAVEL_END)
        travel_to_end(v, now.cycles);
    v->wish = wish;
}

/* A node that has stopped without a place stands at the end of the run. */
void travel_look_closer(struct travel *v, const struct target *t, uint32_t stopped, bool ends)
{
    if (v->freely && v->made == TRAVEL_NOT) {
        look_back(v, t, stopped, ends);
        return;
    }
    const struct target_place p = v->made != TRAVEL_NOT ? v->place : target_shown_place(t, stopped);
    enum travel_pass pass = v->made != TRAVEL_NOT ? v->made : travel_sees(v, t, stopped) ? TRAVEL_TO : TRAVEL_END;
    enum travel_wish wish = v->wish;

    choose(v, t, pass, &p);
    v->wish = wish;
    travel_miss(v);
}

void travel_to_wish(struct travel *v, const struct target *t)
{
    bool calls = v->wish == WISH_CALL;
    const struct target_place p = v->wished;

    travel_note_breaks(v, t);
    choose(v, t, calls ? TRAVEL_TO : TRAVEL_ALL, &p);
    v->calls = calls;
}

void travel_ahead(struct travel *v, const struct target *t)
{
    const struct target_place now = {t->ops->now(t->ctx), 0};

    choose(v, t, TRAVEL_AHEAD, &now);
}

void travel_stay(struct travel *v, const struct target *t)
{
    const struct target_place now = {t->ops->now(t->ctx), 0};

    choose(v, t, TRAVEL_ALL, &now);
}

/* Hits that come later in virtual time may be noted sooner, but none before what has taken effect. */
bool travel_has_come(struct travel *v, const struct target *t, bool ends)
{
    uint64_t first = target_first_hit(t), now = t->ops->now(t->ctx);

    if (!ends && (first == 0 || now < first))
        return false;
    v->pass = TRAVEL_ON;
    look_from(v, first > 0 && first < now ? first : now, 2 * WINDOW_CYCLES);
    return true;
}

/* Where gdb has interrupted the nodes, or nothing moves any more, others may be beyond the node that is shown. */
static struct target_place present_place(const struct target *t, uint32_t node)
{
    struct target_place p = target_place(t, node);
    uint64_t now_cycles = t->ops->now(t->ctx), at;

    if (!trail_viewed(&t->trail, node) && !target_clock(t, node, &at) && p.cycles < now_cycles)
        p.cycles = now_cycles;
    return p;
}

void travel_back(struct travel *v, const struct target *t, uint32_t node, uint32_t watcher, bool only)
{
    const struct target_place p = present_place(t, node);

    travel_note_breaks(v, t);
    choose(v, t, TRAVEL_FIND, &p);
    v->watcher = watcher;
    v->only = only;
    v->sought = p;
    choose_hit(v, &p);
}

void travel_find(struct travel *v, const struct target *t, uint32_t node)
{
    const struct target_place p = present_place(t, node);

    choose(v, t, TRAVEL_FIND, &p);
    v->returns = true;
    v->present = target_shown_place(t, node);
    travel_miss(v);
}

bool travel_knows_hits(const struct travel *v, const struct target *t, uint32_t node, struct target_place *present)
{
    *present = present_place(t, node);
    return travel_sees(v, t, node) && v->hit && v->found_from == 0 && !target_is_before(&v->known, present);
}

/* ---- A pass ---- */

void travel_start(struct travel *v, struct target *t)
{
    bool leaves_trail = v->pass == TRAVEL_TO && !v->calls;

    if (v->pass == TRAVEL_END)
        return;
    if (v->pass == TRAVEL_ON) {
        target_copy_breaks(t, v->breaks);
        if (v->from <= v->place.cycles)
            target_pass(t, &v->place);
        v->pass = TRAVEL_NOT;
        return;
    }
    if (has_scan(v)) {
        target_seek_on(t);
        return;
    }
    target_copy_breaks(t, v->pass == TRAVEL_FIND ? v->breaks : v->held);
    if (v->pass == TRAVEL_TO)
        target_seek(t, &v->place, leaves_trail ? TRAIL_CYCLES : 0);
    else
        target_seek_all(t, &v->place, v->pass == TRAVEL_ALL);
}

/* Notes the last hit before the part that the pass has looked at. */
static void take_rough_hits(struct travel *v, const struct target *t)
{
    bool counted = has_scan(v) || v->closely == 0;

    v->counted = counted ? target_count_hits(t, v->watcher, v->only) : UINT64_MAX;
    if (v->around)
        return;
    v->rough_hits = v->counted;
    v->rough_base = v->base;
    v->rough_cycles = 0;
    for (size_t i = 0; counted && v->lost.cycles < v->from && i < v->hits; i++)
        if (counts(v, &v->hit[i]) && v->hit[i].place.cycles < v->from)
            v->rough_cycles = v->hit[i].place.cycles;
}

static void take_hits(struct travel *v, const struct target *t)
{
    forget_hits(v);
    v->hits = target_hits(t, &v->hit, &v->lost);
    take_rough_hits(v, t);
    v->known = v->place;
    v->found_from = v->from;
    if (v->lost.cycles < v->from)
        v->lost = (struct target_place){v->from, UINT32_MAX};
}

static void look_around(struct travel *v)
{
    uint64_t end_cycles = v->rough_cycles + 2 * WINDOW_CYCLES, part = v->sought.cycles / FIND_PART;

    if (end_cycles < v->place.cycles)
        v->place.cycles = end_cycles;
    v->around = true;
    look_for_hits(v, v->place.cycles - v->rough_cycles + (part > WINDOW_CYCLES ? part : WINDOW_CYCLES));
    if (v->from < v->base + 2 * WINDOW_CYCLES && v->rough_cycles >= v->base + 3 * WINDOW_CYCLES)
        v->from = v->base + 2 * WINDOW_CYCLES; /* it can count from there, too */
}

static void look_at_more(struct travel *v)
{
    uint64_t looked = v->sought.cycles - v->from;

    v->place = v->sought;
    v->around = false;
    look_for_hits(v, looked * FIND_GROWS);
}

/* There is none since the time from which the machine has gone on. */
static void look_before_base(struct travel *v)
{
    v->place = v->sought = (struct target_place){v->base, 0};
    v->around = false;
    look_for_hits(v, v->base / FIND_PART);
}

/* The hits before the place have been looked for. */
static void go_to_hit(struct travel *v)
{
    bool counted = v->counted == v->rough_hits && v->counted != UINT64_MAX && v->base == v->rough_base,
         last = !v->around || counted;

    if (v->returns) {
        v->pass = TRAVEL_TO;
        v->place = v->present;
        v->missed = false;
        look_before_place(v);
    } else if (last && choose_hit(v, &v->place)) {
        return;
    } else if (!v->around && v->rough_cycles > 0) {
        look_around(v);
    } else if (v->around || (v->from > 0 && v->rough_hits > 0)) {
        look_at_more(v);
    } else if (v->base > 0) {
        look_before_base(v);
    } else if (v->pass == TRAVEL_FIND) {
        seek_begin(v);
    }
}

void travel_set_breaks(const struct travel *v, struct target *t)
{
    target_copy_breaks(t, v->held);
}

bool travel_goes_on(struct travel *v, struct target *t)
{
    if (v->pass == TRAVEL_BEGIN)
        target_copy_breaks(t, v->held);
    if (v->pass == TRAVEL_FIND) {
        take_hits(v, t);
        go_to_hit(v);
        return true;
    }
    if (v->pass == TRAVEL_TO && v->calls) {
        if (travel_sees(v, t, v->place.node))
            travel_step(v, t, v->place.node);
        else
            travel_miss(v);
        return true;
    }
    v->made = v->pass;
    v->pass = TRAVEL_NOT;
    return false;
}
