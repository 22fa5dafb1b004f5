/*
 * The network in virtual time.
 *
 * A message under way is a worm: it has the channels route[freed .. taken - 1], and exactly one event is queued for it,
 * unless it waits for another worm or for a receive.
 *
 *     ASKING --> CROSSING --> ... --> ARRIVED --> DRAINING --> DONE
 *       |  ^     45 cycles    last      72 cycles    tail frees the channels
 *       v  |     per channel            |  ^         one by one
 *     WAITING                           v  |
 *     (another worm has the channel)   HELD (no receive is armed)
 *
 *     ASKING, CROSSING or WAITING --(the channel it wants is dead)--> RETREATING, 45 cycles per channel it has --> DONE
 *
 * A channel has an owner, or is free, and has a queue of the worms that wait for it. A free channel is taken at once; a
 * channel that is freed goes at once to the head of its queue. Since a worm asks in an event, the queue is in the order
 * of events: first come, first served, and in one cycle by the number of the channel on which the header came (net.h,
 * "Order").
 *
 * The work per message depends on its hops, not on its bytes.
 */
#include "emu/network/net.h"
#include "emu/base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/queue.h>

enum phase { PHASE_FAULT, PHASE_FREE, PHASE_ASK, PHASE_HEADER, PHASE_DONE };

enum worm_state { ASKING, WAITING, CROSSING, ARRIVED, HELD, DRAINING, RETREATING };

struct worm {
    struct net_message m; /* must be first: net_accept casts back from it */
    struct net *net;
    STAILQ_ENTRY(worm) queued; /* in channel.waiting */
    LIST_ENTRY(worm) listed;   /* in net.worms */
    uint64_t event;            /* id of this worm's event, 0: none */
    uint64_t accepted_cycles;
    uint64_t asked_cycles; /* when the header asked for the channel it waits for, or for the last one that it took */
    enum worm_state state;
    uint32_t at, at_channel; /* where the header is: the node, and its channel by which it came */
    uint32_t taken, freed;   /* numbers of channels of the route */
    uint32_t route[TOPO_ROUTE_MAX];
};

struct channel {
    uint32_t dead; /* number of faults that keep it dead */
    struct worm *owner;
    STAILQ_HEAD(, worm) waiting;
    uint64_t asked_cycles, taken_cycles;      /* when its owner asked for it, and took it */
    struct net_channel_statistics statistics; /* of what has ended */
};

struct net {
    const struct topo *topo;
    struct channel_times times;
    struct eventq *queue;
    const struct net_ops *ops;
    void *ctx;
    struct channel *channel; /* [topo_channels(topo)] */
    LIST_HEAD(, worm) worms; /* all that are under way */
    uint32_t in_flight;
    uint64_t now_cycles; /* of the last event */
    struct net_statistics statistics;
};

struct net *net_new(const struct topo *topo, struct eventq *queue, const struct net_ops *ops, void *ctx)
{
    struct net *n = memory_new(1, sizeof *n);

    *n = (struct net){.topo = topo, .times = topo_times(topo), .queue = queue, .ops = ops, .ctx = ctx};
    n->channel = memory_new(topo_channels(topo), sizeof *n->channel);
    for (uint32_t c = 0; c < topo_channels(topo); c++)
        STAILQ_INIT(&n->channel[c].waiting);
    return n;
}

/* ---- Worms -------------------------------------------------------------------------------- */

static struct worm *worm_new(struct net *n)
{
    struct worm *w = memory_new(1, sizeof *w);

    w->net = n;
    LIST_INSERT_HEAD(&n->worms, w, listed);
    n->in_flight++;
    return w;
}

static void worm_free(struct worm *w)
{
    struct net *n = w->net;

    if (w->event)
        eventq_cancel(n->queue, w->event);
    LIST_REMOVE(w, listed);
    n->in_flight--;
    free(w);
}

void net_free(struct net *n)
{
    if (!n)
        return;
    while (!LIST_EMPTY(&n->worms))
        worm_free(LIST_FIRST(&n->worms));
    free(n->channel);
    free(n);
}

/* ---- Events ------------------------------------------------------------------------------- */

static void worm_run(void *arg, uint64_t now_cycles);

static uint32_t order_of(enum phase phase, uint32_t node, uint32_t channel)
{
    return (uint32_t)phase << 20 | channel << 16 | node;
}

static void schedule(struct worm *w, uint64_t at_cycles, enum phase phase, uint32_t node, uint32_t channel)
{
    assert(!w->event);
    w->event = eventq_add(w->net->queue, at_cycles, order_of(phase, node, channel), worm_run, w);
}

/* Returns the time at which the tail leaves the first channel that the worm has. */
static uint64_t next_free_cycles(const struct worm *w)
{
    uint64_t tail = w->m.done_cycles - w->net->times.hop_cycles * (uint64_t)(w->m.hops - w->freed - 1);

    return tail > w->accepted_cycles ? tail : w->accepted_cycles;
}

static void schedule_tail(struct worm *w)
{
    uint32_t node = w->m.to, channel = w->m.in_channel;

    if (w->freed == w->m.hops) {
        schedule(w, w->m.done_cycles, PHASE_DONE, node, channel);
        return;
    }
    topo_channel_end(w->net->topo, w->route[w->freed], &node, &channel);
    schedule(w, next_free_cycles(w), PHASE_FREE, node, channel);
}

/* ---- Taking and freeing channels ---------------------------------------------------------- */

static void take_channel(struct worm *w, uint64_t now_cycles)
{
    uint32_t index = w->route[w->taken];
    struct channel *c = &w->net->channel[index];

    assert(!c->owner);
    c->owner = w;
    c->asked_cycles = w->asked_cycles;
    c->taken_cycles = now_cycles;
    c->statistics.messages++;
    w->taken++;
    w->state = CROSSING;
    if (w->net->ops->fault && w->m.status == NCU_OK)
        w->m.status = w->net->ops->fault(w->net->ctx, &w->m, index, now_cycles);
    topo_channel_end(w->net->topo, index, &w->at, &w->at_channel);
    schedule(w, now_cycles + w->net->times.hop_cycles, PHASE_ASK, w->at, w->at_channel);
}

static void wait_for_channel(struct worm *w)
{
    struct channel *c = &w->net->channel[w->route[w->taken]];

    w->state = WAITING;
    STAILQ_INSERT_TAIL(&c->waiting, w, queued);
}

/* Schedules a retreat: the header gives up its last channel in the time of a hop. Without channels the message is
 * done. */
static void schedule_retreat(struct worm *w, uint64_t now_cycles)
{
    uint32_t node = w->m.from, channel = TOPO_SELF_CHANNEL;

    w->state = RETREATING;
    if (w->taken == 0) {
        schedule(w, now_cycles, PHASE_DONE, node, channel);
        return;
    }
    topo_channel_end(w->net->topo, w->route[w->taken - 1], &node, &channel);
    schedule(w, now_cycles + w->net->times.hop_cycles, PHASE_FREE, node, channel);
}

static uint64_t header_cycles(const struct worm *w)
{
    return w->net->times.byte_cycles * w->net->times.header_bytes;
}

/* The sender learns of a dead channel by a message of a header's length. With the hop at least that the header took to
 * get here, no node learns of it within the lookahead of the request that let the header go on. */
static void turn_back(struct worm *w, uint64_t now_cycles)
{
    w->m.status = NCU_ELINK;
    schedule_retreat(w, now_cycles + header_cycles(w));
}

static void ask_for_channel(struct worm *w, uint64_t now_cycles)
{
    const struct channel *c = &w->net->channel[w->route[w->taken]];

    w->asked_cycles = now_cycles;
    if (c->dead)
        turn_back(w, now_cycles);
    else if (c->owner)
        wait_for_channel(w);
    else
        take_channel(w, now_cycles);
}

static void release(struct worm *w, uint32_t k, uint64_t now_cycles)
{
    struct channel *c = &w->net->channel[w->route[k]];

    assert(c->owner == w && k >= w->freed && k < w->taken);
    c->owner = NULL;
    c->statistics.busy_cycles += now_cycles - c->taken_cycles;
    if (w->net->ops->freed)
        w->net->ops->freed(w->net->ctx, &w->m, &(struct net_use){w->route[k], c->asked_cycles, c->taken_cycles},
                           now_cycles);
    struct worm *heir = STAILQ_FIRST(&c->waiting);
    if (!heir)
        return;
    assert(heir->state == WAITING);
    STAILQ_REMOVE_HEAD(&c->waiting, queued);
    c->statistics.blocked_cycles += now_cycles - heir->asked_cycles;
    take_channel(heir, now_cycles);
}

static void free_channel(struct worm *w, uint64_t now_cycles)
{
    release(w, w->freed, now_cycles);
    w->freed++;
}

/* ---- Dead channels ------------------------------------------------------------------------ */

void net_kill_channel(struct net *n, uint32_t channel, uint64_t now_cycles)
{
    struct channel *c = &n->channel[channel];

    c->dead++;
    if (c->owner && c->owner->m.status == NCU_OK)
        c->owner->m.status = NCU_EPARITY;
    for (struct worm *w; (w = STAILQ_FIRST(&c->waiting));) {
        STAILQ_REMOVE_HEAD(&c->waiting, queued);
        c->statistics.blocked_cycles += now_cycles - w->asked_cycles;
        turn_back(w, now_cycles);
    }
}

void net_revive_channel(struct net *n, uint32_t channel)
{
    assert(n->channel[channel].dead > 0);
    n->channel[channel].dead--;
}

/* ---- The stages of a message -------------------------------------------------------------- */

static void arrive(struct worm *w, uint64_t now_cycles)
{
    assert(w->taken == w->m.hops);
    w->state = ARRIVED;
    w->m.header_cycles = now_cycles + header_cycles(w);
    schedule(w, w->m.header_cycles, PHASE_HEADER, w->m.to, w->m.in_channel);
}

static void accept(struct worm *w, uint64_t now_cycles)
{
    w->state = DRAINING;
    w->accepted_cycles = now_cycles;
    w->m.done_cycles = now_cycles + w->net->times.byte_cycles * w->m.bytes;
    schedule_tail(w);
}

static void deliver_header(struct worm *w, uint64_t now_cycles)
{
    w->state = HELD; /* unless header() returns true or calls net_accept */
    if (w->net->ops->header(w->net->ctx, &w->m, now_cycles))
        net_accept(w->net, &w->m, now_cycles);
}

static void finish(struct worm *w, uint64_t now_cycles)
{
    struct net_statistics *s = &w->net->statistics;
    bool good = w->m.status == NCU_OK;

    s->delivered += good;
    s->delivered_bytes += good ? w->m.bytes : 0;
    s->failed += !good;
    s->failed_bytes += good ? 0 : w->m.bytes;
    w->net->ops->done(w->net->ctx, &w->m, now_cycles);
    worm_free(w);
}

static void drain(struct worm *w, uint64_t now_cycles)
{
    if (w->freed == w->m.hops) {
        finish(w, now_cycles);
        return;
    }
    while (w->freed < w->m.hops && next_free_cycles(w) <= now_cycles)
        free_channel(w, now_cycles);
    schedule_tail(w);
}

static void retreat(struct worm *w, uint64_t now_cycles)
{
    if (w->taken == 0) {
        finish(w, now_cycles);
        return;
    }
    release(w, w->taken - 1, now_cycles);
    w->taken--;
    schedule_retreat(w, now_cycles);
}

/* Does the next step of a worm, in its event. */
static void worm_step(struct worm *w, uint64_t now_cycles)
{
    switch (w->state) {
    case ASKING:
    case CROSSING:
        if (w->taken < w->m.hops)
            ask_for_channel(w, now_cycles);
        else
            arrive(w, now_cycles);
        break;
    case ARRIVED:
        deliver_header(w, now_cycles);
        break;
    case DRAINING:
        drain(w, now_cycles);
        break;
    case RETREATING:
        retreat(w, now_cycles);
        break;
    case WAITING:
    case HELD:
        assert(!"a worm that waits has no event");
    }
}

static void worm_run(void *arg, uint64_t now_cycles)
{
    struct worm *w = arg;
    struct net *n = w->net;

    assert(now_cycles >= n->now_cycles);
    n->now_cycles = now_cycles;
    w->event = 0;
    worm_step(w, now_cycles);
#ifdef NCUBE_DEBUG
    net_check(n);
#endif
}

int net_send(struct net *n, uint64_t now_cycles, uint32_t from, uint32_t to, uint64_t via, uint64_t bytes, uint64_t tag,
             uint64_t cookie, void *data)
{
    uint32_t route[TOPO_ROUTE_MAX], in_channel;
    int hops = topo_route(n->topo, from, to, via, route, &in_channel);

    if (hops < 0)
        return NCU_EDEST;
    struct worm *w = worm_new(n);
    w->m = (struct net_message){
        .from = from,
        .to = to,
        .in_channel = in_channel,
        .hops = (uint32_t)hops,
        .bytes = bytes,
        .tag = tag,
        .cookie = cookie,
        .data = data,
        .start_cycles = now_cycles,
        .status = NCU_OK,
    };
    for (int i = 0; i < hops; i++)
        w->route[i] = route[i];
    n->statistics.messages++;
    n->statistics.sent_bytes += bytes;
    n->statistics.hops += (uint32_t)hops;
    w->at = from;
    w->at_channel = TOPO_SELF_CHANNEL;
    schedule(w, now_cycles, PHASE_ASK, w->at, w->at_channel);
    return NCU_OK;
}

void net_accept(struct net *n, struct net_message *m, uint64_t now_cycles)
{
    struct worm *w = (struct worm *)m;

    assert(w->net == n && w->state == HELD && now_cycles >= m->header_cycles);
    accept(w, now_cycles);
}

struct net_statistics net_statistics(const struct net *n)
{
    return n->statistics;
}

struct net_channel_statistics net_channel_statistics(const struct net *n, uint32_t channel, uint64_t now_cycles)
{
    assert(channel < topo_channels(n->topo));
    const struct channel *c = &n->channel[channel];
    struct net_channel_statistics s = c->statistics;
    if (c->owner)
        s.busy_cycles += now_cycles - c->taken_cycles;
    const struct worm *w;
    STAILQ_FOREACH(w, &c->waiting, queued)
        s.blocked_cycles += now_cycles - w->asked_cycles;
    return s;
}

static uint32_t check_worm(const struct worm *w)
{
    assert(w->freed <= w->taken && w->taken <= w->m.hops);
    assert((w->event == 0) == (w->state == WAITING || w->state == HELD));
    for (uint32_t k = w->freed; k < w->taken; k++)
        assert(w->net->channel[w->route[k]].owner == w);
    return w->taken - w->freed;
}

static void check_channel(const struct channel *c)
{
    const struct worm *w;

    STAILQ_FOREACH(w, &c->waiting, queued)
        assert(c->owner && w->state == WAITING && &w->net->channel[w->route[w->taken]] == c);
}

void net_check(const struct net *n)
{
    uint32_t worms = 0, taken = 0, owned = 0;
    uint64_t bytes = 0;
    const struct worm *w;

    LIST_FOREACH(w, &n->worms, listed) {
        worms++;
        taken += check_worm(w);
        bytes += w->m.bytes;
    }
    for (uint32_t c = 0; c < topo_channels(n->topo); c++) {
        check_channel(&n->channel[c]);
        owned += n->channel[c].owner != NULL;
    }
    const struct net_statistics *s = &n->statistics;
    assert(worms == n->in_flight && taken == owned);
    assert(s->messages == s->delivered + s->failed + n->in_flight);
    assert(s->sent_bytes == s->delivered_bytes + s->failed_bytes + bytes);
}

uint32_t net_in_flight(const struct net *n)
{
    return n->in_flight;
}

const struct net_message *net_channel_owner(const struct net *n, uint32_t channel)
{
    assert(channel < topo_channels(n->topo));
    const struct worm *owner = n->channel[channel].owner;
    return owner ? &owner->m : NULL;
}
