/* The order of nodes as places (place.h). */
#include "emu/tools/place.h"

#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/tools/paths.h"

static struct place judge(const struct topo *t, uint32_t node, const uint32_t *io_node, uint32_t n, struct path *there,
                          struct path *back)
{
    struct place p = {.node = node};

    for (uint32_t i = 0; i < n; i++) {
        path_find(t, node, io_node[i], NCU_VIA_NEAREST, &there[i]); /* there is always a way to an I/O node */
        path_find(t, io_node[i], node, NCU_VIA_NEAREST, &back[i]);
        p.hops += there[i].hops;
    }
    uint32_t out = paths_busiest_channel(there, n), in = paths_busiest_channel(back, n);
    p.routings = paths_disjoint_by_theorem(there, n);
    p.busiest = out > in ? out : in;
    return p;
}

static int better_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int better = order(y->routings, x->routings) ?: order(x->busiest, y->busiest);

    return better ?: order(x->hops, y->hops) ?: order(x->node, y->node);
}

struct place *place_rank(const struct topo *t, const uint32_t *io_node, uint32_t n)
{
    uint32_t nodes = 1u << t->dim;
    struct place *place = memory_new(nodes, sizeof *place);
    struct path *there = memory_new(n, sizeof *there), *back = memory_new(n, sizeof *back);

    for (uint32_t node = 0; node < nodes; node++)
        place[node] = judge(t, node, io_node, n, there, back);
    qsort(place, nodes, sizeof *place, better_first);
    free(there);
    free(back);
    return place;
}
