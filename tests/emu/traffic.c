/* Permutations and random load for the bare network (traffic.h). */
#include "tests/emu/traffic.h"

#include <assert.h>
#include <stdlib.h>

#include "emu/network/net.h"
#include "tests/emu/machines.h"

/* ---- Patterns ---- */

static uint32_t complement(uint32_t node, uint32_t dim)
{
    return node ^ ((1u << dim) - 1);
}

static uint32_t reversal(uint32_t node, uint32_t dim)
{
    uint32_t reversed = 0;

    for (uint32_t d = 0; d < dim; d++)
        reversed |= (node >> d & 1) << (dim - 1 - d);
    return reversed;
}

static uint32_t gather(uint32_t node, uint32_t dim)
{
    (void)node, (void)dim;
    return 0;
}

/* Nodes as a square of rows and columns. */
static uint32_t transpose(uint32_t node, uint32_t dim)
{
    uint32_t half = dim / 2;

    return node >> half | (node & ((1u << half) - 1)) << half;
}

const struct traffic_pattern traffic_pattern[TRAFFIC_KINDS] = {
    [TRAFFIC_COMPLEMENT] = {"bit complement", complement},
    [TRAFFIC_REVERSAL] = {"bit reversal", reversal},
    [TRAFFIC_GATHER] = {"gather to node 0", gather},
    [TRAFFIC_TRANSPOSE] = {"transpose", transpose},
};

/* ---- One message per node ---- */

static bool on_header(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    (void)ctx, (void)m, (void)now_cycles;
    return true;
}

static void on_makespan_done(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    (void)m;
    *(uint64_t *)ctx = now_cycles;
}

uint64_t traffic_makespan(enum traffic_kind kind, uint32_t dim, uint64_t bytes)
{
    static const struct net_ops ops = {.header = on_header, .done = on_makespan_done};
    uint64_t makespan = 0;
    struct topo topo = sandia_machine(dim, 0);
    struct eventq *queue = eventq_new();
    struct net *net = net_new(&topo, queue, &ops, &makespan);

    for (uint32_t node = 0; node < 1u << dim; node++) {
        uint32_t to = traffic_pattern[kind].destination(node, dim);

        if (to != node)
            net_send(net, 0, node, to, NCU_VIA_NEAREST, bytes, 0, 0, NULL);
    }
    while (eventq_next(queue) != EVENTQ_NEVER)
        eventq_run_one(queue);
    assert(net_in_flight(net) == 0);
    net_free(net);
    eventq_free(queue);
    topo_free(&topo);
    return makespan;
}

double traffic_slope(enum traffic_kind kind, uint32_t dim)
{
    const uint64_t bytes = 65536;
    uint64_t low = traffic_makespan(kind, dim, bytes), high = traffic_makespan(kind, dim, 2 * bytes);

    return (double)(high - low) / (double)(9 * bytes);
}

uint32_t traffic_busiest_channel(enum traffic_kind kind, uint32_t dim)
{
    struct topo topo = sandia_machine(dim, 0);
    uint32_t *uses = calloc(topo_channels(&topo), sizeof *uses), route[TOPO_ROUTE_MAX], in_channel, most = 0;

    for (uint32_t node = 0; node < 1u << dim; node++) {
        int hops =
            topo_route(&topo, node, traffic_pattern[kind].destination(node, dim), NCU_VIA_NEAREST, route, &in_channel);

        for (int i = 0; i < hops; i++)
            most = ++uses[route[i]] > most ? uses[route[i]] : most;
    }
    free(uses);
    topo_free(&topo);
    return most;
}

/* ---- Random load ---- */

struct load {
    struct topo topo;
    struct eventq *queue;
    struct net *net;
    uint64_t random; /* state of splitmix64 */
    uint64_t unsent, most_bytes;
    uint32_t *expected; /* by node: destination of its message under way */
    struct traffic_result result;
};

static uint64_t next_random(struct load *l)
{
    uint64_t z = l->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void send_next(struct load *l, uint32_t node, uint64_t now_cycles)
{
    if (l->unsent == 0)
        return;
    l->unsent--;
    l->expected[node] = (uint32_t)next_random(l) & ((1u << l->topo.dim) - 1);
    net_send(l->net, now_cycles, node, l->expected[node], NCU_VIA_NEAREST, next_random(l) % (l->most_bytes + 1), 0, 0,
             NULL);
}

static void on_random_done(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct load *l = ctx;

    assert(m->to == l->expected[m->from] && m->status == NCU_OK);
    l->result.delivered++;
    l->result.cycles = now_cycles;
    l->result.digest = (l->result.digest ^ now_cycles ^ m->from) * 0x100000001b3u;
    send_next(l, m->from, now_cycles);
}

struct traffic_result traffic_random(uint32_t dim, uint64_t messages, uint64_t most_bytes, uint64_t seed)
{
    static const struct net_ops ops = {.header = on_header, .done = on_random_done};
    struct load l = {
        .topo = sandia_machine(dim, 0),
        .queue = eventq_new(),
        .random = seed,
        .unsent = messages,
        .most_bytes = most_bytes,
    };

    l.net = net_new(&l.topo, l.queue, &ops, &l);
    l.expected = calloc(1u << dim, sizeof *l.expected);
    for (uint32_t node = 0; node < 1u << dim; node++)
        send_next(&l, node, 0);
    while (eventq_next(l.queue) != EVENTQ_NEVER)
        eventq_run_one(l.queue);
    net_check(l.net);
    l.result.hops = net_statistics(l.net).hops;
    free(l.expected);
    net_free(l.net);
    eventq_free(l.queue);
    topo_free(&l.topo);
    return l.result;
}
