/* What stands out (findings.h). */
#include "emu/report/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/base/plural.h"
#include "vertex/shared/node_name.h"

#define HOT_PART      0.25 /* of the program's time, for which a channel or drive must be in use to be told of */
#define HOT_RATIO     2.0  /* times the mean of those that are used at all */
#define PAIRS_TOLD    4
#define PAIRS_MOST    4096u
#define LARGE_PART    0.10 /* of a time, to be told of */
#define MINOR_RATIO   20   /* a flow of so many times fewer bytes than the largest is not told of */
#define SMALL_NUMBER  1000u
#define NEAR_HOPS     1.5
#define WORK_RATIO    1.5
#define STARTUP_BYTES 100u

struct telling {
    const struct timeline *t;
    const struct facts *f;
    const struct critical *path;
    void (*say)(void *ctx, const char *sentence);
    void *ctx;
};

/* ---- Texts ---- */

const char *place_name(uint32_t address, char name[PLACE_BYTES])
{
    char number[NODE_SHORT_NAME_BYTES];

    if (address == NODE_HOST)
        snprintf(name, PLACE_BYTES, "the front end");
    else
        snprintf(name, PLACE_BYTES, "%s %s", NODE_IS_IO(address) ? "I/O node" : "node",
                 node_short_name(address, number));
    return name;
}

const char *time_text(uint64_t cycles, char text[TIME_BYTES])
{
    double us = (double)cycles / CYCLES_PER_US;

    if (us < 1e3)
        snprintf(text, TIME_BYTES, "%.1f us", us);
    else if (us < 1e6)
        snprintf(text, TIME_BYTES, "%.2f ms", us / 1e3);
    else
        snprintf(text, TIME_BYTES, "%.3f s", us / 1e6);
    return text;
}

const char *bytes_text(uint64_t bytes, char text[TIME_BYTES])
{
    if (bytes < 10000)
        snprintf(text, TIME_BYTES, "%" PRIu64 " byte%s", bytes, plural(bytes));
    else if (bytes < 10000000)
        snprintf(text, TIME_BYTES, "%.1f kB", (double)bytes / 1e3);
    else
        snprintf(text, TIME_BYTES, "%.1f MB", (double)bytes / 1e6);
    return text;
}

static void tell(const struct telling *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(const struct telling *x, const char *format, ...)
{
    char text[FINDING_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    x->say(x->ctx, text);
}

static double percent(double part)
{
    return 100 * part;
}

/* ---- Where the time went ---- */

static void tell_states(const struct telling *x)
{
    uint64_t all = facts_all_time(x->f, x->t), wait = 0;
    enum state longest = STATE_MESSAGE;

    if (all == 0)
        return;
    for (int s = STATE_MESSAGE; s < STATE_FREE; s++) {
        uint64_t time = facts_state(x->f, x->t, (enum state)s);

        wait += time;
        if (time > facts_state(x->f, x->t, longest))
            longest = (enum state)s;
    }
    double free = (double)facts_state(x->f, x->t, STATE_FREE) / (double)all;
    tell(x,
         "The nodes of the program spent %.1f %% of their time in user code, %.1f %% in the kernel and waited for %.1f "
         "%%%s%s%s.",
         percent((double)facts_state(x->f, x->t, STATE_USER) / (double)all),
         percent((double)facts_state(x->f, x->t, STATE_KERNEL) / (double)all), percent((double)wait / (double)all),
         wait > 0 ? ", mostly in the state \"" : "", wait > 0 ? state_names[longest] : "", wait > 0 ? "\"" : "");
    if (free > LARGE_PART)
        tell(x,
             "For %.0f %% of it they had no program: they were loaded after the first of them, or ended before the "
             "last.",
             percent(free));
}

static void tell_balance(const struct telling *x)
{
    uint64_t most = 0, sum = 0;
    uint32_t which = 0, n = 0;
    char name[PLACE_BYTES];

    for (uint32_t i = 0; i < x->t->nodes; i++) {
        uint64_t work = x->f->time[i][STATE_USER];

        if (!x->f->ran[i])
            continue;
        n++;
        sum += work;
        if (work > most) {
            most = work;
            which = i;
        }
    }
    double mean = n > 0 ? (double)sum / n : 0;
    if (n < 2 || (double)most < WORK_RATIO * mean || facts_part(x->f, most) < LARGE_PART)
        return;
    tell(x,
         "The work is not even: %s was in user code %.1f times as long as the mean of the %" PRIu32
         " nodes that had any.",
         place_name(x->t->node[which].address, name), (double)most / mean, n);
}

/* ---- Channels ---- */

/* The messages through a channel between two nodes. */
struct flow {
    uint32_t from, to;
    uint64_t messages, bytes;
};

static int by_bytes(const void *va, const void *vb)
{
    const struct flow *a = va, *b = vb;

    return order(b->bytes, a->bytes) ?: order(a->from, b->from) ?: order(a->to, b->to);
}

static void add_flow(struct flow *flow, size_t *n, const struct letter *l)
{
    size_t i = 0;

    while (i < *n && (flow[i].from != l->from || flow[i].to != l->to))
        i++;
    if (i == PAIRS_MOST)
        return;
    if (i == *n)
        flow[(*n)++] = (struct flow){.from = l->from, .to = l->to};
    flow[i].messages++;
    flow[i].bytes += l->bytes;
}

/* Returns whether a message between compute nodes goes through a channel of the cube: from the lowest dimension up. */
static bool passes(const struct timeline *t, const struct letter *l, const struct timeline_channel *c)
{
    uint32_t at = t->node[l->from].address, to = t->node[l->to].address;

    while (at != to) {
        uint32_t next = at ^ ((at ^ to) & -(at ^ to));

        if (at == c->from && next == c->to)
            return true;
        at = next;
    }
    return false;
}

static void tell_flows(const struct telling *x, const struct timeline_channel *c)
{
    struct flow *flow = memory_new(PAIRS_MOST, sizeof *flow);
    char text[FINDING_BYTES] = "", size[TIME_BYTES];
    size_t n = 0, used = 0;

    for (size_t i = 0; i < x->t->letters; i++) {
        const struct letter *l = &x->t->letter[i];

        if (l->sent >= x->f->begin && l->sent <= x->f->end && timeline_computes(x->t, l->from) &&
            timeline_computes(x->t, l->to) && passes(x->t, l, c))
            add_flow(flow, &n, l);
    }
    qsort(flow, n, sizeof *flow, by_bytes);
    while (n > 0 && flow[n - 1].bytes * MINOR_RATIO < flow[0].bytes)
        n--;
    for (size_t i = 0; i < n && i < PAIRS_TOLD && used < sizeof text - 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%" PRIu32 " to %" PRIu32 " (%" PRIu64 " message%s, %s)", i > 0 ? "; " : "",
                                 x->t->node[flow[i].from].address, x->t->node[flow[i].to].address, flow[i].messages,
                                 plural(flow[i].messages), bytes_text(flow[i].bytes, size));
    if (n > 1)
        tell(x,
             "%zu pairs of nodes share the channel from %" PRIu32 " to %" PRIu32
             ": %s%s. Only one message can hold it; "
             "the others wait, and hold the channels that they have.",
             n, c->from, c->to, text, n > PAIRS_TOLD ? "; and others" : "");
    free(flow);
}

static double mean_use(const struct facts *f, const struct timeline *t, size_t *used)
{
    double sum = 0;

    *used = 0;
    for (size_t i = 0; i < t->channels; i++)
        if (f->channel[i].messages > 0) {
            sum += facts_part(f, f->channel[i].busy);
            (*used)++;
        }
    return *used > 0 ? sum / (double)*used : 0;
}

static void tell_channels(const struct telling *x)
{
    char from[PLACE_BYTES], to[PLACE_BYTES], wait[TIME_BYTES];
    size_t used;
    double mean = mean_use(x->f, x->t, &used);

    if (used == 0)
        return;
    const struct channel_use *u = &x->f->channel[0];
    const struct timeline_channel *c = &x->t->channel[u->channel];
    double use = facts_part(x->f, u->busy);
    char waits[128] = "No message waited for it";
    if (use < HOT_PART)
        return;
    if (u->waited > 0)
        snprintf(waits, sizeof waits, "Headers waited for it for %s in all, at most %" PRIu32 " at a time",
                 time_text(u->waited, wait), u->queue_max);
    tell(x,
         "The busiest channel, from %s to %s, was held for %.0f %% of the time; the mean of the %zu that were used is "
         "%.0f %%. %s.",
         place_name(c->from, from), place_name(c->to, to), percent(use), used, percent(mean), waits);
    if (use > HOT_RATIO * mean && facts_part(x->f, u->waited) > LARGE_PART && NODE_IS_COMPUTE(c->from) &&
        NODE_IS_COMPUTE(c->to))
        tell_flows(x, c);
}

static void tell_hops(const struct telling *x)
{
    const struct facts *f = x->f;

    if (f->cube_messages == 0)
        return;
    double hops = (double)f->cube_hops / (double)f->cube_messages;
    if (hops < NEAR_HOPS)
        return;
    tell(x,
         "A message between compute nodes crosses %.1f channels on average; between neighbours it is 1. ncube route "
         "MACHINE FROM TO shows the channels of a path.",
         hops);
}

static void tell_size(const struct telling *x)
{
    const struct facts *f = x->f;

    if (f->cube_messages < SMALL_NUMBER || f->cube_bytes / f->cube_messages >= STARTUP_BYTES)
        return;
    tell(x,
         "The %" PRIu64 " messages between compute nodes have %" PRIu64
         " bytes on average: sending one costs more than its bytes do. Fewer and longer ones are faster.",
         f->cube_messages, f->cube_bytes / f->cube_messages);
}

/* ---- Drives ---- */

static void tell_drives(const struct telling *x)
{
    const struct facts *f = x->f;
    size_t used = 0;
    double sum = 0;

    for (size_t i = 0; i < x->t->drives; i++)
        if (f->drive[i].busy > 0) {
            sum += facts_part(f, f->drive[i].busy);
            used++;
        }
    if (used == 0 || facts_part(f, f->drive[0].busy) < HOT_PART)
        return;
    const struct drive_use *d = &f->drive[0];
    tell(x,
         "The busiest drive, %s, executed commands for %.0f %% of the time, with %.1f in its queue on average; %zu of "
         "%zu "
         "drives were used, for %.0f %% on average.",
         x->t->name[x->t->drive[d->drive].volume], percent(facts_part(f, d->busy)), d->queue_mean, used, x->t->drives,
         percent(sum / (double)used));
}

/* ---- The path ---- */

static void tell_path(const struct telling *x)
{
    char text[FINDING_BYTES] = "";
    size_t used = 0;

    for (int k = 0; k < STEP_KINDS; k++) {
        double part = facts_part(x->f, x->path->time[k]);

        if (part >= 0.01)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %.0f %%", used > 0 ? ", " : "",
                                     step_names[k], percent(part));
    }
    if (used > 0)
        tell(x, "The critical path, which decided how long the program ran, consists of: %s.", text);
}

void findings_say(const struct timeline *t, const struct facts *f, const struct critical *path,
                  void (*say)(void *ctx, const char *sentence), void *ctx)
{
    struct telling x = {t, f, path, say, ctx};

    if (t->limited)
        tell(&x, "The trace reached its limit: later events are missing. Give --trace-limit, or trace less.");
    tell_states(&x);
    tell_path(&x);
    tell_channels(&x);
    tell_hops(&x);
    tell_drives(&x);
    tell_balance(&x);
    tell_size(&x);
}
