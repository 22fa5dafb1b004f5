#include "emu/model/fault_plan.h"

#include <stdlib.h>

#include "emu/base/memory.h"

struct fault_event {
    struct fault_plan *plan;
    const struct fault *fault;
    bool dies;
};

struct fault_plan {
    const struct topo *topo;
    struct net *net;
    struct trace *trace;
    const struct fault *fault;
    uint32_t faults;
    struct fault_event *event; /* [2 * faults] */
    uint64_t *passed;          /* messages that have taken each channel; NULL: no parity errors in this machine */
    uint64_t *damaged;         /* how many of these were damaged */
    void (*recovered)(void *ctx, uint64_t now_cycles); /* or NULL */
    void *ctx;
};

/* ---- Parity ---- */

int fault_plan_draw(struct fault_plan *p, uint32_t channel, uint64_t bytes, uint64_t now_cycles)
{
    if (!p->passed)
        return NCU_OK;
    uint64_t number = p->passed[channel]++;
    for (uint32_t i = 0; i < p->faults; i++) {
        const struct fault *f = &p->fault[i];

        if (fault_is_noise_of(f, p->topo, channel) && fault_is_active(f, now_cycles) &&
            fault_damages(f, channel, number, bytes + topo_times(p->topo).header_bytes)) {
            p->damaged[channel]++;
            return NCU_EPARITY;
        }
    }
    return NCU_OK;
}

bool fault_plan_noisiest(const struct fault_plan *p, struct fault_noise *noise)
{
    uint32_t channels = p->passed ? topo_channels(p->topo) : 0;

    *noise = (struct fault_noise){0};
    for (uint32_t c = 0; c < channels; c++)
        if (p->damaged[c] > noise->damaged)
            *noise = (struct fault_noise){c, p->damaged[c], p->passed[c]};
    return noise->damaged > 0;
}

/* ---- Death and recovery ---- */

static void change_channels(struct fault_plan *p, const struct fault_event *e, uint64_t now_cycles)
{
    uint32_t channel[FAULT_CHANNELS_MAX];
    uint32_t count = fault_channels(p->topo, e->fault, channel);

    trace_write(p->trace, &(struct trace_record){.kind = e->fault->kind == FAULT_NODE ? TRACE_NODE : TRACE_LINK,
                                                 .node = e->fault->node,
                                                 .cycles = now_cycles,
                                                 .dies = e->dies});
    for (uint32_t i = 0; i < count; i++) {
        if (e->dies)
            net_kill_channel(p->net, channel[i], now_cycles);
        else
            net_revive_channel(p->net, channel[i]);
    }
}

static void fault_due(void *arg, uint64_t now_cycles)
{
    const struct fault_event *e = arg;
    struct fault_plan *p = e->plan;

    if (e->fault->kind != FAULT_PARITY)
        change_channels(p, e, now_cycles);
    if (!e->dies && p->recovered)
        p->recovered(p->ctx, now_cycles);
}

static void schedule(struct fault_plan *p, struct eventq *queue, const struct fault *f, bool dies,
                     struct fault_event *e)
{
    *e = (struct fault_event){p, f, dies};
    eventq_add(queue, dies ? f->from_cycles : f->until_cycles, NET_ORDER_FAULT, fault_due, e);
}

struct fault_plan *fault_plan_new(const struct topo *topo, struct eventq *queue, struct net *net, struct trace *trace,
                                  const struct fault *fault, uint32_t n)
{
    struct fault_plan *p = memory_new(1, sizeof *p);

    *p = (struct fault_plan){.topo = topo, .net = net, .trace = trace, .fault = fault, .faults = n};
    p->event = memory_new(2 * n, sizeof *p->event);
    for (uint32_t i = 0; i < n; i++) {
        const struct fault *f = &fault[i];

        if (f->kind == FAULT_PARITY && !p->passed) {
            p->passed = memory_new(topo_channels(topo), sizeof *p->passed);
            p->damaged = memory_new(topo_channels(topo), sizeof *p->damaged);
        }
        if (f->kind == FAULT_DRIVE)
            continue;
        if (f->kind != FAULT_PARITY)
            schedule(p, queue, f, true, &p->event[2 * i]);
        if (f->until_cycles != FAULT_NEVER)
            schedule(p, queue, f, false, &p->event[2 * i + 1]);
    }
    return p;
}

void fault_plan_on_recovery(struct fault_plan *p, void (*recovered)(void *ctx, uint64_t now_cycles), void *ctx)
{
    p->recovered = recovered;
    p->ctx = ctx;
}

void fault_plan_free(struct fault_plan *p)
{
    free(p->event);
    free(p->passed);
    free(p->damaged);
    free(p);
}
