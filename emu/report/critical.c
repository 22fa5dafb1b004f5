/* The critical path (critical.h). */
#include "emu/report/critical.h"

#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"

#define NONE UINT32_MAX

const char *const step_names[STEP_KINDS] = {[STEP_USER] = "user code",
                                            [STEP_KERNEL] = "kernel",
                                            [STEP_MESSAGE] = "message on its way",
                                            [STEP_CHANNEL] = "message waits for a channel",
                                            [STEP_DRIVE] = "drive",
                                            [STEP_HOST] = "front end",
                                            [STEP_OTHER] = "other wait"};

struct search {
    struct critical *critical;
    const struct facts *facts;
    const struct timeline *timeline;
    const struct hold **by_number; /* the timeline's holds */
    size_t *first_letter;          /* by node: the first letter to it; the list is sorted so */
    uint32_t node;                 /* where the path is, */
    uint64_t time;                 /* and when */
};

/* ---- Looking up ---- */

static int by_number(const void *va, const void *vb)
{
    const struct hold *a = *(const struct hold *const *)va, *b = *(const struct hold *const *)vb;

    return order(a->number, b->number) ?: order(a->from, b->from);
}

static void sort_holds(struct search *s)
{
    const struct timeline *t = s->timeline;

    s->by_number = memory_new(t->holds + 1, sizeof *s->by_number);
    for (size_t i = 0; i < t->holds; i++)
        s->by_number[i] = &t->hold[i];
    qsort(s->by_number, t->holds, sizeof *s->by_number, by_number);
}

static void index_letters(struct search *s)
{
    const struct timeline *t = s->timeline;
    size_t i = 0;

    s->first_letter = memory_new(t->nodes + 1, sizeof *s->first_letter);
    for (size_t node = 0; node <= t->nodes; node++) {
        while (i < t->letters && t->letter[i].to < node)
            i++;
        s->first_letter[node] = i;
    }
}

/* Returns the last message that the node's kernel has learned of by that time; NULL: there is none. */
static const struct letter *last_letter(const struct search *s, uint32_t node, uint64_t until)
{
    size_t low = s->first_letter[node], high = s->first_letter[node + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->timeline->letter[middle].received <= until)
            low = middle + 1;
        else
            high = middle;
    }
    return low > s->first_letter[node] ? &s->timeline->letter[low - 1] : NULL;
}

/* Returns the last spell of the node that begins before that time; NULL: there is none. */
static const struct spell *last_spell(const struct search *s, uint32_t node, uint64_t before)
{
    size_t first = s->timeline->node[node].first, low = first, high = first + s->timeline->node[node].n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->timeline->spell[middle].from < before)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first ? &s->timeline->spell[low - 1] : NULL;
}

/* Adds up what the header of a message waited for channels, and finds the channel for which it waited longest. Hops of
 * a broadcast have one number; only those in the step's time count. */
static void find_waits(const struct search *s, const struct letter *l, struct step *step)
{
    size_t low = 0, high = s->timeline->holds;
    uint64_t longest = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->by_number[middle]->number < l->number)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->timeline->holds && s->by_number[low]->number == l->number; low++) {
        const struct hold *h = s->by_number[low];

        if (h->from < l->sent || h->from > l->received)
            continue;
        step->waited += h->waited;
        if (h->waited > longest) {
            longest = h->waited;
            step->channel = h->channel;
        }
    }
}

/* ---- Walking back ---- */

/* Adds a step from `from` to the time where the path is, and goes there. */
static struct step *go_back(struct search *s, enum step_kind kind, uint64_t from, uint32_t name)
{
    struct critical *c = s->critical;

    if (from < s->facts->begin)
        from = s->facts->begin;
    c->step = memory_grow(c->step, &c->step_room, c->steps + 1, sizeof *c->step);
    struct step *step = &c->step[c->steps++];
    *step = (struct step){kind, from, s->time, s->node, s->node, NONE, 0, name};
    c->time[kind] += s->time - from;
    s->time = from;
    return step;
}

static void follow(struct search *s, const struct letter *l)
{
    struct step *step = go_back(s, STEP_MESSAGE, l->sent, 0);

    step->node = l->from;
    step->peer = l->to;
    find_waits(s, l, step);
    if (step->waited > step->to - step->from)
        step->waited = step->to - step->from;
    s->critical->time[STEP_MESSAGE] -= step->waited;
    s->critical->time[STEP_CHANNEL] += step->waited;
    s->node = l->from;
}

/* The front end acts when a message comes: what it did since the last one is its own. */
static void cross_host(struct search *s)
{
    const struct letter *l = last_letter(s, s->node, s->time);

    if (!l || l->received < s->facts->begin || l->sent >= s->time) {
        go_back(s, STEP_HOST, s->facts->begin, 0);
        return;
    }
    if (l->received < s->time)
        go_back(s, STEP_HOST, l->received, 0);
    follow(s, l);
}

static enum step_kind kind_of(enum state state)
{
    return state == STATE_USER     ? STEP_USER
           : state == STATE_KERNEL ? STEP_KERNEL
           : state == STATE_DRIVE  ? STEP_DRIVE
                                   : STEP_OTHER;
}

/* While a node waits for its drive or for memory, messages arrive that have nothing to do with that. */
static bool may_end_by_message(enum state state)
{
    return state == STATE_MESSAGE || state == STATE_REPLY || state == STATE_OTHER || state == STATE_FREE;
}

static void cross_spell(struct search *s)
{
    const struct spell *spell = last_spell(s, s->node, s->time);
    const struct letter *l;

    if (!spell || spell->to < s->time) { /* nothing is known of it here */
        go_back(s, STEP_OTHER, spell ? spell->to : 0, 0);
        return;
    }
    if (may_end_by_message(spell->state)) {
        l = last_letter(s, s->node, s->time);
        if (l && l->received > spell->from && l->sent < s->time) {
            if (l->received < s->time)
                go_back(s, STEP_KERNEL, l->received, spell->name);
            follow(s, l);
            return;
        }
    }
    go_back(s, kind_of(spell->state), spell->from, spell->name);
}

void critical_find(struct critical *c, const struct facts *f, const struct timeline *t)
{
    struct search s = {.critical = c, .facts = f, .timeline = t, .node = f->last_node, .time = f->end};

    *c = (struct critical){0};
    if (t->nodes == 0)
        return;
    sort_holds(&s);
    index_letters(&s);
    while (s.time > f->begin)
        if (t->node[s.node].address == NODE_HOST)
            cross_host(&s);
        else
            cross_spell(&s);
    free(s.by_number);
    free(s.first_letter);
}

void critical_free(struct critical *c)
{
    free(c->step);
}

/* ---- Stretches ---- */

static int by_place(const void *va, const void *vb)
{
    const struct stretch *a = va, *b = vb;
    int kinds = order(a->kind, b->kind) ?: order(a->channel, b->channel);

    return kinds ?: order(a->node, b->node) ?: order(a->peer, b->peer);
}

static int by_time(const void *va, const void *vb)
{
    const struct stretch *a = va, *b = vb;

    return order(b->time, a->time) ?: by_place(va, vb);
}

static size_t split_steps(const struct critical *c, struct stretch *s)
{
    size_t n = 0;

    for (size_t i = 0; i < c->steps; i++) {
        const struct step *p = &c->step[i];

        s[n++] = (struct stretch){p->kind, p->node, p->peer, NONE, p->to - p->from - p->waited, 1};
        if (p->waited > 0)
            s[n++] = (struct stretch){STEP_CHANNEL, NONE, NONE, p->channel, p->waited, 1};
    }
    return n;
}

struct stretch *critical_stretches(const struct critical *c, size_t *n)
{
    struct stretch *s = memory_new(2 * c->steps + 1, sizeof *s);
    size_t all = split_steps(c, s);

    qsort(s, all, sizeof *s, by_place);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        if (*n > 0 && by_place(&s[*n - 1], &s[i]) == 0) {
            s[*n - 1].time += s[i].time;
            s[*n - 1].steps++;
        } else {
            s[(*n)++] = s[i];
        }
    }
    qsort(s, *n, sizeof *s, by_time);
    return s;
}
