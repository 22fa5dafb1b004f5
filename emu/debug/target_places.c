/* Where nodes are in their programs, how they seek a place, stop and go on (target.h, debug_area.h). */
#include "emu/debug/target_parts.h"

#include <stdlib.h>

#include "emu/base/memory.h"

/* ---- Places and seeking ---- */

bool target_is_before(const struct target_place *a, const struct target_place *b)
{
    return a->cycles != b->cycles ? a->cycles < b->cycles : a->node < b->node;
}

struct target_place target_place(const struct target *t, uint32_t node)
{
    const struct trail_point *viewed = trail_viewed(&t->trail, node);
    const struct debug_hart *d = target_hart(t, node);
    bool in_front = d && d->in_user && !d->in_front; /* of the instruction that it has looked at */

    if (viewed)
        return (struct target_place){viewed->cycles, node};
    return (struct target_place){!d ? 0 : in_front ? d->at : d->at + 1, node};
}

struct target_place target_shown_place(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = target_hart(t, node);
    struct target_place p = target_place(t, node);

    p.cycles -= d && !d->in_user && p.cycles == d->at + 1;
    return p;
}

/* A node in the kernel shows its program in front of the instruction with which it was left. */
bool target_place_before(const struct target *t, uint32_t node, struct target_place *p)
{
    const struct trail_point *viewed = trail_viewed(&t->trail, node);
    const struct debug_hart *d = target_hart(t, node);
    bool in_front = d && d->in_user && d->in_front;

    *p = viewed ? (struct target_place){viewed->before, node}
                : (struct target_place){!d         ? 0
                                        : in_front ? d->at
                                                   : d->before,
                                        node};
    return p->cycles > 0;
}

bool target_has_place(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = target_hart(t, node);

    return d && d->at > 0;
}

bool target_knows_places(const struct target *t, uint32_t node)
{
    const struct trail_point *viewed = trail_viewed(&t->trail, node);
    const struct debug_hart *d = target_hart(t, node);
    struct target_place before;

    return !d || ((viewed || d->at > 0) && target_place_before(t, node, &before));
}

void target_look_closely(struct target *t, bool closely)
{
    t->area->closely = closely;
}

void target_forget_places(struct target *t, const struct target_go *go)
{
    bool looks = go && (t->area->breaks > 0 || t->area->watches > 0);

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx) && !looks; node++) {
        struct debug_hart *d = target_hart(t, node);

        if (d && (!go || go[node].how == TARGET_RUN))
            d->at = d->before = d->at_pc = 0;
    }
}

static void seek(struct debug_hart *d, uint64_t cycles, enum debug_seek stops)
{
    d->hits = d->hit_breaks = d->first_hit = 0;
    d->seek_stops = stops;
    __atomic_store_n(&d->seek, cycles, __ATOMIC_SEQ_CST);
}

static void seek_each(struct target *t, const struct target_place *p, enum debug_seek stops)
{
    uint32_t nodes = t->ops->nodes(t->ctx);

    for (uint32_t node = 0; node < nodes; node++)
        seek(target_home_hart(t, node), node < p->node ? p->cycles + 1 : p->cycles, stops);
    target_set_attention(t);
}

void target_seek(struct target *t, const struct target_place *p, uint64_t early_cycles)
{
    seek_each(t, p, SEEK_PASSES);
    seek(target_home_hart(t, p->node), p->cycles > early_cycles ? p->cycles - early_cycles : 1, SEEK_STOPS);
}

void target_seek_all(struct target *t, const struct target_place *p, bool faults)
{
    seek_each(t, p, faults ? SEEK_FAULTS : SEEK_STOPS);
}

void target_scan(struct target *t, const struct target_place *p)
{
    t->area->placed = 1;
    seek_each(t, p, SEEK_PASSES);
}

void target_seek_on(struct target *t)
{
    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        target_home_hart(t, node)->seek_stops = SEEK_STOPS;
}

/* What is about to be overwritten. Text that cannot be read is no store. */
static void find_old(const struct target *t, uint32_t node, struct trail_point *p)
{
    uint32_t instruction = 0;

    target_read(t, node, p->registers.x[0], &instruction, sizeof instruction);
    p->bytes = trail_find_store(instruction, &p->registers, &p->va);
    p->bytes = (uint8_t)target_read(t, node, p->va, p->old, p->bytes);
}

void target_add_to_trail(struct target *t, uint32_t node)
{
    const struct debug_hart *d = target_hart(t, node);
    struct trail_point p = {.registers = d->now, .cycles = d->at, .before = d->before};

    if (t->trail.node != node || t->trail.traps != d->traps)
        trail_clear(&t->trail);
    t->trail.node = node;
    t->trail.traps = d->traps;
    find_old(t, node, &p);
    trail_add(&t->trail, &p);
}

void target_end_seek(struct target *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        __atomic_store_n(&t->area->hart[i].seek, 0, __ATOMIC_SEQ_CST);
    target_set_attention(t);
}

static int compare_hits(const void *a, const void *b)
{
    const struct target_place *x = &((const struct target_hit *)a)->place, *y = &((const struct target_hit *)b)->place;

    return target_is_before(x, y) ? -1 : target_is_before(y, x);
}

/* Of several accesses of one instruction, the last one counts. */
static size_t take_hits(const struct debug_hart *d, uint32_t node, struct target_hit *list)
{
    uint64_t kept = d->hits < DEBUG_HITS ? d->hits : DEBUG_HITS;
    size_t n = 0;

    for (uint64_t i = d->hits - kept; i < d->hits; i++) {
        const struct debug_hit *h = &d->hit[i % DEBUG_HITS];

        n -= n > 0 && list[n - 1].place.cycles == h->cycles;
        list[n++] = (struct target_hit){{h->cycles, node}, (enum debug_why)h->why, h->watch, h->pc};
    }
    return n;
}

size_t target_hits(const struct target *t, struct target_hit **list, struct target_place *lost)
{
    size_t n = 0;

    *list = memory_new(t->slots * (size_t)DEBUG_HITS + 1, sizeof **list);
    *lost = (struct target_place){0, 0};
    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++) {
        const struct debug_hart *d = target_home_hart(t, node);
        struct target_hit *first = *list + n;

        n += take_hits(d, node, first);
        if (d->hits > DEBUG_HITS && target_is_before(lost, &first->place))
            *lost = first->place;
    }
    qsort(*list, n, sizeof **list, compare_hits);
    return n;
}

void target_await_hits(struct target *t, uint64_t cycles)
{
    const struct target_place never = {UINT64_MAX, 0};

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        target_home_hart(t, node)->awaited = cycles;
    t->area->placed = 1;
    seek_each(t, &never, SEEK_FAULTS);
}

uint64_t target_first_hit(const struct target *t)
{
    uint64_t first = 0;

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++) {
        uint64_t cycles = __atomic_load_n(&target_home_hart(t, node)->first_hit, __ATOMIC_SEQ_CST);

        if (cycles > 0 && (first == 0 || cycles < first))
            first = cycles;
    }
    return first;
}

void target_pass(struct target *t, const struct target_place *p)
{
    seek_each(t, p, SEEK_PASSES);
}

uint64_t target_count_hits(const struct target *t, uint32_t watcher, bool only)
{
    uint64_t n = 0;

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        n += node == watcher ? target_home_hart(t, node)->hits : only ? 0 : target_home_hart(t, node)->hit_breaks;
    return n;
}

/* ---- Stopping and going on ---- */

void target_choose_nodes(struct target *t, bool nobody)
{
    uint32_t nodes = nobody ? 0 : t->ops->nodes(t->ctx);

    for (uint32_t i = 0; i < t->slots; i++)
        t->area->hart[i].watched = 0;
    for (uint32_t node = 0; node < nodes; node++)
        if (target_is_alive(t, node))
            target_hart(t, node)->watched = 1;
}

void target_await_program(struct target *t)
{
    uint32_t nodes = t->ops->nodes(t->ctx);

    target_choose_nodes(t, true);
    for (uint32_t node = 0; node < nodes; node++)
        target_home_hart(t, node)->watched = 1;
}

void target_hold_all(struct target *t)
{
    uint32_t nodes = t->ops->nodes(t->ctx);

    for (uint32_t node = 0; node < nodes; node++)
        if (target_is_alive(t, node))
            __atomic_store_n(&target_hart(t, node)->hold, 1, __ATOMIC_SEQ_CST);
    target_set_attention(t);
}

static bool is_stopped(const struct debug_hart *d)
{
    return __atomic_load_n(&d->stopped, __ATOMIC_SEQ_CST) != 0;
}

bool target_clock(const struct target *t, uint32_t node, uint64_t *cycles)
{
    const struct debug_hart *d = target_hart(t, node);

    if (!d || !is_stopped(d))
        return false;
    *cycles = d->cycles;
    return true;
}

uint32_t target_stopped(const struct target *t)
{
    return __atomic_load_n(&t->area->stopped, __ATOMIC_SEQ_CST);
}

bool target_still_stops(const struct target *t, uint32_t node, enum debug_why why)
{
    const struct debug_hart *d = target_hart(t, node);

    return d && is_stopped(d) && target_holds(t, node, why);
}

/* Returns true if the node has stopped for an event that has not been taken. One of a breakpoint or a watchpoint that
 * is gone is none any more, nor of one that no longer holds: gdb may have given it another condition, or memory. */
static bool has_event(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = target_hart(t, node);

    if (!is_stopped(d) || d->why == DEBUG_HELD || d->why == DEBUG_NOT)
        return false;
    return (d->why != DEBUG_WATCH && d->why != DEBUG_BREAK) || target_holds(t, node, (enum debug_why)d->why);
}

static void forget_steps(struct target *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        if (is_stopped(&t->area->hart[i]) &&
            (t->area->hart[i].why == DEBUG_STEP || t->area->hart[i].why == DEBUG_SOUGHT))
            t->area->hart[i].why = DEBUG_HELD;
}

bool target_take_event(struct target *t, struct target_event *e)
{
    uint32_t nodes = t->ops->nodes(t->ctx);
    struct debug_hart *first = NULL;

    for (uint32_t node = 0; node < nodes; node++) {
        struct debug_hart *d = target_hart(t, node);

        if (!d || d->hold || !has_event(t, node) || (first && first->cycles <= d->cycles))
            continue;
        first = d;
        *e = (struct target_event){.why = d->why, .node = node, .watch = d->watch, .scause = d->program.scause};
    }
    if (!first)
        return false;
    first->in_kernel_for_user = !first->in_user && (first->why == DEBUG_BREAK || first->why == DEBUG_STEP);
    first->why = DEBUG_HELD;
    forget_steps(t);
    return true;
}

static void release(struct target *t, struct debug_hart *d)
{
    d->in_kernel_for_user = 0;
    t->ops->release(t->ctx, (uint32_t)(d - t->area->hart));
}

/* Those that have been granted more than that stop in their slots. */
static void set_pace(struct target *t, bool ahead)
{
    for (uint32_t i = 0; i < t->slots && !ahead; i++)
        t->area->hart[i].recall |= t->ahead && is_stopped(&t->area->hart[i]);
    if (ahead != t->ahead)
        t->ops->run_ahead(t->ctx, ahead);
    t->ahead = ahead;
}

void target_pace(struct target *t, const struct target_go *go)
{
    bool ahead = go && t->area->breaks == 0 && t->area->watches == 0;

    for (uint32_t node = 0; ahead && node < t->ops->nodes(t->ctx); node++)
        ahead = go[node].how == TARGET_RUN;
    set_pace(t, ahead);
}

/* A step of a program that is in the kernel, as in a system call, ends in the program. A hart that waits in front of
 * its next instruction of user code in its slot, not in a debug stop, has not looked at it yet. */
static void set_step(const struct target *t, struct debug_hart *d, const struct target_go *go)
{
    d->step = go->how != TARGET_STEP ? DEBUG_GO : target_shows_kernel(t, d) ? DEBUG_STEP_ANY : DEBUG_STEP_USER;
    d->skip = d->in_user && !is_stopped(d);
    d->step_low = go->low;
    d->step_high = go->high;
}

void target_let_go(struct target *t, uint32_t node, const struct target_go *go)
{
    struct debug_hart *d = target_hart(t, node);

    if (!d)
        return;
    set_step(t, d, go);
    d->hold = go->how == TARGET_STAY;
    target_set_attention(t);
    if (go->how != TARGET_STAY && is_stopped(d) && !has_event(t, node))
        release(t, d);
}

bool target_release_ended(struct target *t)
{
    bool any = false;

    target_choose_nodes(t, false);
    for (uint32_t i = 0; i < t->slots; i++) {
        struct debug_hart *d = &t->area->hart[i];

        if (d->watched)
            continue;
        d->hold = 0;
        d->step = DEBUG_GO;
        any = any || is_stopped(d);
        if (is_stopped(d))
            release(t, d);
    }
    return any;
}

void target_release_all(struct target *t)
{
    t->area->fault_pc = 0;
    set_pace(t, true);
    target_clear(t);
    target_end_seek(t);
    for (uint32_t i = 0; i < t->slots; i++) {
        t->area->hart[i].hold = 0;
        t->area->hart[i].step = DEBUG_GO;
    }
    target_set_attention(t);
    for (uint32_t i = 0; i < t->slots; i++)
        if (is_stopped(&t->area->hart[i]))
            release(t, &t->area->hart[i]);
}

void target_reset(struct target *t)
{
    t->area->closely = t->area->placed = 0;
    for (uint32_t i = 0; i < t->slots; i++)
        t->area->hart[i].awaited = t->area->hart[i].returns = 0;
    target_release_all(t);
}
