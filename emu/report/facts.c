/* Facts (facts.h): one pass over each list of the timeline. */
#include "emu/report/facts.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/trace/trace.h"
#include "vertex/contract/system.h"

#define SECTOR_BYTES 512u

double facts_part(const struct facts *f, uint64_t cycles)
{
    return f->end > f->begin ? (double)cycles / (double)(f->end - f->begin) : 0;
}

uint32_t facts_nodes(const struct facts *f, const struct timeline *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->nodes; i++)
        n += f->ran[i];
    return n;
}

uint64_t facts_state(const struct facts *f, const struct timeline *t, enum state state)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < t->nodes; i++)
        if (f->ran[i])
            sum += f->time[i][state];
    return sum;
}

uint64_t facts_all_time(const struct facts *f, const struct timeline *t)
{
    uint64_t sum = 0;

    for (int s = 0; s < STATES; s++)
        sum += facts_state(f, t, (enum state)s);
    return sum;
}

/* Returns how much of a spell lies in the program's time. */
static uint64_t inside(const struct facts *f, uint64_t from, uint64_t to)
{
    if (from < f->begin)
        from = f->begin;
    if (to > f->end)
        to = f->end;
    return from < to ? to - from : 0;
}

/* Whether a node has loaded a program on others (rexecv). */
static bool loads_later(const struct timeline *t)
{
    for (size_t i = 0; i < t->letters; i++)
        if (t->letter[i].type == N_RCLAIM && t->letter[i].context == 0)
            return true;
    return false;
}

/* When the first node begins. */
static uint64_t find_first(const struct timeline *t)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < t->spells; i++)
        if (t->spell[i].state == STATE_USER && timeline_computes(t, t->spell[i].node) && t->spell[i].from < first)
            first = t->spell[i].from;
    return first;
}

/* When the last node begins, so that the loading of the others is not counted; but the first if nodes begin at any time
 * anyway. */
static uint64_t find_begin(const struct timeline *t)
{
    uint64_t *first = memory_new(t->nodes + 1, sizeof *first), latest = 0;

    memset(first, 0xff, (t->nodes + 1) * sizeof *first);
    for (size_t i = 0; i < t->spells; i++) {
        const struct spell *s = &t->spell[i];

        if (s->state == STATE_USER && timeline_computes(t, s->node) && s->from < first[s->node])
            first[s->node] = s->from;
    }
    for (size_t k = 0; k < t->nodes; k++)
        if (first[k] < UINT64_MAX && first[k] > latest)
            latest = first[k];
    free(first);
    return loads_later(t) ? find_first(t) : latest;
}

bool facts_cut_short(const struct timeline *t)
{
    return t->endings > 0 && t->ending[0].how != TRACE_END_STATUS;
}

/* Returns the state of a node at a time; STATE_FREE: nothing is known of it. */
static enum state state_at(const struct timeline *t, uint32_t node, uint64_t at)
{
    const struct timeline_node *n = &t->node[node];

    for (size_t i = n->first + n->n; i-- > n->first && t->spell[i].to >= at;)
        if (t->spell[i].from < at)
            return t->spell[i].state;
    return STATE_FREE;
}

/* Of a run that failed, the path ends at a node that still had its program: of those, the one with the last user code.
 * Returns `otherwise` if there is none. */
static uint32_t find_stuck(const struct facts *f, const struct timeline *t, uint32_t otherwise)
{
    uint64_t last = 0;

    for (size_t i = 0; i < t->spells; i++) {
        const struct spell *s = &t->spell[i];

        if (s->state == STATE_USER && f->ran[s->node] && s->to > last && state_at(t, s->node, f->end) != STATE_FREE) {
            last = s->to;
            otherwise = s->node;
        }
    }
    return otherwise;
}

static void find_program(struct facts *f, const struct timeline *t)
{
    uint64_t failure = facts_cut_short(t) ? t->ending[0].at : 0;

    f->ran = memory_new(t->nodes + 1, sizeof *f->ran);
    f->begin = find_begin(t);
    f->end = 0;
    for (size_t i = 0; i < t->spells; i++) {
        const struct spell *s = &t->spell[i];

        if (s->state != STATE_USER || !timeline_computes(t, s->node))
            continue;
        f->ran[s->node] = true;
        if (s->to > f->end) {
            f->end = s->to;
            f->last_node = s->node;
        }
    }
    /* A signal comes at any time of the host: user code may have been ahead of it. */
    if (f->end > 0 && failure > 0 && (f->end < failure || t->ending[0].how != TRACE_END_SIGNAL)) {
        f->end = failure;
        f->last_node = find_stuck(f, t, f->last_node);
    }
    f->first_begins = find_first(t);
    if (f->begin >= f->end && f->end > 0)
        f->begin = f->first_begins; /* it failed before its last node began */
    if (f->begin < f->end)
        return;
    f->begin = f->first_begins = 0; /* no user code in the trace */
    f->end = t->end;
}

static void count_states(struct facts *f, const struct timeline *t)
{
    f->time = memory_new(t->nodes + 1, sizeof *f->time);
    for (size_t i = 0; i < t->spells; i++) {
        const struct spell *s = &t->spell[i];

        f->time[s->node][s->state] += inside(f, s->from, s->to);
    }
}

static void count_messages(struct facts *f, const struct timeline *t)
{
    for (size_t i = 0; i < t->letters; i++) {
        const struct letter *l = &t->letter[i];

        if (l->sent < f->begin || l->sent > f->end)
            continue;
        f->messages++;
        f->bytes += l->bytes;
        if (!timeline_computes(t, l->from) || !timeline_computes(t, l->to))
            continue;
        f->cube_messages++;
        f->cube_bytes += l->bytes;
        f->cube_hops += (uint64_t)__builtin_popcount(t->node[l->from].address ^ t->node[l->to].address);
    }
}

/* ---- Channels ---- */

static int by_busy(const void *va, const void *vb)
{
    const struct channel_use *a = va, *b = vb;

    return order(b->busy, a->busy) ?: order(a->channel, b->channel);
}

/* Headers get a channel in the order in which they ask, so those that wait when hold k begins are it and its
 * successors, up to the first that asked later. `h`: the holds of one channel, n of them. */
static uint32_t longest_queue(const struct facts *f, const struct hold *h, size_t n)
{
    uint32_t longest = 0;

    for (size_t k = 0, next = 0; k < n; k++) {
        if (next < k)
            next = k;
        while (next < n && h[next].from - h[next].waited < h[k].from)
            next++;
        if (h[k].from >= f->begin && h[k].from <= f->end && next - k > longest)
            longest = (uint32_t)(next - k);
    }
    return longest;
}

static void count_channels(struct facts *f, const struct timeline *t)
{
    f->channel = memory_new(t->channels + 1, sizeof *f->channel);
    for (uint32_t c = 0; c < t->channels; c++)
        f->channel[c].channel = c;
    for (size_t i = 0, next; i < t->holds; i = next) {
        struct channel_use *u = &f->channel[t->hold[i].channel];

        for (next = i; next < t->holds && t->hold[next].channel == t->hold[i].channel; next++) {
            const struct hold *h = &t->hold[next];

            u->busy += inside(f, h->from, h->to);
            u->waited += inside(f, h->from - h->waited, h->from);
            if (h->from >= f->begin && h->from <= f->end) {
                u->messages++;
                u->bytes += h->bytes;
            }
        }
        u->queue_max = longest_queue(f, &t->hold[i], next - i);
    }
    order_sort(f->channel, t->channels, sizeof *f->channel, by_busy);
}

/* ---- Drives ---- */

static int by_drive_busy(const void *va, const void *vb)
{
    const struct drive_use *a = va, *b = vb;

    return order(b->busy, a->busy) ?: order(a->drive, b->drive);
}

static void count_commands(struct facts *f, const struct timeline *t)
{
    for (size_t i = 0; i < t->commands; i++) {
        const struct command *c = &t->command[i];
        struct drive_use *u = &f->drive[c->drive];

        u->busy += inside(f, c->from, c->to);
        if (c->from < f->begin || c->from > f->end)
            continue;
        (*(c->write ? &u->writes : &u->reads))++;
        *(c->write ? &u->written_bytes : &u->read_bytes) += c->sectors * SECTOR_BYTES;
    }
}

static void count_queues(struct facts *f, const struct timeline *t)
{
    struct queue_change *last = memory_new(t->drives + 1, sizeof *last);
    uint64_t *sum = memory_new(t->drives + 1, sizeof *sum);

    for (size_t i = 0; i < t->queues; i++) {
        const struct queue_change *q = &t->queue[i];

        sum[q->drive] += last[q->drive].commands * inside(f, last[q->drive].at, q->at);
        last[q->drive] = *q;
        if (q->at >= f->begin && q->at <= f->end && q->commands > f->drive[q->drive].queue_max)
            f->drive[q->drive].queue_max = q->commands;
    }
    for (uint32_t d = 0; d < t->drives; d++)
        f->drive[d].queue_mean = facts_part(f, sum[d] + last[d].commands * inside(f, last[d].at, f->end));
    free(last);
    free(sum);
}

static void count_drives(struct facts *f, const struct timeline *t)
{
    f->drive = memory_new(t->drives + 1, sizeof *f->drive);
    for (uint32_t d = 0; d < t->drives; d++)
        f->drive[d].drive = d;
    count_commands(f, t);
    count_queues(f, t);
    order_sort(f->drive, t->drives, sizeof *f->drive, by_drive_busy);
}

/* ---- Phases and requests ---- */

static int by_name(const void *va, const void *vb)
{
    const struct phase *a = va, *b = vb;

    return order(a->name, b->name) ?: order(a->node, b->node) ?: order(a->from, b->from);
}

static int by_first(const void *va, const void *vb)
{
    const struct phase_use *a = va, *b = vb;

    return order(a->first, b->first) ?: order(a->name, b->name);
}

static void count_phase(struct phase_use *u, const struct phase *p)
{
    uint64_t length = p->to - p->from;

    u->times++;
    u->total += length;
    u->first = p->from < u->first ? p->from : u->first;
    u->last = p->to > u->last ? p->to : u->last;
    if (length < u->longest)
        return;
    u->longest = length;
    u->longest_node = p->node;
}

static void count_phases(struct facts *f, const struct timeline *t)
{
    struct phase *sorted = memory_new(t->phases + 1, sizeof *sorted);

    for (size_t i = 0; i < t->phases; i++)
        sorted[i] = t->phase[i];
    qsort(sorted, t->phases, sizeof *sorted, by_name);
    for (size_t i = 0; i < t->phases; i++) {
        if (i == 0 || sorted[i].name != sorted[i - 1].name) {
            f->phase = memory_grow(f->phase, &f->phase_room, f->phases + 1, sizeof *f->phase);
            f->phase[f->phases++] = (struct phase_use){.name = sorted[i].name, .first = UINT64_MAX};
        }
        struct phase_use *u = &f->phase[f->phases - 1];
        u->nodes += u->times == 0 || sorted[i].node != sorted[i - 1].node;
        count_phase(u, &sorted[i]);
    }
    free(sorted);
    order_sort(f->phase, f->phases, sizeof *f->phase, by_first);
}

static struct request_use *request_of(struct facts *f, const struct request *r)
{
    for (size_t i = 0; i < f->requests; i++)
        if (f->request[i].op == r->op && f->request[i].volume == r->volume)
            return &f->request[i];
    f->request = memory_grow(f->request, &f->request_room, f->requests + 1, sizeof *f->request);
    f->request[f->requests].op = r->op;
    f->request[f->requests].volume = r->volume;
    return &f->request[f->requests++];
}

static int by_total(const void *va, const void *vb)
{
    const struct request_use *a = va, *b = vb;

    return order(b->total, a->total) ?: order(a->op, b->op) ?: order(a->volume, b->volume);
}

/* Only those of compute nodes, with their replies. */
static void count_requests(struct facts *f, const struct timeline *t)
{
    for (size_t i = 0; i < t->requests; i++) {
        const struct request *r = &t->request[i];

        if (r->to == UINT64_MAX || r->from < f->begin || r->from > f->end || !timeline_computes(t, r->node))
            continue;
        struct request_use *u = request_of(f, r);
        u->times++;
        u->bytes += r->bytes;
        u->total += r->to - r->from;
        u->longest = r->to - r->from > u->longest ? r->to - r->from : u->longest;
    }
    order_sort(f->request, f->requests, sizeof *f->request, by_total);
}

/* ---- Calls of a library ---- */

static struct call_use *call_of(struct facts *f, const struct waiting *w)
{
    for (size_t i = 0; i < f->calls; i++)
        if (f->call[i].call == w->call && f->call[i].communicator == w->communicator)
            return &f->call[i];
    f->call = memory_grow(f->call, &f->call_room, f->calls + 1, sizeof *f->call);
    f->call[f->calls] = (struct call_use){.call = w->call, .communicator = w->communicator};
    return &f->call[f->calls++];
}

static int by_wait(const void *va, const void *vb)
{
    const struct call_use *a = va, *b = vb;

    return order(b->total, a->total) ?: order(a->call, b->call) ?: order(a->communicator, b->communicator);
}

static void count_calls(struct facts *f, const struct timeline *t)
{
    for (size_t i = 0; i < t->waitings; i++) {
        const struct waiting *w = &t->waiting[i];
        uint64_t from = w->from > f->begin ? w->from : f->begin, to = w->to < f->end ? w->to : f->end;

        if (from >= to)
            continue;
        struct call_use *u = call_of(f, w);
        u->times++;
        u->total += to - from;
        if (to - from > u->longest) {
            u->longest = to - from;
            u->longest_node = w->node;
        }
    }
    order_sort(f->call, f->calls, sizeof *f->call, by_wait);
}

void facts_count(struct facts *f, const struct timeline *t)
{
    *f = (struct facts){0};
    find_program(f, t);
    count_states(f, t);
    count_messages(f, t);
    count_channels(f, t);
    count_drives(f, t);
    count_phases(f, t);
    count_calls(f, t);
    count_requests(f, t);
}

void facts_free(struct facts *f)
{
    free(f->time);
    free(f->ran);
    free(f->channel);
    free(f->drive);
    free(f->phase);
    free(f->call);
    free(f->request);
}
