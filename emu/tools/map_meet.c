/* What the elements of two patterns have in common (map_meet.h). */
#include "emu/tools/map_meet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

/* ---- Counting ---- */

static void add_runs(struct map_runs *r, const struct map_runs *more)
{
    if (more->count == 0)
        return;
    r->shortest = r->count == 0 || more->shortest < r->shortest ? more->shortest : r->shortest;
    r->longest = more->longest > r->longest ? more->longest : r->longest;
    r->count += more->count;
}

static void count_runs(const struct falls_set *set, int32_t first, int32_t n, int64_t times, struct map_runs *r)
{
    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        if (f->children > 0) {
            count_runs(set, f->child, f->children, times * f->count, r);
            continue;
        }
        add_runs(r, &(struct map_runs){times * f->count, f->length, f->length});
    }
}

static bool count_run(void *ctx, const struct plan_run *run)
{
    add_runs(ctx, &(struct map_runs){1, run->bytes, run->bytes});
    return true;
}

struct map_runs map_runs_of(const struct falls_set *set)
{
    struct map_runs r = {0};

    count_runs(set, set->top, set->tops, 1, &r);
    return r;
}

/* ---- Pairs ---- */

/* The runs of a plan in the compared bytes: those of whole periods, and those behind the last one. */
static struct map_runs runs_of_plan(const struct map_meeting *m, const struct plan *plan)
{
    struct map_runs r = map_runs_of(&plan->body);
    int64_t periods = (m->to - m->from) / plan->period;

    if (periods == 0) /* it has been made of these bytes only */
        return r;
    r.count *= periods;
    plan_runs(plan, m->from + periods * plan->period, m->to, count_run, &r);
    return r;
}

static void add_pair(struct map_meeting *m, int32_t a, int32_t b, const struct plan *plan)
{
    struct map_pair new = {.of = {a, b}, .bytes = plan_bytes(plan, m->to)};

    if (new.bytes == 0)
        return;
    new.runs = runs_of_plan(m, plan);
    m->pair = memory_grow(m->pair, &m->room, m->pairs + 1, sizeof *m->pair);
    m->pair[m->pairs++] = new;
    m->bytes += new.bytes;
    add_runs(&m->runs, &new.runs);
}

struct plan *map_meet_plan(const struct pattern *const p[2], int32_t a, int32_t b, int64_t from, int64_t to,
                           char *error, size_t error_bytes)
{
    struct plan *plan = NULL;
    int failed = plan_make_within(p[0], a, p[1], b, from, to, &plan);

    if (failed)
        snprintf(error, error_bytes, "elements %d and %d: %s", a, b,
                 failed == -E2BIG ? "what they have in common takes too many nodes; give --bytes of a file"
                                  : strerror(-failed));
    return plan;
}

struct map_meeting map_meet_range(const struct pattern *const p[2], int64_t to)
{
    struct map_meeting m = {.p = {p[0], p[1]}, .from = p[0]->displacement};
    int64_t period = pattern_common_period(p[0], p[1]);

    m.from = p[1]->displacement > m.from ? p[1]->displacement : m.from;
    m.to = to > m.from ? to : m.from;
    if (period < m.to - m.from)
        m.to = m.from + period;
    return m;
}

bool map_meet(struct map_meeting *m, const struct pattern *const p[2], int64_t to, char *error, size_t error_bytes)
{
    *m = map_meet_range(p, to);
    for (int32_t a = 0; a < p[0]->elements; a++)
        for (int32_t b = 0; b < p[1]->elements; b++) {
            struct plan *plan = map_meet_plan(p, a, b, m->from, m->to, error, error_bytes);

            if (!plan)
                return false;
            add_pair(m, a, b, plan);
            plan_free(plan);
        }
    return true;
}

void map_meeting_free(struct map_meeting *m)
{
    free(m->pair);
}
