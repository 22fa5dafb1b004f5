/*
 * The network: DMA channels, wormholes, e-cube routing, in virtual time. No QEMU in here.
 *
 * A message's life:  requested -> (takes its channels one by one, 45 cycles each, waiting where one is busy and
 * holding what it has) -> header at the destination, 8 bytes * 9 cycles later readable -> accepted by an armed
 * receive, or waits for one -> last byte delivered -> channels freed by the tail.
 * Idle network, receive armed: 45 * hops + 9 * (8 + payload bytes) cycles from send to last byte.
 *
 * With h hops, the header leaving its last channel at t_a, and a receive that takes it at t_x >= t_a + 72:
 *   last byte delivered    t_done = t_x + 9 * payload bytes
 *   channel k of 1..h free at       max(t_x, t_done - 45 * (h - k))
 *
 * Dead channels. A header that asks for one, or waits for one when it dies, turns back: after
 * 72 cycles it gives up its channels, the last first, 45 cycles each, and done() then has NCU_ELINK; nothing has
 * arrived. A message that holds a channel which
 * dies is damaged: the receiver's NCU counts the bytes to the end, so that its timing and the release of its path are
 * those of any other, and done() has NCU_EPARITY. So nothing is held for ever.
 *
 * Order. Within one cycle: channels die and recover; channels are freed; then headers ask for channels; then headers
 * become readable (header()); then messages are done (done()). Headers that ask in the same cycle are served by the
 * number of the channel by which they came into the node they are at (0-13), the node's own messages last, those in
 * the order of their net_send. A freed channel goes at once to the header that has waited longest, before anyone who
 * asks in that cycle. A net_send asks for its first channel by an event at now_cycles, so it takes part in this order
 * as long as that event is still to come. Every event of the net has an order below NET_ORDER_END, and no two different
 * events of one cycle share one (but the sends of one node): what happens does not depend on when the events were
 * added.
 */
#ifndef NCUBE_NET_H
#define NCUBE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/model/topo.h"
#include "emu/time/eventq.h"

#define NET_HOP_CYCLES   45u
#define NET_BYTE_CYCLES  9u /* bit-serial, 8 data bits and parity at 20 MHz */
#define NET_HEADER_BYTES 8u
/* Shortest time from a send to any effect on another node: one hop and the header. */
#define NET_LOOKAHEAD_CYCLES (NET_HOP_CYCLES + NET_BYTE_CYCLES * NET_HEADER_BYTES)
#define NET_ORDER_END        (1u << 23) /* events of others in the same queue: from here on, to run after the net's */

struct net;

struct net_message { /* owned by the net from net_send until done() returns */
    uint32_t from, to;
    uint32_t in_channel; /* channel number at the destination */
    uint32_t hops;
    uint64_t bytes; /* payload, without the header */
    uint64_t tag;
    uint64_t cookie;        /* the sender's */
    void *data;             /* the sender's: net does not look at it */
    uint64_t start_cycles;  /* net_send */
    uint64_t header_cycles; /* header readable at the destination; 0: it never was */
    uint64_t done_cycles;   /* last byte delivered */
    int status;             /* NCU_OK, or why it failed */
};

struct net_ops {
    /* The header is readable at the destination. True: a receive takes it now. False: it waits, holding its path,
     * until net_accept. Called once. */
    bool (*header)(void *ctx, struct net_message *m, uint64_t now_cycles);
    /* The last byte is delivered (status NCU_OK) or the message has failed. The net frees m afterwards. */
    void (*done)(void *ctx, struct net_message *m, uint64_t now_cycles);
    /* May be NULL. The header takes a channel: NCU_OK, or the status with which this message will end; its timing is
     * that of any other message, as a parity error is known only when the bytes have arrived. */
    int (*fault)(void *ctx, const struct net_message *m, uint32_t channel, uint64_t now_cycles);
};

/* topo, queue and ops outlive the net; ends the process when memory is gone. net_free drops what is under way. */
struct net *net_new(const struct topo *topo, struct eventq *queue, const struct net_ops *ops, void *ctx);
void net_free(struct net *n);

/* Starts a message. to == from: no channel is held, the header is readable after 72 cycles, in_channel is
 * TOPO_SELF_CHANNEL.
 * Returns NCU_OK or NCU_EDEST (then done() is not called and `m` does not exist). */
int net_send(struct net *n, uint64_t now_cycles, uint32_t from, uint32_t to, uint64_t via, uint64_t bytes, uint64_t tag,
             uint64_t cookie, void *data);

/* A receive is armed now for a message whose header() returned false; not before its header_cycles (asserted). */
void net_accept(struct net *n, struct net_message *m, uint64_t now_cycles);

/* A channel dies, or recovers; one that has died twice recovers twice. To be called from an event of order
 * NET_ORDER_FAULT, so that it comes first in its cycle. */
#define NET_ORDER_FAULT 0u
void net_kill_channel(struct net *n, uint32_t channel, uint64_t now_cycles);
void net_revive_channel(struct net *n, uint32_t channel);

/* What has passed since net_new. Payload bytes; every message sent is in flight, delivered or failed. */
struct net_statistics {
    uint64_t messages, sent_bytes, hops;
    uint64_t delivered, delivered_bytes;
    uint64_t failed, failed_bytes;
};
struct net_statistics net_statistics(const struct net *n);

/* Of one directed channel, up to now, which is not before the last event. */
struct net_channel_statistics {
    uint64_t messages;       /* that have taken it */
    uint64_t busy_cycles;    /* for which a message had it */
    uint64_t blocked_cycles; /* for which headers waited for it; several at a time count each */
};
struct net_channel_statistics net_channel_statistics(const struct net *n, uint32_t channel, uint64_t now_cycles);

/* Asserts what always holds: a channel has one owner, who knows of it; channels that are held belong to messages under
 * way; bytes in are bytes out. Looks at every channel and message: tests call it, and a debug build (make DEBUG=1)
 * after every event. */
void net_check(const struct net *n);

/* Messages under way. */
uint32_t net_in_flight(const struct net *n);
/* Owner of a directed channel, or NULL. */
const struct net_message *net_channel_owner(const struct net *n, uint32_t channel);

#endif
