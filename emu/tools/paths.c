#include "emu/tools/paths.h"

#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"

bool path_find(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, struct path *path)
{
    uint32_t in_channel;
    int hops = topo_route(t, from, to, via, path->channel, &in_channel);

    if (hops < 0)
        return false;
    path->from = from;
    path->to = to;
    path->hops = (uint32_t)hops;
    path->first_dimension = topo_first_dimension(from, topo_exit(t, from, to, via));
    return true;
}

uint64_t path_cycles(const struct topo *t, const struct path *path, uint64_t bytes)
{
    struct channel_times times = topo_times(t);

    return times.hop_cycles * (uint64_t)path->hops + times.byte_cycles * bytes;
}

bool path_shares_channel(const struct path *a, const struct path *b)
{
    for (uint32_t i = 0; i < a->hops; i++)
        for (uint32_t j = 0; j < b->hops; j++)
            if (a->channel[i] == b->channel[j])
                return true;
    return false;
}

/* Moves all paths of group `from` into group `to`. */
static void merge(uint32_t *group, uint32_t n, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < n; i++)
        if (group[i] == from)
            group[i] = to;
}

uint32_t paths_disjoint(const struct path *path, uint32_t n)
{
    uint32_t groups = 0, *group = memory_new(n, sizeof *group);

    for (uint32_t i = 0; i < n; i++) {
        group[i] = i;
        for (uint32_t j = 0; j < i; j++)
            if (group[j] != group[i] && path_shares_channel(&path[i], &path[j]))
                merge(group, i + 1, group[j], group[i]);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool first = true;

        for (uint32_t j = 0; j < i; j++)
            first = first && group[j] != group[i];
        groups += first;
    }
    free(group);
    return groups;
}

uint32_t paths_disjoint_by_theorem(const struct path *path, uint32_t n)
{
    uint32_t seen = 0; /* bit P + 1 */

    for (uint32_t i = 0; i < n; i++)
        seen |= 1u << (path[i].first_dimension + 1);
    return (uint32_t)__builtin_popcount(seen);
}

static int by_number(const void *a, const void *b)
{
    return order(*(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t paths_busiest_channel(const struct path *path, uint32_t n)
{
    uint32_t used = 0, most = 0, *channel = memory_new((size_t)n * TOPO_ROUTE_MAX, sizeof *channel);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < path[i].hops; k++)
            channel[used++] = path[i].channel[k];
    qsort(channel, used, sizeof *channel, by_number);
    for (uint32_t i = 0, run = 0; i < used; i++) {
        run = i > 0 && channel[i] == channel[i - 1] ? run + 1 : 1;
        most = run > most ? run : most;
    }
    free(channel);
    return most;
}
