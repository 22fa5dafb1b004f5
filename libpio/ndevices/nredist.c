/*
 * nredist of <nself.h>: the bytes of an array pass from one distribution over the nodes to another, in one call. Each
 * node knows both patterns, so it computes what it sends and expects [P1 section 1.2: composition]: plans of its
 * element with each other node's. A plan with too many nodes is of a window of the array, and the next ones are made
 * when it is moved. The nodes agree first that they mean the same and have the memory (global_call.h); then the parts
 * go in one exchange of libpio/group.
 */
#include <errno.h>
#include <limits.h>
#include <nself.h>
#include <stdlib.h>

#include "libpio/map/window.h"
#include "libpio/ndevices/global_call.h"
#include "vertex/contract/traps.h"

#define NODES_MOST 8192 /* of all plans of a call: 720 KB */
#define NODES_MIN  64

struct redist {
    struct group nodes;
    const struct pattern *map_out, *map_in;
    int64_t bytes;              /* of the array */
    struct plan_window *window; /* [2 size]: what goes to each node, what comes from each; the own element is A */
    int *part;                  /* [2 size]: bytes of these */
    char *to, *from;            /* the parts, packed */
};

/* Plans of this node's element of `own` with each node's of `other`. Returns their bytes, or a negative errno. */
static int64_t plan_all(struct redist *r, const struct pattern *own, const struct pattern *other,
                        struct plan_window *window, int *part)
{
    int32_t most = NODES_MOST / (2 * r->nodes.size) > NODES_MIN ? NODES_MOST / (2 * r->nodes.size) : NODES_MIN;
    int64_t sum = 0;

    for (int k = 0; k < r->nodes.size; k++) {
        int error = plan_window_open(&window[k], &(struct plan_pair){own, other, r->nodes.rank, k}, most);

        if (error < 0)
            return error;
        int64_t behind = plan_window_ahead(&window[k], r->bytes);
        int64_t bytes = behind < 0 ? behind : plan_window_bytes(&window[k], r->bytes) + behind;
        if (bytes < 0)
            return bytes;
        if ((sum += bytes) > INT_MAX)
            return -E2BIG;
        part[k] = (int)bytes;
    }
    return sum;
}

/* Moves the bytes of one part between the element and `packed`. */
static int move_part(const struct redist *r, struct plan_window *w, char *packed, const void *out, void *in)
{
    for (int error = 0; !error; error = plan_window_next(w)) {
        packed += in ? plan_scatter(w->plan, w->from, r->bytes < w->to ? r->bytes : w->to, in, 0, packed)
                     : plan_gather(w->plan, w->from, r->bytes < w->to ? r->bytes : w->to, packed, out, 0);
        if (r->bytes <= w->to)
            return 0;
    }
    return -ENOMEM;
}

static int prepare(struct redist *r)
{
    int n = r->nodes.size;

    if (!r->map_out || !r->map_in || r->map_out->elements != n || r->map_in->elements != n || r->bytes < 0)
        return -EINVAL;
    r->window = calloc(2 * (size_t)n, sizeof *r->window);
    r->part = calloc(2 * (size_t)n, sizeof *r->part);
    if (!r->window || !r->part)
        return -ENOMEM;
    int64_t to = plan_all(r, r->map_out, r->map_in, r->window, r->part);
    int64_t from = to < 0 ? to : plan_all(r, r->map_in, r->map_out, r->window + n, r->part + n);
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
    int n = r->nodes.size, error = 0;
    char *at = r->to;

    for (int k = 0; k < n; at += r->part[k++])
        error = error ? error : move_part(r, &r->window[k], at, out, NULL);
    int result = group_exchange(&r->nodes, r->to, r->part, r->from, r->part + n);
    at = r->from;
    for (int k = n; k < 2 * n && result >= 0; at += r->part[k++])
        error = error ? error : move_part(r, &r->window[k], at, NULL, in);
    return result < 0 ? result : error;
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
    for (int k = 0; r.window && k < 2 * r.nodes.size; k++)
        plan_window_close(&r.window[k]);
    free(r.window);
    free(r.part);
    free(r.to);
    free(r.from);
    return trap_note((int)result);
}
