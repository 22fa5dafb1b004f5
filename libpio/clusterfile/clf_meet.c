/*
 * Plans of a view and the parts of a file [P3 sections 5.2, 6.3.1] (clf_client.h). They are made for all that comes, or
 * for a window of the file, where a view and a layout of sizes that do not divide would have thousands of nodes
 * (libpio/map/window.h).
 */
#include <stdlib.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"

/* A server takes views of 400 nodes (FILE_VIEW_MAX_BYTES of vertex/contract/proto.h). Those of windows are smaller, so
 * that it has room for those of many clients. */
#define NODES_MOST   400
#define WINDOW_NODES 100

struct planning {
    const struct clf_layout *layout;
    struct clf_sight *sight;
    int32_t nodes_most, nodes;
};

static bool is_last(const struct clf_sight *s)
{
    return s->range.to == PATTERN_OFFSET_MAX;
}

/* ---- Freeing ---- */

static void free_meet(struct clf_meet *m)
{
    plan_free(m->plan);
    pattern_free(m->seen);
    *m = (struct clf_meet){.plan = NULL};
}

static void free_share(const struct clf_layout *l, struct clf_sight *s, int32_t subfile)
{
    for (uint32_t p = l->first[subfile]; p < l->first[subfile + 1]; p++) {
        if (s->meet[p].seen == s->share[subfile].subfile) /* of a subfile that is one part */
            s->meet[p].seen = NULL;
        free_meet(&s->meet[p]);
    }
    plan_free(s->share[subfile].plan);
    pattern_free(s->share[subfile].subfile);
    s->share[subfile] = (struct clf_share){.plan = NULL};
}

void clf_sight_free(const struct clf_layout *l, struct clf_sight *s)
{
    if (!s)
        return;
    for (int32_t i = 0; s->share && s->meet && i < l->pattern->elements; i++)
        free_share(l, s, i);
    free(s->share);
    free(s->meet);
    pattern_free(s->pattern);
    free(s);
}

/* ---- Planning ---- */

static void count_nodes(struct planning *g, int32_t nodes)
{
    g->nodes = nodes > g->nodes ? nodes : g->nodes;
}

/* Projects a plan's bytes into B's space; NULL: it has none. */
static int project(struct planning *g, const struct plan *plan, struct pattern **to)
{
    *to = NULL;
    if (plan->body.bytes == 0)
        return 0;
    int error = plan_project(plan, PLAN_B, to);
    if (error == 0 && (*to)->element[0].nodes > g->nodes_most)
        error = -N_E2BIG;
    if (error == 0)
        count_nodes(g, (*to)->element[0].nodes);
    return error;
}

/* Whether the view's bytes lie together in the part: then a request names their place. */
static void find_plain(struct clf_meet *m)
{
    const struct falls_set *set = m->seen ? &m->seen->element[0] : NULL;
    const struct falls *f = set && set->tops == 1 ? &set->node[set->top] : NULL;

    m->plain = f && f->count == 1 && f->children == 0 && f->length == m->seen->period;
    m->plain_at = m->plain ? m->seen->displacement + f->left : 0;
}

/* The end in the subfile of what a plan has in the window. */
static int64_t end_in_subfile(const struct clf_sight *s, const struct clf_share *share)
{
    const int64_t bytes = is_last(s) ? 0 : plan_bytes(share->plan, s->range.to);
    const int64_t last = is_last(s) ? -1 : pattern_file(share->subfile, 0, bytes - 1);

    return last < 0 ? PATTERN_OFFSET_MAX : last + 1;
}

/* What the view has of a stripe in the window. */
static int plan_stripe(struct planning *g, const struct clf_share *share, uint32_t p)
{
    const struct clf_part_place *place = &g->layout->part[p];
    const struct plan_pair pair = {share->subfile, g->layout->striping[place->subfile], 0, place->stripe};
    const int64_t from = share->subfile->displacement, to = end_in_subfile(g->sight, share);
    struct clf_meet *m = &g->sight->meet[p];
    int64_t reached;
    int error = plan_make_some(&pair, from, to, g->nodes_most, &reached, &m->plan);

    if (error == 0)
        error = project(g, m->plan, &m->seen);
    if (error == 0) {
        count_nodes(g, m->plan->body.nodes);
        find_plain(m);
    }
    m->made = error == 0;
    return error;
}

static int plan_subfile(struct planning *g, int32_t i, int64_t from, int64_t to, int64_t *reached)
{
    const struct plan_pair pair = {g->sight->pattern, g->layout->pattern, 0, i};
    struct clf_share *share = &g->sight->share[i];
    const uint32_t first = g->layout->first[i], end = g->layout->first[i + 1];
    int error = plan_make_some(&pair, from, to, g->nodes_most, reached, &share->plan);

    if (error < 0)
        return error;
    count_nodes(g, share->plan->body.nodes);
    *reached = from; /* what follows does not know how far it would have come */
    error = project(g, share->plan, &share->subfile);
    if (error < 0 || !share->subfile)
        return error;
    if (end - first == 1) {
        g->sight->meet[first].seen = share->subfile;
        g->sight->meet[first].made = true;
        find_plain(&g->sight->meet[first]);
    }
    for (uint32_t p = first; p < end && end - first > 1 && g->sight->all && error == 0; p++)
        error = plan_stripe(g, share, p);
    return error;
}

static int plan_parts(void *ctx, int64_t from, int64_t to, int32_t nodes_most, int32_t *nodes, int64_t *reached)
{
    struct planning *g = ctx;
    int error = 0;

    g->nodes = 0;
    g->nodes_most = nodes_most;
    for (int32_t i = 0; i < g->layout->pattern->elements; i++)
        free_share(g->layout, g->sight, i);
    for (int32_t i = 0; i < g->layout->pattern->elements && error == 0; i++)
        error = plan_subfile(g, i, from, to, reached);
    *nodes = g->nodes;
    return error;
}

static struct plan_maker maker_of(struct planning *g)
{
    return (struct plan_maker){g->sight->pattern->displacement, NODES_MOST, WINDOW_NODES, plan_parts, g};
}

static int64_t find_periods(const struct planning *g, int64_t *longest)
{
    int64_t most = 1;

    *longest = 1;
    for (int32_t i = 0; i < g->layout->pattern->elements; i++) {
        const struct plan_pair pair = {g->sight->pattern, g->layout->pattern, 0, i};
        int64_t longer, common = plan_periods(&pair, &longer);

        *longest = longer > *longest ? longer : *longest;
        most = common > most ? common : most;
    }
    return most;
}

static int plan_first(const struct clf_layout *l, struct clf_sight *s)
{
    struct planning g = {.layout = l, .sight = s};
    const struct plan_maker maker = maker_of(&g);
    int64_t longest;
    const int64_t common = find_periods(&g, &longest);

    return plan_range_first(&s->range, &maker, common, longest);
}

int clf_sight_make(const struct clf_layout *l, struct pattern *view, uint16_t number, bool all, struct clf_sight **out)
{
    struct clf_sight *s = calloc(1, sizeof *s);

    if (!s) {
        pattern_free(view);
        return -N_ENOMEM;
    }
    s->pattern = view;
    s->number = number;
    s->all = all;
    s->share = calloc((size_t)l->pattern->elements, sizeof *s->share);
    s->meet = calloc(l->parts, sizeof *s->meet);
    int error = s->share && s->meet ? plan_first(l, s) : -N_ENOMEM;
    if (error < 0)
        clf_sight_free(l, s);
    else
        *out = s;
    return error;
}

int clf_sight_all(const struct clf_layout *l, struct clf_sight *s)
{
    if (s->all)
        return 0;
    s->all = true;
    int error = plan_first(l, s);
    if (error < 0)
        s->range.from = s->range.to = 0;
    return error;
}

int clf_sight_part(const struct clf_layout *l, struct clf_sight *s, uint32_t p)
{
    struct planning g = {.layout = l, .sight = s, .nodes_most = is_last(s) ? NODES_MOST : WINDOW_NODES};
    const struct clf_share *share = &s->share[l->part[p].subfile];

    if (s->meet[p].made || !share->subfile)
        return 0;
    int error = plan_stripe(&g, share, p);
    if (error == -N_E2BIG)
        g.nodes = g.nodes_most + 1;
    if (error < 0)
        free_meet(&s->meet[p]);
    if (g.nodes > s->range.nodes)
        s->range.nodes = g.nodes;
    return error;
}

/* After an error it has no window. */
int clf_sight_move(const struct clf_layout *l, struct clf_sight *s, int64_t x)
{
    struct planning g = {.layout = l, .sight = s};
    const struct plan_maker maker = maker_of(&g);
    const int64_t behind = s->range.to;

    if (x >= s->range.from && x < s->range.to)
        return 0;
    if (s->range.span <= 0)
        s->range.span = 1;
    if (x >= s->range.to && s->range.to > 0)
        s->range.span = plan_span_next(s->range.span, s->range.nodes, WINDOW_NODES);
    int error = plan_range_at(&s->range, &maker, x, behind);
    if (error < 0)
        s->range.from = s->range.to = 0;
    return error;
}

/* ---- Telling the servers ---- */

static int view_question(const struct clf_open *f, struct clf_sight *s, uint32_t p, struct clf_question *q)
{
    const struct pattern *seen = s->meet[p].seen;
    const int64_t bytes = pattern_pack(seen, 0, NULL, 0);
    void *packed = bytes > 0 ? malloc((size_t)bytes) : NULL;

    if (!packed)
        return bytes < 0 ? (int)bytes : -N_ENOMEM;
    pattern_pack(seen, 0, packed, (size_t)bytes);
    *q = clf_part_question(f, p, N_CLF_VIEW);
    q->r.view = s->number;
    q->r.bytes = (uint32_t)bytes;
    q->data = packed;
    q->bytes = (size_t)bytes;
    clf_counts.views++;
    clf_counts.view_bytes += (uint64_t)bytes;
    return 0;
}

static int tell(struct clf_open *f, struct clf_sight *s, struct clf_question *q, uint32_t *which)
{
    uint32_t n = 0;
    int error = 0;

    for (uint32_t p = 0; p < f->layout->parts && error == 0; p++)
        if (f->part[p].wanted && s->meet[p].seen && !s->meet[p].plain && !s->meet[p].told) {
            error = view_question(f, s, p, &q[n]);
            which[n] = p;
            n += error == 0;
        }
    if (error == 0 && n > 0)
        error = clf_ask(q, n);
    for (uint32_t i = 0; i < n; i++) {
        s->meet[which[i]].told = error == 0 || q[i].result >= 0;
        free((void *)q[i].data);
    }
    return error;
}

int clf_sight_tell(struct clf_open *f, struct clf_sight *s)
{
    int error = clf_parts_attach(f);
    struct clf_question *q = error < 0 ? NULL : calloc(f->layout->parts, sizeof *q);
    uint32_t *which = q ? malloc(f->layout->parts * sizeof *which) : NULL;

    if (error == 0)
        error = which ? tell(f, s, q, which) : -N_ENOMEM;
    for (uint32_t p = 0; p < f->layout->parts; p++)
        f->part[p].wanted = false;
    free(which);
    free(q);
    return error;
}
