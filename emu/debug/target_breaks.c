/* The breakpoints and watchpoints of a target (target.h), and whether a node that has stopped is at one that holds. */
#include "emu/debug/target_parts.h"

#include <string.h>

#include "emu/qemu/breaks.h"

/* Harts look closely only if there is something to look for. */
void target_set_attention(struct target *t)
{
    uint32_t any = t->area->breaks > 0 || t->area->watches > 0 || t->area->fault_pc != 0;

    for (uint32_t i = 0; i < t->slots && !any; i++)
        any = t->area->hart[i].hold || t->area->hart[i].step != DEBUG_GO;
    __atomic_store_n(&t->area->attention, any, __ATOMIC_SEQ_CST);
}

bool target_add_break_if(struct target *t, uint64_t pc, const uint8_t *list, size_t bytes)
{
    bool added = breaks_add(t->area, pc, list, bytes);

    target_set_attention(t);
    return added;
}

bool target_add_break(struct target *t, uint64_t pc)
{
    return target_add_break_if(t, pc, NULL, 0);
}

bool target_remove_break(struct target *t, uint64_t pc)
{
    bool removed = breaks_remove(t->area, pc);

    target_set_attention(t);
    return removed;
}

/* One that is there already stays: gdb may repeat a packet. */
bool target_change_watch(struct target *t, const struct debug_watch *w, bool add)
{
    struct debug_area *a = t->area;
    uint32_t at = 0;

    while (at < a->watches && memcmp(&a->watch[at], w, sizeof *w) != 0)
        at++;
    if (at == a->watches && (!add || a->watches == DEBUG_WATCHES))
        return false;
    if (add && at == a->watches)
        a->watch[a->watches++] = *w;
    else if (!add)
        a->watch[at] = a->watch[--a->watches];
    target_set_attention(t);
    return true;
}

void target_clear(struct target *t)
{
    breaks_clear(t->area);
    t->area->watches = 0;
    target_set_attention(t);
}

void target_watch_faults(struct target *t, uint64_t fault_pc)
{
    t->area->fault_pc = fault_pc;
    target_set_attention(t);
}

void target_copy_breaks(struct target *t, const struct debug_area *from)
{
    breaks_copy(t->area, from);
    memcpy(t->area->watch, from->watch, sizeof from->watch);
    t->area->watches = from->watches;
    target_set_attention(t);
}

bool target_has_same_breaks(const struct debug_area *a, const struct debug_area *b)
{
    return breaks_are_same(a, b) && a->watches == b->watches &&
           memcmp(a->watch, b->watch, a->watches * sizeof *a->watch) == 0;
}

/* ---- Whether one holds, at a stop ---- */

struct stopped_node {
    const struct target *t;
    uint32_t node;
    const struct debug_registers *registers;
};

static bool read_register(void *ctx, uint32_t number, uint64_t *value)
{
    return target_register(((const struct stopped_node *)ctx)->registers, number, value);
}

static bool read_memory(void *ctx, uint64_t va, void *bytes, size_t n)
{
    const struct stopped_node *s = ctx;

    return target_read_in(s->t, s->node, s->registers->satp, va, bytes, n) == n;
}

static bool break_holds(const struct target *t, uint32_t node, uint64_t pc)
{
    static const struct agent_ops ops = {.read_register = read_register, .read_memory = read_memory};
    struct stopped_node s = {t, node, &target_hart(t, node)->now};
    uint32_t number = breaks_find(t->area, pc);

    return number != BREAKS_NONE && breaks_hold(t->area, number, &ops, &s);
}

static bool has_watch(const struct debug_area *a, uint64_t address)
{
    for (uint32_t k = 0; k < a->watches; k++)
        if (a->watch[k].low <= address && address < a->watch[k].high)
            return true;
    return false;
}

bool target_holds(const struct target *t, uint32_t node, enum debug_why why)
{
    const struct debug_hart *d = target_hart(t, node);

    if (why == DEBUG_WATCH)
        return has_watch(t->area, d->watch);
    return why == DEBUG_BREAK &&
           (break_holds(t, node, d->now.x[0]) || break_holds(t, node, d->now.x[0] | DEBUG_ALWAYS));
}
