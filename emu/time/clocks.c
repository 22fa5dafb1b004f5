#include "emu/time/clocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "emu/base/memory.h"

void clocks_init(struct clocks *c, uint32_t harts)
{
    *c = (struct clocks){.clock = memory_new(harts, sizeof *c->clock), .heap = memory_new(harts, sizeof *c->heap)};
}

void clocks_free(struct clocks *c)
{
    free(c->clock);
    free(c->heap);
}

static bool comes_before(const struct clocks *c, uint32_t a, uint32_t b)
{
    uint64_t x = clocks_of(c, a), y = clocks_of(c, b);

    return x < y || (x == y && a < b);
}

static void put(struct clocks *c, uint32_t at, uint32_t hart)
{
    c->heap[at] = hart;
    c->clock[hart].at = at;
}

static void sift_up(struct clocks *c, uint32_t at)
{
    uint32_t hart = c->heap[at];

    for (; at > 0 && comes_before(c, hart, c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(c, at, c->heap[(at - 1) / 2]);
    put(c, at, hart);
}

static void sift_down(struct clocks *c, uint32_t at)
{
    uint32_t hart = c->heap[at];

    for (uint32_t child; (child = 2 * at + 1) < c->live; at = child) {
        if (child + 1 < c->live && comes_before(c, c->heap[child + 1], c->heap[child]))
            child++;
        if (!comes_before(c, c->heap[child], hart))
            break;
        put(c, at, c->heap[child]);
    }
    put(c, at, hart);
}

void clocks_add(struct clocks *c, uint32_t hart, uint64_t cycles)
{
    c->clock[hart].cycles = cycles;
    put(c, c->live++, hart);
    sift_up(c, c->clock[hart].at);
}

void clocks_set(struct clocks *c, uint32_t hart, uint64_t cycles)
{
    c->clock[hart].cycles = cycles;
    sift_up(c, c->clock[hart].at);
    sift_down(c, c->clock[hart].at);
}

void clocks_remove(struct clocks *c, uint32_t hart)
{
    uint32_t at = c->clock[hart].at, last = c->heap[--c->live];

    if (at == c->live)
        return;
    put(c, at, last);
    clocks_set(c, last, clocks_of(c, last));
}

uint64_t clocks_second_cycles(const struct clocks *c)
{
    uint64_t second = UINT64_MAX;

    for (uint32_t child = 1; child <= 2 && child < c->live; child++)
        if (clocks_of(c, c->heap[child]) < second)
            second = clocks_of(c, c->heap[child]);
    return second;
}
