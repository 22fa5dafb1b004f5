/*
 * Projections of a plan: its bytes in the space of one of its elements. The plan's tree has the places there, so each
 * node becomes the node that has its place for an offset and its step for a stride; the builder joins what has come to
 * lie together.
 */
#include <errno.h>
#include <stdlib.h>

#include "libpio/map/falls.h"

struct projection {
    const struct falls_set *body;
    int side;
    int64_t end; /* behind the last byte pushed, in the element */
    bool ascends;
};

/* Returns the place of the first byte of node f, or of those below it, relative to the bytes of the parent's block. */
static int64_t first_place(const struct falls_set *body, const struct falls *f, int side)
{
    int64_t at = f->in[side].at;

    for (; f->children > 0; at += f->in[side].at)
        f = &body->node[f->child];
    return at;
}

/* Pushes `n` siblings, whose block's bytes begin at `origin` of the element, relative to `base`, to the list that
 * begins at `mark`. */
static void push_list(struct falls_build *b, struct projection *p, int32_t first, int32_t n, int64_t origin,
                      int64_t base, int32_t mark)
{
    for (int32_t i = first; i < first + n && !b->error; i++) {
        const struct falls *f = &p->body->node[i];
        int64_t at = origin + f->in[p->side].at, before = p->end;
        struct falls new = {.left = at - base, .length = f->length, .stride = f->in[p->side].step, .count = f->count};
        int32_t inner = b->listed;

        if (f->children > 0) {
            push_list(b, p, f->child, f->children, at, at, inner);
        } else {
            p->ascends &= at >= before;
            p->end = at + f->length;
        }
        if (f->count > 1) /* each block begins behind the one before it */
            p->ascends &= origin + first_place(p->body, f, p->side) + new.stride >= p->end;
        p->end += (f->count - 1) * new.stride;
        falls_lies_as_in_file(&new);
        if (f->children > 0)
            falls_wrap(b, mark, inner, &new);
        else
            falls_push(b, mark, &new);
    }
}

int plan_project(const struct plan *plan, int side, struct pattern **view)
{
    struct projection p = {.body = &plan->body, .side = side, .ascends = true};
    struct falls_build b = {0};

    if (side != PLAN_A && side != PLAN_B)
        return -EINVAL;
    int64_t first = plan->body.tops > 0 ? first_place(&plan->body, &plan->body.node[plan->body.top], side) : 0;
    struct pattern *new = pattern_new(first, plan->step[side] > 0 ? plan->step[side] : 1, 1);
    if (!new)
        return -ENOMEM;
    p.end = first;
    push_list(&b, &p, plan->body.top, plan->body.tops, 0, first, 0);
    if (plan->from + plan->period == PATTERN_OFFSET_MAX) /* it is not repeated */
        new->period = p.end > first ? p.end - first : 1;
    p.ascends &= p.end - first <= new->period; /* else the next period's bytes begin among these */
    return pattern_finish_view(&b, p.ascends ? 0 : -EINVAL, new, view);
}
