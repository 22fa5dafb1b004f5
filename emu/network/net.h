/*
 * The network: DMA channels, wormholes, e-cube routing, in virtual time. Nothing here depends on QEMU.
 *
 * The numbers below are those of the nCUBE 2: 45 cycles a hop, 9 a byte, a header of 8 bytes. A machine may have others
 * (topo_times).
 *
 * A message's life:
 *   1. net_send. The header takes the channels of its path one by one, 45 cycles each. Where one is busy it waits, and
 *      keeps those that it has.
 *   2. The header reaches the destination and is readable 8 bytes * 9 cycles later.
 *   3. An armed receive accepts it, or it waits for one.
 *   4. The last byte is delivered, and the tail frees the channels.
 * On an idle network, with a receive armed, this takes 45 * hops + 9 * (8 + payload bytes) cycles to the last byte.
 *
 * With h hops, the header leaving its last channel at t_a, and a receive that takes it at t_x >= t_a + 72:
 *   last byte delivered    t_done = t_x + 9 * payload bytes
 *   channel k of 1..h free at       max(t_x, t_done - 45 * (h - k))
 *
 * Dead channels. A header that asks for a dead channel, or waits for a channel when it dies, turns back: after 72
 * cycles it gives up its channels, the last first, 45 cycles each; then done() is called with NCU_ELINK, and nothing
 * has arrived. A message that has a channel when it dies is damaged: the receiver's NCU counts the bytes to the end, so
 * that its timing and the release of its path are those of any other message, and done() is called with NCU_EPARITY. So
 * no channel stays taken for ever.
 *
 * Order. Within one cycle: channels die and recover; channels are freed; then headers ask for channels; then headers
 * become readable (header()); then messages are done (done()). Headers that ask in the same cycle are served by the
 * number of the channel by which they came into the node they are at (0-13), the node's own messages last, those in the
 * order of their net_send. A freed channel goes at once to the header that has waited longest, before any header that
 * asks in that cycle. A net_send asks for its first channel in an event at now_cycles, and so takes part in this order
 * until that event has run. Every event of the net has an order below NET_ORDER_END, and no two events of one cycle
 * share an order, except sends of one node. So the outcome does not depend on when the events were added.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/network/topo.h"
#include "emu/time/eventq.h"

#define NET_ORDER_END (1u << 23) /* first order for other events in the same queue, which run after the net's */

struct net;

struct net_message { /* belongs to the net from net_send until done() returns */
    uint32_t from, to;
    uint32_t in_channel; /* channel number at the destination */
    uint32_t hops;
    uint64_t bytes; /* payload, without the header */
    uint64_t tag;
    uint64_t cookie;        /* for the sender, as is */
    void *data;             /* likewise */
    uint64_t start_cycles;  /* net_send */
    uint64_t header_cycles; /* when the header was readable at the destination; 0: never */
    uint64_t done_cycles;   /* when the last byte was delivered */
    int status;             /* NCU_OK, or why it failed */
};

struct net_use { /* of a channel by one message */
    uint32_t channel;
    uint64_t asked_cycles, taken_cycles; /* when the header asked for the channel, and when it got it */
};

struct net_ops {
    /* Called once, when the header is readable at the destination. Returns true if a receive takes it now, false if it
     * is to wait, with its path, for net_accept. */
    bool (*header)(void *ctx, struct net_message *m, uint64_t now_cycles);
    /* Called when the last byte is delivered (status NCU_OK) or the message has failed. The net frees m afterwards. */
    void (*done)(void *ctx, struct net_message *m, uint64_t now_cycles);
    /* Called when the header takes a channel; may be NULL. Returns NCU_OK, or the status with which this message will
     * end. Its timing stays that of any other message: a parity error is known only when the bytes have arrived. */
    int (*fault)(void *ctx, const struct net_message *m, uint32_t channel, uint64_t now_cycles);
    /* Called for the trace when the message frees a channel; may be NULL. */
    void (*freed)(void *ctx, const struct net_message *m, const struct net_use *use, uint64_t now_cycles);
};

/* Makes a network. topo, queue and ops must outlive it. net_free also frees the messages under way, without done(). */
struct net *net_new(const struct topo *topo, struct eventq *queue, const struct net_ops *ops, void *ctx);
void net_free(struct net *n);

/* Starts a message of `bytes` payload; `via` as in topo_route. A message to its sender takes no channel: its header is
 * readable after 72 cycles, and in_channel is TOPO_SELF_CHANNEL. Returns NCU_OK, or NCU_EDEST if no path leads to `to`;
 * then there is no message, and done() is not called. */
int net_send(struct net *n, uint64_t now_cycles, uint32_t from, uint32_t to, uint64_t via, uint64_t bytes, uint64_t tag,
             uint64_t cookie, void *data);

/* Accepts a message whose header() returned false; not before its header_cycles (asserted). */
void net_accept(struct net *n, struct net_message *m, uint64_t now_cycles);

/* Makes a channel die, or recover; a channel that has died twice must recover twice. To be called from an event of
 * order NET_ORDER_FAULT, so that it comes first in its cycle. */
#define NET_ORDER_FAULT 0u
void net_kill_channel(struct net *n, uint32_t channel, uint64_t now_cycles);
void net_revive_channel(struct net *n, uint32_t channel);

/* All messages since net_new. Bytes are payload; every message sent is in flight, delivered or failed. */
struct net_statistics {
    uint64_t messages, sent_bytes, hops;
    uint64_t delivered, delivered_bytes;
    uint64_t failed, failed_bytes;
};
struct net_statistics net_statistics(const struct net *n);

/* Statistics of one directed channel up to now_cycles, which must not lie before the last event. */
struct net_channel_statistics {
    uint64_t messages;       /* that have taken it */
    uint64_t busy_cycles;    /* in which a message had it */
    uint64_t blocked_cycles; /* for which headers waited for it, summed over the headers */
};
struct net_channel_statistics net_channel_statistics(const struct net *n, uint32_t channel, uint64_t now_cycles);

/* Asserts the invariants: a channel has at most one owner, and is among that message's channels; an owner is a message
 * under way; bytes in are bytes out. Visits every channel and message. Called by tests, and by a debug build (make
 * DEBUG=1) after every event. */
void net_check(const struct net *n);

/* Returns the number of messages under way. */
uint32_t net_in_flight(const struct net *n);
/* Returns the message that has a directed channel, or NULL. */
const struct net_message *net_channel_owner(const struct net *n, uint32_t channel);
