/*
 * Windows of a stream (window.h).
 */
#include "libpio/map/window.h"

#include <errno.h>

int64_t plan_span_shorter(int64_t span, int64_t from, int64_t reached)
{
    int64_t half = span / 2, fits = (reached - from) / 2;

    if (fits > 0 && fits < half)
        half = fits;
    return half > 1 ? half : 1;
}

int64_t plan_span_next(int64_t span, int32_t nodes, int32_t nodes_most)
{
    int64_t times = nodes_most / (2 * (nodes > 0 ? nodes : 1));

    if (times < 1)
        return span;
    return span > PATTERN_OFFSET_MAX / times ? PATTERN_OFFSET_MAX : span * times;
}

/* ---- Several plans ---- */

int plan_range_at(struct plan_range *r, const struct plan_maker *m, int64_t x, int64_t behind)
{
    int64_t reached;

    for (;; r->span = plan_span_shorter(r->span, r->from, reached)) {
        const bool goes_on = behind > m->first && x >= behind && x - behind < r->span;

        r->from = goes_on ? behind : x - (x - m->first) % r->span;
        r->to = r->span < PATTERN_OFFSET_MAX - r->from ? r->from + r->span : PATTERN_OFFSET_MAX;
        int error = m->make(m->ctx, r->from, r->to, m->window_nodes, &r->nodes, &reached);
        if (error != -E2BIG || r->span == 1)
            return error;
    }
}

int plan_range_first(struct plan_range *r, const struct plan_maker *m, int64_t common, int64_t longest)
{
    const int64_t turns = common / longest;
    int64_t reached;

    r->span = longest;
    int error = turns > 1 ? plan_range_at(r, m, m->first, 0) : 0;
    if (error || turns > m->nodes_most / (r->nodes + 1))
        return error;
    const struct plan_range first = *r;
    r->from = 0;
    r->to = PATTERN_OFFSET_MAX;
    error = m->make(m->ctx, r->from, r->to, m->nodes_most, &r->nodes, &reached);
    if (error != -E2BIG)
        return error;
    *r = first;
    return plan_range_at(r, m, m->first, 0);
}

/* ---- One plan ---- */

/* Plans `span` bytes from w->from on, or what fits; all that come if they are repeated within. */
static int make(struct plan_window *w)
{
    int64_t longer, common = plan_periods(&w->pair, &longer), reached;
    struct plan *plan;

    for (;; w->span = plan_span_shorter(w->span, w->from, reached)) {
        bool all = w->span >= common || w->span >= PATTERN_OFFSET_MAX - w->from;
        int64_t to = all ? PATTERN_OFFSET_MAX : w->from + w->span;
        int error = plan_make_some(&w->pair, w->from, to, w->nodes_most, &reached, &plan);

        if (error == -E2BIG && w->span > 1)
            continue;
        if (error)
            return error;
        plan_free(w->plan);
        w->plan = plan;
        w->to = to;
        return 0;
    }
}

int plan_window_open(struct plan_window *w, const struct plan_pair *pair, int32_t nodes_most)
{
    const struct pattern *a = pair->a, *b = pair->b;
    int64_t longer, common = plan_periods(pair, &longer), reached;
    struct plan *all;

    *w = (struct plan_window){.pair = *pair,
                              .from = a->displacement > b->displacement ? a->displacement : b->displacement,
                              .span = longer,
                              .nodes_most = nodes_most};
    int error = make(w);
    if (error || plan_window_is_last(w) || common / longer > nodes_most / (w->plan->body.nodes + 1))
        return error;
    if (plan_make_some(pair, w->from, PATTERN_OFFSET_MAX, nodes_most, &reached, &all) == 0) {
        plan_free(w->plan);
        w->plan = all;
        w->to = PATTERN_OFFSET_MAX;
    }
    return 0;
}

int plan_window_next(struct plan_window *w)
{
    const struct plan_window before = *w;

    w->before += w->plan->body.bytes;
    w->from = w->to;
    w->span = plan_span_next(w->span, w->plan->body.nodes, w->nodes_most);
    int error = make(w);
    if (error)
        *w = before;
    return error;
}

void plan_window_close(struct plan_window *w)
{
    plan_free(w->plan);
    w->plan = NULL;
}

int64_t plan_window_bytes(const struct plan_window *w, int64_t end)
{
    return w->before + plan_bytes(w->plan, end < w->to ? end : w->to);
}

int64_t plan_window_file(const struct plan_window *w, int64_t k)
{
    bool is_last = plan_window_is_last(w);
    int64_t x;

    if (!is_last && k - w->before >= w->plan->body.bytes)
        return w->to;
    x = plan_file(w->plan, k - w->before);
    return x < 0 ? INT64_MAX : x;
}

int64_t plan_window_ahead(const struct plan_window *w, int64_t end)
{
    struct plan_window ahead = *w;
    int error = 0;

    if (plan_window_is_last(w) || end <= w->to)
        return 0;
    ahead.plan = NULL;
    ahead.from = w->to;
    ahead.before = 0;
    for (error = make(&ahead); !error && ahead.to < end;)
        error = plan_window_next(&ahead);
    int64_t bytes = error ? error : plan_window_bytes(&ahead, end);
    plan_window_close(&ahead);
    return bytes;
}
