#include "emu/machine/beat.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/base/progress.h"
#include "emu/base/signals.h"
#include "emu/job/lives.h"
#include "emu/network/net.h"
#include "emu/state/heartbeat.h"

static uint64_t time_reached(const struct machine *m, const struct sched_view *v)
{
    uint64_t first = v->first_cycles < v->next_cycles ? v->first_cycles : v->next_cycles;

    return first == EVENTQ_NEVER || first < sched_now(m->sched) ? sched_now(m->sched) : first;
}

static int describe_first(const struct machine *m, const struct sched_view *v, char *text, size_t bytes)
{
    if (v->running == 0)
        return snprintf(text, bytes, "no node runs");
    return snprintf(text, bytes, "%u of %u nodes run, all wait for node %u at %.6f s", v->running, m->nodes,
                    ncu_address(m->ncu, v->first), (double)v->first_cycles / CLOCK_HZ);
}

static void describe_next(const struct sched_view *v, char *text, size_t bytes)
{
    if (v->next_cycles == EVENTQ_NEVER)
        snprintf(text, bytes, ", no event is due");
    else
        snprintf(text, bytes, ", next event at %.6f s", (double)v->next_cycles / CLOCK_HZ);
}

static uint64_t bytes_on_drives(const struct machine *m)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        for (uint32_t d = 0; d < m->config.topo.io[i].ndrives; d++) {
            const struct ncu_drive_statistics s =
                ncu_drive_statistics(m->ncu, (1u << m->config.topo.dim) + i, d, sched_now(m->sched));

            bytes += (s.commands.sectors_read + s.commands.sectors_written) * SECTOR_BYTES;
        }
    return bytes;
}

static void describe_stage(const struct machine *m, bool streams, char *text, size_t bytes)
{
    const struct job *j = front_first_job(m->front);
    uint32_t ended = j && j->loaded ? lives_exits(j->lives) : 0;

    if (streams)
        snprintf(text, bytes, "; waits for standard input or output");
    else if (!front_is_up(m->front))
        snprintf(text, bytes, "; mounts volumes");
    else if (ended > 0)
        snprintf(text, bytes, "; %u of %u nodes have ended", ended, j->nodes);
    else
        text[0] = '\0';
}

static void draw_progress(struct machine *m, uint64_t now_cycles, bool streams)
{
    struct net_statistics net = net_statistics(ncu_net(m->ncu));
    char stage[64];

    describe_stage(m, streams, stage, sizeof stage);
    progress_line("%.3f s, %.2f of real time; %" PRIu64 " messages, %.1f MB; drives %.1f MB%s",
                  (double)now_cycles / CLOCK_HZ, heartbeat_ratio(&m->heartbeat, now_cycles), net.messages,
                  (double)net.delivered_bytes / 1e6, (double)bytes_on_drives(m) / 1e6, stage);
}

void machine_beat(struct machine *m, bool streams)
{
    char text[256];

    if (!signals_take_beat())
        return;
    const struct sched_view v = sched_view(m->sched);
    if (m->options->progress && progress_has_terminal()) {
        draw_progress(m, time_reached(m, &v), streams);
        return;
    }
    int n = streams ? snprintf(text, sizeof text, "waits for the program's standard input or output, ") : 0;
    n += describe_first(m, &v, text + n, sizeof text - (size_t)n);
    describe_next(&v, text + n, sizeof text - (size_t)n);
    heartbeat_print(&m->heartbeat, time_reached(m, &v), text);
}
