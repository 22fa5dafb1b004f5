/* Operations of collect.h that begin with a barrier now and then (pacing.h). */
#include "libpio/group/pacing.h"

#define SHORT_BYTES 1024 /* parts of no more come along the tree (parts.c) */

int pace(struct group *g, int64_t bytes, int messages, int type)
{
    int64_t more = bytes + (int64_t)messages * PACE_MESSAGE_BYTES;
    int result = 0;

    if (g->ahead_bytes > 0 && g->ahead_bytes + more > PACE_AHEAD_BYTES) {
        result = collect_barrier(g, type);
        g->ahead_bytes = 0;
    }
    g->ahead_bytes += more < PACE_AHEAD_BYTES ? (long)more : PACE_AHEAD_BYTES;
    return result;
}

/* Of the tree: as many messages come to its root. */
static int levels(const struct group *g)
{
    int n = 0;

    while (1 << n < g->size)
        n++;
    return n;
}

static int64_t sum(const struct group *g, const int *bytes)
{
    int64_t all = 0;

    for (int r = 0; r < g->size; r++)
        all += bytes[r] > 0 ? bytes[r] : 0;
    return all;
}

int pace_broadcast(struct group *g, void *buf, int bytes, int root, int type)
{
    int result = pace(g, bytes, 1, type);

    return result < 0 ? result : collect_broadcast(g, buf, bytes, root, type);
}

int pace_reduce(struct group *g, const struct collect_reduction *x, int root, int type)
{
    int result = pace(g, (int64_t)x->n * x->element_bytes * levels(g), levels(g), type);

    return result < 0 ? result : collect_reduce(g, x, root, type);
}

int pace_scan(struct group *g, const struct collect_reduction *x, void *before, int type)
{
    int result = pace(g, (int64_t)x->n * x->element_bytes * levels(g), levels(g), type);

    return result < 0 ? result : collect_scan(g, x, before, type);
}

int pace_gather(struct group *g, const void *part, void *all, const int *bytes, int root, int type)
{
    int64_t more = sum(g, bytes);
    int result = pace(g, more, more > (int64_t)g->size * SHORT_BYTES ? g->size : levels(g), type);

    return result < 0 ? result : collect_gather(g, part, all, bytes, root, type);
}

/* A member may get the parts of half of the others with its own. */
int pace_scatter(struct group *g, const void *all, void *part, const int *bytes, int root, int type)
{
    int result = pace(g, sum(g, bytes) / 2, 1, type);

    return result < 0 ? result : collect_scatter(g, all, part, bytes, root, type);
}
