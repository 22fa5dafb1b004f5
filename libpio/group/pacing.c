/* Operations of collect.h that begin with a barrier now and then (pacing.h). */
#include "libpio/group/pacing.h"

#include "libpio/group/stream.h"
#include "vertex/contract/held.h"
#include "vertex/contract/traps.h"

#define SHORT_BYTES   1024 /* parts of no more come along the tree (parts.c) */
#define MESSAGE_BYTES 256  /* counted for a message beside its bytes */
#define UNEQUAL_AHEAD 8
#define MEMORY_SHARE  8
#define MEMORY_LEAST  (1 << 20) /* of a node */

/* Whether so much memory may be taken. All nodes have as much. */
static bool has_memory(int64_t bytes)
{
    static int64_t most; /* 0: not asked yet */

    if (bytes <= MEMORY_LEAST / MEMORY_SHARE)
        return true;
    if (most == 0)
        most = trap_tell((const struct abi_call *)ABI_CALL_SAME) / MEMORY_SHARE;
    return bytes <= most;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline bool is_too_much(const struct group *g, int64_t bytes, int64_t memory)
{
    return g->ahead_bytes > 0 && (g->ahead_bytes + bytes > PACE_AHEAD_BYTES || !has_memory(g->ahead_memory + memory));
}

static inline void count(struct group *g, int64_t bytes, int64_t memory)
{
    g->ahead_bytes += (long)least(bytes, PACE_AHEAD_BYTES);
    g->ahead_memory += (long)least(memory, INT32_MAX);
}

static inline int pace_by(struct group *g, int64_t bytes, int64_t memory, int type)
{
    int result = 0;

    if (is_too_much(g, bytes, memory)) {
        result = collect_barrier(g, type);
        pace_in_step(g);
    }
    count(g, bytes, memory);
    return result;
}

bool pace_allows(struct group *g, int64_t bytes)
{
    int64_t memory = held_memory_bytes(bytes, 1);

    if (is_too_much(g, bytes + MESSAGE_BYTES, memory))
        return false;
    count(g, bytes + MESSAGE_BYTES, memory);
    return true;
}

int pace(struct group *g, int64_t bytes, int messages, int type)
{
    return pace_by(g, bytes + (int64_t)messages * MESSAGE_BYTES, held_memory_bytes(bytes, messages), type);
}

int pace_unequal(struct group *g, int messages, int type)
{
    return pace_by(g, PACE_AHEAD_BYTES / UNEQUAL_AHEAD, (int64_t)messages * HELD_BUFFER_BYTES, type);
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
    int pieces = bytes <= STREAM_LEAST_BYTES ? 1 : bytes / stream_piece_bytes(g) + 1;
    int result = pace_by(g, (int64_t)bytes + MESSAGE_BYTES, held_memory_bytes(bytes, pieces), type);

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
