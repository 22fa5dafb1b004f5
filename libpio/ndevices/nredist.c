/*
 * nredist of <nself.h>: the bytes of an array pass from one distribution over the nodes to another, in one call. Each
 * node knows both patterns, so it computes what it sends and expects [P1 section 1.2: composition]: plan_make of its
 * element with each other node's. The nodes agree first that they mean the same and have the memory (global_call.h);
 * then the parts go in one exchange of libpio/group.
 */
#include <errno.h>
#include <limits.h>
#include <nself.h>
#include <stdlib.h>

#include "libpio/map/pattern.h"
#include "libpio/ndevices/global_call.h"
#include "vertex/contract/traps.h"

struct redist {
    struct group nodes;
    const struct pattern *map_out, *map_in;
    int64_t bytes;      /* of the array */
    struct plan **plan; /* [2 size]: what goes to each node, what comes from each; the own element is A */
    int *part;          /* [2 size]: bytes of these */
    char *to, *from;    /* the parts, packed */
};

/* Plans of this node's element of `own` with each node's of `other`. Returns their bytes, or a negative errno. */
static int64_t plan_all(struct redist *r, const struct pattern *own, const struct pattern *other, struct plan **plan,
                        int *part)
{
    int64_t sum = 0;

    for (int k = 0; k < r->nodes.size; k++) {
        int error = plan_make(own, r->nodes.rank, other, k, &plan[k]);

        if (error < 0)
            return error;
        int64_t bytes = plan_bytes(plan[k], r->bytes);
        if ((sum += bytes) > INT_MAX)
            return -E2BIG;
        part[k] = (int)bytes;
    }
    return sum;
}

static int prepare(struct redist *r)
{
    int n = r->nodes.size;

    if (!r->map_out || !r->map_in || r->map_out->elements != n || r->map_in->elements != n || r->bytes < 0)
        return -EINVAL;
    r->plan = calloc(2 * (size_t)n, sizeof *r->plan);
    r->part = calloc(2 * (size_t)n, sizeof *r->part);
    if (!r->plan || !r->part)
        return -ENOMEM;
    int64_t to = plan_all(r, r->map_out, r->map_in, r->plan, r->part);
    int64_t from = to < 0 ? to : plan_all(r, r->map_in, r->map_out, r->plan + n, r->part + n);
    if (from < 0)
        return (int)from;
    r->to = malloc((size_t)to + 1);
    r->from = malloc((size_t)from + 1);
    return r->to && r->from ? 0 : -ENOMEM;
}

/* Of a pattern's text. 0: there is no pattern, or no memory for the text; then prepare fails, too, or may. */
static uint32_t sum_of(const struct pattern *p)
{
    size_t n = p ? pattern_format(p, NULL, 0) + 1 : 0;
    char *text = n > 0 ? malloc(n) : NULL;
    uint32_t sum = 0;

    if (text) {
        pattern_format(p, text, n);
        sum = global_sum(2166136261u, text);
    }
    free(text);
    return sum;
}

static int exchange(struct redist *r, const void *out, void *in)
{
    int n = r->nodes.size;
    char *at = r->to;

    for (int k = 0; k < n; k++)
        at += plan_gather(r->plan[k], 0, r->bytes, at, out, 0);
    int result = group_exchange(&r->nodes, r->to, r->part, r->from, r->part + n);
    at = r->from;
    for (int k = 0; k < n && result >= 0; k++)
        at += plan_scatter(r->plan[n + k], 0, r->bytes, in, 0, at);
    return result;
}

int nredist(const void *out, const struct pattern *map_out, void *in, const struct pattern *map_in, long bytes)
{
    struct redist r = {.map_out = map_out, .map_in = map_in, .bytes = bytes};

    collect_all(&r.nodes, CONTEXT_GROUP);
    int error = prepare(&r);
    uint32_t about = sum_of(map_out) * 31 + sum_of(map_in) + (uint32_t)bytes;
    long result = global_share(&r.nodes, GLOBAL_nredist, global_begin(&r.nodes, GLOBAL_nredist, about, error), NULL, 0);
    if (result >= 0)
        result = exchange(&r, out, in);
    for (int k = 0; r.plan && k < 2 * r.nodes.size; k++)
        plan_free(r.plan[k]);
    free(r.plan);
    free(r.part);
    free(r.to);
    free(r.from);
    return trap_note((int)result);
}
