/*
 * Statistics of a run. Each kind of part (node, channel, drive) has one table of columns, from which both the JSON and
 * the summary are made: a new number is added in one place.
 */
#include "emu/stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/stats/stats_calls.h"
#include "emu/stats/stats_table.h"
#include "emu/model/timing.h"
#include "vertex/contract/system.h"

/* ---- Columns and rows: a table for each kind of part, a row for each part ---- */

static const struct column node_columns[] = {
    {"user_cycles", "user", true},
    {"kernel_cycles", "kernel", true},
    {"idle_cycles", "idle", true},
    {"instructions", "instructions", false},
    {"traps", "traps", false},
    {"interrupts", "interrupts", false},
    /* from MESSAGES on: what nodes and the front end have in common */
    {"messages_sent", "messages sent", false},
    {"bytes_sent", "bytes sent", false},
    {"messages_received", "received", false},
    {"bytes_received", "bytes received", false},
    {"messages_held", "held in the net", false},
    {"copies", "copies", false},
    {"resends", "resends", false},
    {"failed_sends", "failed sends", false},
    {NULL, NULL, false},
};

#define MESSAGES 6

static const struct column channel_columns[] = {
    {"messages", "messages", false},
    {"busy_cycles", "busy", true},
    {"blocked_cycles", "blocked", true},
    {NULL, NULL, false},
};

static const struct column drive_columns[] = {
    {"reads", NULL, false},      {"writes", NULL, false},
    {"bytes_read", NULL, false}, {"bytes_written", NULL, false},
    {"seeks", NULL, false},      {"buffer_hits", NULL, false},
    {"busy_cycles", NULL, true}, {"queue_cycles", NULL, true},
    {"queue_max", NULL, false},  {NULL, NULL, false},
};

static const struct column manager_columns[] = {
    {"bytes_read", "bytes from servers", false},
    {"bytes_written", "bytes to servers", false},
    {"kb_most", "most KB held", false},
    {"evicted", "evicted", false},
    {"given", "given to others", false},
    {"received", "received", false},
    {"asked_back", "asked back", false},
    {"given_back", "given back", false},
    {NULL, NULL, false},
};

static const struct column pipe_columns[] = {
    {"messages", NULL, false},
    {"bytes", NULL, false},
    {"room_messages", NULL, false},
    {"waits_for_data", NULL, false},
    {"waits_for_room", NULL, false},
    {"waits_for_mapping", NULL, false},
    {NULL, NULL, false},
};

enum drive_column { READS, WRITES, BYTES_READ, BYTES_WRITTEN, SEEKS, BUFFER_HITS, BUSY, QUEUE, QUEUE_MAX };

/* In the order of the columns from MESSAGES on. */
static void put_messages(uint64_t *value, const struct ncu_node_statistics *m)
{
    const uint64_t values[] = {m->sent, m->sent_bytes, m->received, m->received_bytes,
                               m->held, m->copies,     m->damaged,  m->failed};

    memcpy(value, values, sizeof values);
}

static struct row row_of_node(const struct stats_source *s, uint32_t index)
{
    const struct sched_hart_statistics h = sched_hart_statistics(s->sched, index);
    const struct ncu_node_statistics m = ncu_node_statistics(s->ncu, index);
    struct row row = {{h.user_cycles, h.kernel_cycles, h.idle_cycles, h.instructions, h.traps, h.interrupts}};

    put_messages(row.value + MESSAGES, &m);
    return row;
}

static struct row row_of_channel(const struct stats_source *s, uint32_t channel)
{
    const struct net_channel_statistics c = net_channel_statistics(ncu_net(s->ncu), channel, sched_now(s->sched));

    return (struct row){{c.messages, c.busy_cycles, c.blocked_cycles}};
}

static struct row row_of_drive(const struct stats_source *s, uint32_t index, uint32_t drive)
{
    const struct ncu_drive_statistics d = ncu_drive_statistics(s->ncu, index, drive, sched_now(s->sched));

    return (struct row){{d.commands.reads, d.commands.writes, d.commands.sectors_read * SECTOR_BYTES,
                         d.commands.sectors_written * SECTOR_BYTES, d.commands.seeks, d.commands.buffer_hits,
                         d.busy_cycles, d.queue_cycles, d.queue_max}};
}

static struct row row_of_pipe(const struct stats_source *s, uint32_t pipe)
{
    const struct ncu_pipe_statistics p = ncu_pipe_statistics(s->ncu, pipe);

    return (struct row){{p.messages, p.bytes, p.rooms, p.waits_for_data, p.waits_for_room, p.waits_for_map}};
}

static struct row row_of_manager(const struct manager_counts *c)
{
    return (struct row){
        {c->read, c->written, c->kb_most, c->evicted, c->given, c->received, c->asked_back, c->given_back}};
}

/* Whether anything was sent through it. */
static bool pipe_was_used(const struct row *row)
{
    return row->value[0] > 0;
}

static uint32_t compute_nodes(const struct stats_source *s)
{
    return 1u << s->topo->dim;
}

/* A channel of an I/O node that is not wired also has an index, but does not exist. */
static bool channel_exists(const struct stats_source *s, uint32_t channel, uint32_t *from, uint32_t *to, uint32_t *out)
{
    uint32_t in;

    topo_channel_start(s->topo, channel, from, out);
    topo_channel_end(s->topo, channel, to, &in);
    return *from != TOPO_NONE && *to != TOPO_NONE;
}

static double virtual_seconds(const struct stats_source *s)
{
    return (double)sched_now(s->sched) / CLOCK_HZ;
}

/* ---- JSON ---- */

static void put_row(json_t *object, const struct column *column, const struct row *row)
{
    for (size_t k = 0; column[k].key; k++)
        json_object_set_new(object, column[k].key, json_integer((json_int_t)row->value[k]));
}

static void put_wait(json_t *node, const struct stats_source *s, uint32_t index)
{
    char text[256];

    if (s->stuck && ncu_describe_wait(s->ncu, index, text, sizeof text))
        json_object_set_new(node, "waits", json_string(text));
}

static json_t *json_of_sizes(const uint32_t sizes[DRIVE_CACHE_SIZES])
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < DRIVE_CACHE_SIZES; i++)
        json_array_append_new(array, json_integer(sizes[i]));
    return array;
}

static json_t *json_of_cache(const struct drive_cache_counts *c)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "requests", (json_int_t)c->requests, "hits",
                     (json_int_t)c->hits, "misses", (json_int_t)c->misses, "prefetched", (json_int_t)c->prefetched,
                     "unused", (json_int_t)c->unused, "waits", (json_int_t)c->waits, "waiting_most",
                     (json_int_t)c->waiting_most, "wait_cycles", (json_int_t)c->wait_cycles, "reads",
                     json_of_sizes(c->reads), "write_backs", json_of_sizes(c->write_backs));
}

static const struct manager_counts *manager_of(const struct stats_source *s, uint32_t index)
{
    return s->calls ? stats_calls_manager(s->calls, index) : NULL;
}

static json_t *json_of_manager(const struct manager_counts *c)
{
    const struct row row = row_of_manager(c);
    json_t *manager = json_pack("{s:o}", "data_cache", json_of_cache(&c->cache));

    put_row(manager, manager_columns, &row);
    return manager;
}

static json_t *json_of_nodes(const struct stats_source *s)
{
    json_t *nodes = json_array();

    for (uint32_t i = 0; i < s->nodes; i++) {
        const struct row row = row_of_node(s, i);
        json_t *node = json_pack("{s:i, s:s}", "node", (int)ncu_address(s->ncu, i), "kind",
                                 i < compute_nodes(s) ? "compute" : "io");

        put_row(node, node_columns, &row);
        put_wait(node, s, i);
        if (s->calls && stats_calls_waited(s->calls, i))
            json_object_set_new(node, "calls", stats_calls_json(s->calls, i));
        if (manager_of(s, i))
            json_object_set_new(node, "cache_manager", json_of_manager(manager_of(s, i)));
        json_array_append_new(nodes, node);
    }
    return nodes;
}

static json_t *json_of_front_end(const struct stats_source *s)
{
    const struct ncu_node_statistics m = ncu_host_statistics(s->ncu);
    json_t *front = json_object();
    struct row row = {0};

    put_messages(row.value, &m);
    put_row(front, node_columns + MESSAGES, &row);
    json_object_del(front, "messages_held"); /* the front end takes everything, */
    json_object_del(front, "copies");        /* and has no memory of a node */
    return front;
}

static json_t *json_of_channels(const struct stats_source *s)
{
    json_t *channels = json_array();

    for (uint32_t c = 0; c < topo_channels(s->topo); c++) {
        uint32_t from, to, out;

        if (!channel_exists(s, c, &from, &to, &out))
            continue;
        const struct row row = row_of_channel(s, c);
        json_t *channel = json_pack("{s:i, s:i, s:i}", "from", (int)from, "channel", (int)out, "to", (int)to);
        put_row(channel, channel_columns, &row);
        json_array_append_new(channels, channel);
    }
    return channels;
}

static json_t *json_of_drives(const struct stats_source *s)
{
    json_t *drives = json_array();

    for (uint32_t i = 0; i < s->topo->n_io; i++)
        for (uint32_t d = 0; d < s->topo->io[i].ndrives; d++) {
            const struct row row = row_of_drive(s, compute_nodes(s) + i, d);
            json_t *drive = json_pack("{s:i, s:i, s:s}", "node", (int)s->topo->io[i].node, "drive", (int)d, "volume",
                                      s->topo->io[i].drive[d].volume);

            put_row(drive, drive_columns, &row);
            json_object_set_new(drive, "queue_mean", json_real(stats_share(s, row.value[QUEUE])));
            json_object_set_new(drive, "utilisation", json_real(stats_share(s, row.value[BUSY])));
            struct drive_cache_counts cache;
            if (s->cache_counts(s->ctx, i, d, &cache))
                json_object_set_new(drive, "data_cache", json_of_cache(&cache));
            json_array_append_new(drives, drive);
        }
    return drives;
}

static json_t *json_of_pipes(const struct stats_source *s)
{
    json_t *pipes = json_array();

    for (uint32_t i = 0; i < PIPES_MAX; i++) {
        const struct row row = row_of_pipe(s, i);

        if (!pipe_was_used(&row))
            continue;
        json_t *pipe = json_pack("{s:i}", "pipe", (int)i);
        put_row(pipe, pipe_columns, &row);
        json_array_append_new(pipes, pipe);
    }
    return pipes;
}

/* The rows of stated costs that were too low, by name. */
static json_t *json_of_excess(const struct stats_source *s)
{
    json_t *rows = json_object();

    for (uint32_t row = 0; row < STATED_ROWS; row++) {
        const struct stated_excess excess = ncu_stated_excess(s->ncu, row);

        if (excess.count > 0)
            json_object_set_new(rows, software_stated[row].name,
                                json_pack("{s:I, s:I}", "count", (json_int_t)excess.count, "most_cycles",
                                          (json_int_t)excess.most_cycles));
    }
    return rows;
}

static json_t *json_of_host(const struct stats_source *s)
{
    const struct sched_statistics *c = sched_statistics(s->sched);

    return json_pack("{s:f, s:f, s:f, s:i, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "start_seconds",
                     s->start_seconds, "run_seconds", s->run_seconds, "virtual_per_host",
                     stats_ratio(virtual_seconds(s), s->run_seconds), "cabinets", (int)s->cabinets, "processors",
                     (int)s->processors, "harts", s->harts, "grants", (json_int_t)c->grants, "windows",
                     (json_int_t)c->windows, "waits", (json_int_t)c->waits, "grants_ahead", (json_int_t)c->ahead,
                     "ahead_cycles", (json_int_t)c->ahead_cycles, "polls_skipped", (json_int_t)c->polls_skipped,
                     "code_flushes", (int)s->flushes);
}

static json_t *json_of_all(const struct stats_source *s)
{
    const struct sched_statistics *c = sched_statistics(s->sched);

    return json_pack("{s:i, s:i, s:I, s:f, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "version", 1, "clock_hz",
                     (int)CLOCK_HZ, "virtual_cycles", (json_int_t)sched_now(s->sched), "virtual_seconds",
                     virtual_seconds(s), "events", (json_int_t)c->events, "requests", (json_int_t)c->requests, "nodes",
                     json_of_nodes(s), "front_end", json_of_front_end(s), "channels", json_of_channels(s), "drives",
                     json_of_drives(s), "pipes", json_of_pipes(s), "excess", json_of_excess(s), "host",
                     json_of_host(s));
}

int stats_write(FILE *to, const struct stats_source *source)
{
    json_t *all = json_of_all(source);
    int result = -1;

    errno = ENOMEM;
    if (all)
        result = json_dumpf(all, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', to) != EOF ? 0 : -1;
    json_decref(all);
    return result;
}

/* ---- The summary ---- */

static void print_nodes(FILE *to, const struct stats_source *s, const char *title, uint32_t first, uint32_t count)
{
    struct row *row;
    struct part p = stats_part_new(node_columns, &row, count);

    for (p.count = 0; p.count < count; p.count++) {
        row[p.count] = row_of_node(s, first + p.count);
        snprintf(p.name[p.count], sizeof *p.name, "%u", ncu_address(s->ncu, first + p.count));
    }
    stats_print_part(to, s, title, &p);
    stats_part_free(&p, row);
}

static void print_channels(FILE *to, const struct stats_source *s)
{
    struct row *row;
    struct part p = stats_part_new(channel_columns, &row, topo_channels(s->topo));

    for (uint32_t c = 0; c < topo_channels(s->topo); c++) {
        uint32_t from, end, out;

        if (!channel_exists(s, c, &from, &end, &out))
            continue;
        row[p.count] = row_of_channel(s, c);
        snprintf(p.name[p.count++], sizeof *p.name, "%u->%u", from, end);
    }
    stats_print_part(to, s, "channels", &p);
    stats_part_free(&p, row);
}

static void print_drive(FILE *to, const struct stats_source *s, const char *volume, const struct row *row)
{
    const uint64_t *v = row->value;

    fprintf(to, "  %-16s%9" PRIu64 "%9" PRIu64 "%12.1f%12.1f%9" PRIu64 "%9" PRIu64 "%9.1f %%%9.2f%7" PRIu64 "\n",
            volume, v[READS], v[WRITES], (double)v[BYTES_READ] / 1024, (double)v[BYTES_WRITTEN] / 1024, v[SEEKS],
            v[BUFFER_HITS], 100 * stats_share(s, v[BUSY]), stats_share(s, v[QUEUE]), v[QUEUE_MAX]);
}

static void print_drives(FILE *to, const struct stats_source *s)
{
    if (s->topo->n_io > 0)
        fprintf(to, "%-18s%9s%9s%12s%12s%9s%9s%11s%9s%7s\n", "drives", "reads", "writes", "KB read", "KB written",
                "seeks", "hits", "busy", "queue", "most");
    for (uint32_t i = 0; i < s->topo->n_io; i++)
        for (uint32_t d = 0; d < s->topo->io[i].ndrives; d++) {
            const struct row row = row_of_drive(s, compute_nodes(s) + i, d);

            print_drive(to, s, s->topo->io[i].drive[d].volume, &row);
        }
}

static void print_sizes(FILE *to, const uint32_t sizes[DRIVE_CACHE_SIZES])
{
    for (uint32_t i = 0; i < DRIVE_CACHE_SIZES; i++)
        fprintf(to, "%8" PRIu32, sizes[i]);
    fputc('\n', to);
}

static void print_cache(FILE *to, const char *volume, const struct drive_cache_counts *c)
{
    fprintf(to, "  %-16s%9" PRIu32 "%9" PRIu32 "%9" PRIu32 "%12" PRIu32 "%9" PRIu32 "%9" PRIu32 "%8.3f\n", volume,
            c->requests, c->hits, c->misses, c->prefetched, c->unused, c->waits, (double)c->wait_cycles / CLOCK_HZ);
    fprintf(to, "%-26s", "    reads");
    print_sizes(to, c->reads);
    fprintf(to, "%-26s", "    write-backs");
    print_sizes(to, c->write_backs);
}

static void print_cache_heading(FILE *to)
{
    fprintf(to, "%-18s%9s%9s%9s%12s%9s%9s%8s\n%-26s%8s%8s%8s%8s%8s%8s\n", "data caches", "requests", "hits", "misses",
            "prefetched", "unused", "waits", "s", "    blocks in a command", "1", "2-3", "4-7", "8-15", "16-31", "32-");
}

static void print_caches(FILE *to, const struct stats_source *s)
{
    bool any = false;

    for (uint32_t i = 0; i < s->topo->n_io; i++)
        for (uint32_t d = 0; d < s->topo->io[i].ndrives; d++) {
            struct drive_cache_counts c;
            bool counted = s->cache_counts(s->ctx, i, d, &c);

            if (counted && !any)
                print_cache_heading(to);
            any = any || counted;
            if (counted)
                print_cache(to, s->topo->io[i].drive[d].volume, &c);
        }
}

/* Their caches as those of drives, and what they have had from each other. */
static void print_managers(FILE *to, const struct stats_source *s)
{
    struct row *row;
    struct part p = stats_part_new(manager_columns, &row, s->nodes);

    for (uint32_t i = 0; i < s->nodes; i++) {
        const struct manager_counts *c = manager_of(s, i);

        if (!c)
            continue;
        if (p.count == 0)
            print_cache_heading(to);
        row[p.count] = row_of_manager(c);
        snprintf(p.name[p.count], sizeof *p.name, "node %u", ncu_address(s->ncu, i));
        print_cache(to, p.name[p.count++], &c->cache);
    }
    stats_print_part(to, s, "cache managers", &p);
    stats_part_free(&p, row);
}

static void print_pipes(FILE *to, const struct stats_source *s)
{
    bool any = false;

    for (uint32_t i = 0; i < PIPES_MAX; i++) {
        const struct row row = row_of_pipe(s, i);
        const uint64_t *v = row.value;

        if (!pipe_was_used(&row))
            continue;
        if (!any)
            fprintf(to, "%-18s%9s%12s%9s%18s%18s%18s\n", "pipes", "messages", "KB", "rooms", "waits for data",
                    "waits for room", "for a mapping");
        any = true;
        fprintf(to, "  %-16u%9" PRIu64 "%12.1f%9" PRIu64 "%18" PRIu64 "%18" PRIu64 "%18" PRIu64 "\n", i, v[0],
                (double)v[1] / 1024, v[2], v[3], v[4], v[5]);
    }
}

static void print_excess(FILE *to, const struct stats_source *s)
{
    bool any = false;

    for (uint32_t row = 0; row < STATED_ROWS; row++) {
        const struct stated_excess excess = ncu_stated_excess(s->ncu, row);

        if (excess.count > 0 && !any)
            fprintf(to, "%-24s%9s%12s\n", "beyond stated costs", "times", "most, us");
        any = any || excess.count > 0;
        if (excess.count > 0)
            fprintf(to, "  %-22s%9u%12.2f\n", software_stated[row].name, excess.count,
                    (double)excess.most_cycles / CYCLES_PER_US);
    }
}

static void print_host(FILE *to, const struct stats_source *s)
{
    const struct sched_statistics *c = sched_statistics(s->sched);

    fprintf(to,
            "on this host: %.2f s to start, %.2f s to run (virtual time / that: %.3f); %" PRIu64 " grants in %" PRIu64
            " windows, %" PRIu64 " waits; %" PRIu64 " grants got past the bound, by %.0f us on average\n",
            s->start_seconds, s->run_seconds, stats_ratio(virtual_seconds(s), s->run_seconds), c->grants, c->windows,
            c->waits, c->ahead, stats_ratio((double)c->ahead_cycles / CYCLES_PER_US, (double)c->ahead));
}

void stats_print(FILE *to, const struct stats_source *source)
{
    const struct sched_statistics *c = sched_statistics(source->sched);
    uint32_t compute = compute_nodes(source);

    fprintf(to, "virtual time %.6f s (%" PRIu64 " cycles), %" PRIu64 " events, %" PRIu64 " requests\n",
            virtual_seconds(source), sched_now(source->sched), c->events, c->requests);
    print_nodes(to, source, "compute nodes", 0, compute);
    print_nodes(to, source, "I/O nodes", compute, source->nodes - compute);
    if (source->calls)
        stats_calls_print(to, source);
    print_channels(to, source);
    print_drives(to, source);
    print_caches(to, source);
    print_managers(to, source);
    print_pipes(to, source);
    print_excess(to, source);
    print_host(to, source);
}
