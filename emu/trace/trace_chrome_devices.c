/*
 * The tracks of channels and drives in Chrome's trace event format, and the rates of both (trace_chrome.h).
 */
#include "emu/trace/trace_chrome.h"

#include <inttypes.h>
#include <stdio.h>

#include "vertex/shared/node_name.h"

#define COUNTER_CYCLES 20000u /* between two values of a rate: 1 ms */

static void channel_named(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    char from[NODE_NAME_BYTES], to[NODE_NAME_BYTES], name[3 * NODE_NAME_BYTES];
    struct piece p;

    if (c->channel_named[r->channel])
        return;
    c->channel_named[r->channel] = true;
    snprintf(name, sizeof name, "%s to %s", node_name(r->node, from), node_name(r->how, to));
    event_meta_begin(&p, PROCESS_CHANNELS, r->channel, "thread_name", name);
    event_put(t, &p, ",'from':%u,'to':%u}", r->node, r->how);
}

void chrome_channel(struct trace *t, const struct trace_record *r)
{
    struct piece p;

    channel_named(t, r);
    if (!event_slice_begin(t, &p, PROCESS_CHANNELS, r->channel, r->since, r->cycles))
        return;
    piece_put(&p, ",'name':'%u: %lu','args':{'message':%lu", r->peer, r->bytes, r->number);
    if (r->asked < r->since) {
        piece_put(&p, ",'waited':");
        event_cycles(&p, r->since - r->asked);
    }
    event_put(t, &p, "}");
}

static uint32_t drive_of(const struct trace_record *r)
{
    return (r->node - NODE_IO_BASE) * DRIVE_MAX + (uint32_t)r->drive;
}

static void put_counter(struct trace *t, enum process process, uint64_t cycles, const char *what, const char *of,
                        const char *unit, const char *value)
{
    struct piece p;

    event_begin(&p, 'C', process, 0, cycles);
    event_put(t, &p, ",'name':'%s%s','args':{'%s':%s}", what, of, unit, value);
}

static const struct topo_drive *topo_drive_of(const struct trace *t, uint32_t drive)
{
    const struct topo_io_node *io = topo_io_node(t->options.topo, NODE_IO_BASE + drive / DRIVE_MAX);

    return &io->drive[drive % DRIVE_MAX];
}

static const char *volume_of(const struct trace *t, uint32_t drive)
{
    return topo_drive_of(t, drive)->volume;
}

void chrome_queue(struct trace *t, const struct trace_record *r)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, r->bytes);
    put_counter(t, PROCESS_DRIVES, r->cycles, "queue of ", volume_of(t, drive_of(r)), "commands", number);
}

static void drive_named(struct trace *t, uint32_t d)
{
    struct chrome *c = t->own;
    const struct topo_drive *drive = topo_drive_of(t, d);
    struct piece p;

    if (c->drive_named[d])
        return;
    c->drive_named[d] = true;
    event_meta_begin(&p, PROCESS_DRIVES, d + 1, "thread_name", drive->volume);
    piece_put(&p, ",'node':%u", NODE_IO_BASE + d / DRIVE_MAX);
    if (drive->model)
        piece_put(&p, ",'model':'%s'", drive->model);
    event_put(t, &p, "}");
}

void chrome_drive(struct trace *t, const struct trace_record *r)
{
    struct chrome *c = t->own;
    uint32_t d = drive_of(r);
    struct piece p;

    drive_named(t, d);
    c->drive[d].bytes += r->bytes * SECTOR_BYTES;
    if (event_slice_begin(t, &p, PROCESS_DRIVES, d + 1, r->since, r->cycles))
        event_put(t, &p, ",'name':'%s','args':{'sector':%lu,'sectors':%lu}", r->write ? "write" : "read", r->sector,
                  r->bytes);
}

/* ---- Rates ---- */

static void put_rate(struct trace *t, struct rate *rate, enum process process, uint64_t cycles, const char *what,
                     const char *of)
{
    char value[32];

    if (rate->bytes != rate->shown) {
        snprintf(value, sizeof value, "%.3f", (double)rate->bytes / 1e6 * CLOCK_HZ / COUNTER_CYCLES);
        put_counter(t, process, cycles, what, of, "MB/s", value);
    }
    rate->shown = rate->bytes;
    rate->bytes = 0;
}

static void put_rates(struct trace *t, uint64_t interval)
{
    struct chrome *c = t->own;
    uint64_t begin = interval * COUNTER_CYCLES;

    put_rate(t, &c->net, PROCESS_CHANNELS, begin, "arriving", "");
    for (uint32_t i = 0; i < t->options.topo->n_io; i++)
        for (uint32_t d = 0; d < t->options.topo->io[i].ndrives; d++) {
            uint32_t index = (t->options.topo->io[i].node - NODE_IO_BASE) * DRIVE_MAX + d;

            if (c->drive_named[index])
                put_rate(t, &c->drive[index], PROCESS_DRIVES, begin, "rate of ", volume_of(t, index));
        }
}

void chrome_pass_intervals(struct trace *t, uint64_t now_cycles)
{
    struct chrome *c = t->own;
    uint64_t interval = now_cycles / COUNTER_CYCLES;

    if (interval == c->interval)
        return;
    put_rates(t, c->interval);
    if (interval > c->interval + 1)
        put_rates(t, c->interval + 1);
    c->interval = interval;
}
