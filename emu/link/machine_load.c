#include "emu/link/machine_load.h"

#include <stdlib.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/link/machine_report.h"
#include "emu/state/caches.h"

#define HEAD_BYTES 1024u /* of an object without rows, at most */

struct writer {
    json_t *load;
    size_t room;
};

static void add_row(struct writer *w, const char *list, json_t *row)
{
    report_fit(w->load, list, row, &w->room);
}

static void count_state(json_t *states, const char *state)
{
    json_t *n = json_object_get(states, state);

    json_object_set_new(states, state, json_integer(json_integer_value(n) + 1));
}

static void add_nodes(struct writer *w, const struct machine *m)
{
    json_t *states = json_object_get(w->load, "states");

    for (uint32_t i = 0; i < m->nodes; i++) {
        const struct sched_hart_statistics h = sched_hart_statistics(m->sched, i);
        const char *wait = ncu_wait_word(m->ncu, i), *state = wait ? wait : "runs";

        count_state(states, state);
        add_row(w, "nodes",
                json_pack("[i, s, I, I, I]", (int)machine_address_of(m, i), state, (json_int_t)h.user_cycles,
                          (json_int_t)h.kernel_cycles, (json_int_t)h.idle_cycles));
    }
}

static void add_drives(struct writer *w, const struct machine *m)
{
    const struct topo *t = &m->config.topo;

    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++) {
            uint32_t index = (1u << t->dim) + j;
            const struct ncu_drive_statistics s = ncu_drive_statistics(m->ncu, index, d, sched_now(m->sched));
            uint64_t sectors = s.commands.sectors_read + s.commands.sectors_written;

            add_row(w, "drives",
                    json_pack("[s, I, I, I, I, I]", t->io[j].drive[d].volume,
                              (json_int_t)ncu_drive_queue(m->ncu, index, d),
                              (json_int_t)(s.commands.reads + s.commands.writes), (json_int_t)(sectors * SECTOR_BYTES),
                              (json_int_t)s.busy_cycles, (json_int_t)s.queue_cycles));
        }
}

static void append_sizes(json_t *row, const uint32_t sizes[DRIVE_CACHE_SIZES])
{
    for (uint32_t i = 0; i < DRIVE_CACHE_SIZES; i++)
        json_array_append_new(row, json_integer(sizes[i]));
}

static void add_caches(struct writer *w, struct machine *m)
{
    const struct topo *t = &m->config.topo;
    struct drive_cache_counts c;

    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++) {
            if (!caches_count(m, j, d, &c))
                continue;
            json_t *row = json_pack("[s, I, I, I, I, I, I, I]", t->io[j].drive[d].volume, (json_int_t)c.requests,
                                    (json_int_t)c.hits, (json_int_t)c.misses, (json_int_t)c.prefetched,
                                    (json_int_t)c.unused, (json_int_t)c.waits, (json_int_t)c.wait_cycles);
            append_sizes(row, c.reads);
            append_sizes(row, c.write_backs);
            add_row(w, "caches", row);
        }
}

struct busy {
    uint32_t channel;
    struct net_channel_statistics statistics;
};

static int busiest_first(const void *a, const void *b)
{
    const struct busy *x = a, *y = b;

    return order(y->statistics.busy_cycles, x->statistics.busy_cycles) ?: order(x->channel, y->channel);
}

static void add_channels(struct writer *w, const struct machine *m)
{
    const struct topo *t = &m->config.topo;
    struct busy *busy = memory_new(topo_channels(t), sizeof *busy);
    uint32_t n = 0;

    for (uint32_t c = 0; c < topo_channels(t); c++) {
        busy[n] = (struct busy){c, net_channel_statistics(ncu_net(m->ncu), c, sched_now(m->sched))};
        n += busy[n].statistics.messages > 0 || busy[n].statistics.blocked_cycles > 0;
    }
    qsort(busy, n, sizeof *busy, busiest_first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from, to, number;

        topo_channel_start(t, busy[i].channel, &from, &number);
        topo_channel_end(t, busy[i].channel, &to, &number);
        add_row(w, "channels",
                json_pack("[i, i, I, I, I]", (int)from, (int)to, (json_int_t)busy[i].statistics.messages,
                          (json_int_t)busy[i].statistics.busy_cycles, (json_int_t)busy[i].statistics.blocked_cycles));
    }
    free(busy);
}

json_t *machine_load(struct machine *m, size_t room)
{
    struct writer w = {.room = room > HEAD_BYTES ? room - HEAD_BYTES : 0};

    w.load = json_pack("{s:I, s:f, s:{}, s:[], s:[], s:[], s:[], s:i}", "cycles", (json_int_t)sched_now(m->sched),
                       "host_s", host_seconds(m->build_begun_ns, host_ns(CLOCK_MONOTONIC)), "states", "nodes",
                       "channels", "drives", "caches", "left_out", 0);
    if (!w.load)
        return NULL;
    add_drives(&w, m);
    add_caches(&w, m);
    size_t half = w.room / 2; /* a large machine has more nodes, and more channels, than fit */
    w.room -= half;
    add_nodes(&w, m);
    w.room += half;
    add_channels(&w, m);
    return w.load;
}
