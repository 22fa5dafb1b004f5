#include "emu/time/clocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "emu/base/memory.h"

void clocks_init(struct clocks *c, uint32_t harts)
{
    *c = (struct clocks){
        .cycles = memory_new(harts, sizeof *c->cycles),
        .live = {.item = memory_new(harts, sizeof *c->live.item), .place = memory_new(harts, sizeof *c->live.place)},
    };
}

void clocks_free(struct clocks *c)
{
    free(c->cycles);
    free(c->live.item);
    free(c->live.place);
}

static bool comes_before(const void *cycles, uint32_t a, uint32_t b)
{
    uint64_t x = ((const uint64_t *)cycles)[a], y = ((const uint64_t *)cycles)[b];

    return x < y || (x == y && a < b);
}

void clocks_add(struct clocks *c, uint32_t hart, uint64_t cycles)
{
    c->cycles[hart] = cycles;
    heap_insert(&c->live, hart, comes_before, c->cycles);
}

void clocks_set(struct clocks *c, uint32_t hart, uint64_t cycles)
{
    c->cycles[hart] = cycles;
    heap_reorder(&c->live, hart, comes_before, c->cycles);
}

void clocks_remove(struct clocks *c, uint32_t hart)
{
    heap_remove(&c->live, hart, comes_before, c->cycles);
}

uint64_t clocks_second_cycles(const struct clocks *c)
{
    uint64_t second = UINT64_MAX;

    for (uint32_t child = 1; child <= 2 && child < c->live.n; child++)
        if (clocks_of(c, c->live.item[child]) < second)
            second = clocks_of(c, c->live.item[child]);
    return second;
}
