/* Breakpoints and their conditions (breaks.h). The lists of conditions lie one behind the other, without gaps. */
#include "emu/qemu/breaks.h"

#include <string.h>

static uint64_t *bloom_word(struct debug_area *a, uint64_t pc)
{
    return &a->bloom[debug_bloom_bit(pc) / 64];
}

/* The plugin's words of instructions follow. */
static void note_change(struct debug_area *a)
{
    memset(a->bloom, 0, sizeof a->bloom);
    for (uint32_t k = 0; k < a->breaks; k++)
        *bloom_word(a, a->break_pc[k]) |= 1ull << debug_bloom_bit(a->break_pc[k]) % 64;
    __atomic_add_fetch(&a->changes, 1, __ATOMIC_SEQ_CST);
}

void breaks_drop_condition(struct debug_area *a, uint32_t number)
{
    const struct debug_condition c = a->condition[number];

    memmove(a->lists + c.at, a->lists + c.at + c.bytes, a->list_bytes - c.at - c.bytes);
    a->list_bytes -= c.bytes;
    a->condition[number].bytes = 0;
    for (uint32_t k = 0; k < a->breaks; k++)
        if (a->condition[k].at > c.at)
            a->condition[k].at -= c.bytes;
}

static void add_list(struct debug_area *a, uint32_t number, const uint8_t *list, size_t bytes)
{
    if (bytes > DEBUG_LISTS - a->list_bytes)
        bytes = 0;
    a->condition[number] = (struct debug_condition){.at = a->list_bytes, .bytes = (uint32_t)bytes};
    if (bytes > 0)
        memcpy(a->lists + a->list_bytes, list, bytes);
    a->list_bytes += (uint32_t)bytes;
}

bool breaks_add(struct debug_area *a, uint64_t pc, const uint8_t *list, size_t bytes)
{
    uint32_t number = breaks_find(a, pc);

    if (number == BREAKS_NONE && a->breaks == DEBUG_BREAKS)
        return false;
    if (number == BREAKS_NONE) {
        number = a->breaks++;
        a->break_pc[number] = pc;
    } else {
        breaks_drop_condition(a, number);
    }
    add_list(a, number, list, bytes);
    note_change(a);
    return true;
}

bool breaks_remove(struct debug_area *a, uint64_t pc)
{
    uint32_t number = breaks_find(a, pc);

    if (number == BREAKS_NONE)
        return false;
    breaks_drop_condition(a, number);
    a->breaks--;
    a->break_pc[number] = a->break_pc[a->breaks];
    a->condition[number] = a->condition[a->breaks];
    note_change(a);
    return true;
}

void breaks_clear(struct debug_area *a)
{
    a->breaks = a->list_bytes = 0;
    note_change(a);
}

void breaks_copy(struct debug_area *a, const struct debug_area *from)
{
    memcpy(a->break_pc, from->break_pc, sizeof a->break_pc);
    memcpy(a->condition, from->condition, sizeof a->condition);
    memcpy(a->lists, from->lists, sizeof a->lists);
    a->breaks = from->breaks;
    a->list_bytes = from->list_bytes;
    note_change(a);
}

static bool has_same_list(const struct debug_area *a, const struct debug_area *b, uint32_t number)
{
    const struct debug_condition *x = &a->condition[number], *y = &b->condition[number];

    return x->bytes == y->bytes && memcmp(a->lists + x->at, b->lists + y->at, x->bytes) == 0;
}

bool breaks_are_same(const struct debug_area *a, const struct debug_area *b)
{
    bool same = a->breaks == b->breaks;

    for (uint32_t k = 0; same && k < a->breaks; k++)
        same = a->break_pc[k] == b->break_pc[k] && has_same_list(a, b, k);
    return same;
}

uint32_t breaks_find(const struct debug_area *a, uint64_t pc)
{
    uint64_t bit = debug_bloom_bit(pc);

    if (!(a->bloom[bit / 64] >> bit % 64 & 1))
        return BREAKS_NONE;
    for (uint32_t k = 0; k < a->breaks; k++)
        if (a->break_pc[k] == pc)
            return k;
    return BREAKS_NONE;
}

static bool is_true(const uint8_t *code, size_t n, const struct agent_ops *ops, void *ctx)
{
    uint64_t value;

    return !agent_expression_evaluate(code, n, ops, ctx, &value) || value != 0;
}

bool breaks_hold(const struct debug_area *a, uint32_t number, const struct agent_ops *ops, void *ctx)
{
    const struct debug_condition *c = &a->condition[number];
    const uint8_t *list = a->lists + c->at;
    bool holds = c->bytes == 0;

    for (uint32_t at = 0, n; at < c->bytes && !holds; at += 2 + n) {
        n = (uint32_t)list[at] << 8 | list[at + 1];
        holds = is_true(list + at + 2, n, ops, ctx);
    }
    return holds;
}
