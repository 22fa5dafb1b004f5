/* Wormhole timing from tables; which messages wait for which, and which are served first. */
#include "emu/network/net.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "tests/emu/machines.h"

#define LOG_MAX 64

struct lab {
    struct topo topo;
    struct eventq *queue;
    struct net *net;
    bool refuse;                     /* header() returns false */
    struct net_message *waiting[8];  /* that wait for net_accept, by cookie */
    struct net_message log[LOG_MAX]; /* as they were done */
    uint64_t header[LOG_MAX];        /* cookies of the first ones, as their headers came */
    struct net_use use[LOG_MAX];     /* the first uses of channels, as they ended */
    uint32_t headers, done, uses;
    uint64_t now_cycles;    /* of the last done */
    uint32_t fault_channel; /* has parity errors */
};

static bool on_header(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct lab *lab = ctx;

    cr_expect_eq(m->header_cycles, now_cycles);
    if (lab->headers < LOG_MAX)
        lab->header[lab->headers] = m->cookie;
    lab->headers++;
    if (lab->refuse)
        lab->waiting[m->cookie] = m;
    return !lab->refuse;
}

static void on_done(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct lab *lab = ctx;

    if (m->status != NCU_ELINK)
        cr_expect_eq(m->done_cycles, now_cycles);
    lab->now_cycles = now_cycles;
    cr_assert_lt(lab->done, LOG_MAX);
    lab->log[lab->done++] = *m;
}

static int on_fault(void *ctx, const struct net_message *m, uint32_t channel, uint64_t now_cycles)
{
    struct lab *lab = ctx;

    (void)m;
    (void)now_cycles;
    return channel == lab->fault_channel ? NCU_EPARITY : NCU_OK;
}

static void on_freed(void *ctx, const struct net_message *m, const struct net_use *use, uint64_t now_cycles)
{
    struct lab *lab = ctx;

    (void)m;
    cr_expect(use->asked_cycles <= use->taken_cycles && use->taken_cycles < now_cycles);
    if (lab->uses < LOG_MAX)
        lab->use[lab->uses++] = *use;
}

static void lab_open(struct lab *lab, uint32_t dim, uint32_t n_io)
{
    static const struct net_ops ops = {.header = on_header, .done = on_done, .fault = on_fault, .freed = on_freed};

    *lab = (struct lab){.topo = sandia_machine(dim, n_io), .queue = eventq_new(), .fault_channel = TOPO_NONE};
    lab->net = net_new(&lab->topo, lab->queue, &ops, lab);
}

static void lab_close(struct lab *lab)
{
    net_free(lab->net);
    eventq_free(lab->queue);
    topo_free(&lab->topo);
}

static void run_until(struct lab *lab, uint64_t cycles)
{
    while (eventq_next(lab->queue) <= cycles)
        eventq_run_one(lab->queue);
}

static void run_all(struct lab *lab)
{
    run_until(lab, EVENTQ_NEVER - 1);
    cr_expect_eq(net_in_flight(lab->net), 0);
    for (uint32_t c = 0; c < topo_channels(&lab->topo); c++)
        cr_expect_null(net_channel_owner(lab->net, c), "channel %u is still held", c);
}

static void send(struct lab *lab, uint64_t now_cycles, uint32_t from, uint32_t to, uint64_t bytes, uint64_t cookie)
{
    cr_assert_eq(net_send(lab->net, now_cycles, from, to, NCU_VIA_NEAREST, bytes, 0, cookie, NULL), NCU_OK);
}

static const struct net_message *done_of(const struct lab *lab, uint64_t cookie)
{
    for (uint32_t i = 0; i < lab->done; i++)
        if (lab->log[i].cookie == cookie)
            return &lab->log[i];
    cr_assert_fail("message %d is not done", (int)cookie);
    return NULL;
}

/* Whether channel d of a compute node is held by a message with that cookie; -1: it is free. */
static int holder(const struct lab *lab, uint32_t node, uint32_t d)
{
    const struct net_message *m = net_channel_owner(lab->net, node * lab->topo.dim + d);

    return m ? (int)m->cookie : -1;
}

struct use {
    uint64_t messages, busy_cycles, blocked_cycles;
};

static void expect_use(const struct lab *lab, uint32_t channel, uint64_t now_cycles, struct use expected,
                       const char *name)
{
    const struct net_channel_statistics s = net_channel_statistics(lab->net, channel, now_cycles);

    cr_expect(s.messages == expected.messages && s.busy_cycles == expected.busy_cycles &&
                  s.blocked_cycles == expected.blocked_cycles,
              "%s: %lu messages, busy %lu, blocked %lu", name, s.messages, s.busy_cycles, s.blocked_cycles);
}

Test(net, channels_count_how_long_they_are_held_and_waited_for)
{
    struct lab lab;

    lab_open(&lab, 2, 0);
    send(&lab, 1000, 0, 1, 100, 0); /* has channel 0 of node 0 for 117 + 900 cycles */
    send(&lab, 1010, 0, 1, 0, 1);   /* waits for it, then has it for 117 */
    send(&lab, 1010, 0, 2, 0, 2);   /* goes another way */
    run_until(&lab, 1100);
    expect_use(&lab, 0, 1100, (struct use){1, 100, 90}, "under way");
    run_all(&lab);
    expect_use(&lab, 0, 5000, (struct use){2, 1017 + 117, 1007}, "both");
    expect_use(&lab, 1, 5000, (struct use){1, 117, 0}, "the other way");
    expect_use(&lab, 2, 5000, (struct use){0, 0, 0}, "unused");
    lab_close(&lab);
}

Test(net, a_header_that_turns_back_has_been_blocked_until_then)
{
    struct lab lab;

    lab_open(&lab, 1, 0);
    send(&lab, 0, 0, 1, 100, 0);
    send(&lab, 50, 0, 1, 0, 1);
    run_until(&lab, 200);
    net_kill_channel(lab.net, 0, 300);
    run_all(&lab);
    expect_use(&lab, 0, 5000, (struct use){1, 1017, 250}, "a dead channel");
    lab_close(&lab);
}

Test(net, an_idle_network_takes_45_cycles_per_hop_and_9_per_byte)
{
    static const struct {
        const char *name;
        uint32_t from, to;
        uint64_t bytes; /* payload; the header adds 8 */
        uint64_t cycles;
        uint32_t hops;
    } c[] = {
        {"4 KB over 5 hops, 1854.45 us", 0, 31, 4096 - 8, 37089, 5},
        {"8 KB over 5 hops, 3697.65 us", 0, 31, 8192 - 8, 73953, 5},
        {"16 KB over 5 hops, 7384.05 us", 0, 31, 16384 - 8, 147681, 5},
        {"8 bytes over 5 hops, 14.85 us", 31, 0, 0, 297, 5},
        {"one hop, the lookahead", 4, 5, 0, 117, 1},
        {"one hop, one byte", 4, 5, 1, 126, 1},
        {"to an I/O node", 3, NODE_IO(3, 3), 100, 3 * 45 + 9 * 108, 3},
        {"from the front end", NODE_HOST, 5, 16, 3 * 45 + 9 * 24, 3},
        {"to itself", 6, 6, 100, 9 * 108, 0},
    };
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        struct lab lab;

        lab_open(&lab, 5, 8);
        send(&lab, 1000, c[i].from, c[i].to, c[i].bytes, 7);
        run_all(&lab);
        cr_assert_eq(lab.done, 1, "%s", c[i].name);
        const struct net_message *m = &lab.log[0];
        cr_expect_eq(m->done_cycles - m->start_cycles, c[i].cycles, "%s: %lu cycles", c[i].name,
                     (unsigned long)(m->done_cycles - m->start_cycles));
        cr_expect_eq(m->header_cycles - m->start_cycles, 45 * c[i].hops + 72, "%s", c[i].name);
        cr_expect_eq(m->hops, c[i].hops, "%s", c[i].name);
        cr_expect_eq(m->status, NCU_OK, "%s", c[i].name);
        cr_expect_eq(net_statistics(lab.net).hops, c[i].hops, "%s", c[i].name);
        lab_close(&lab);
    }
}

Test(net, a_message_to_nowhere_does_not_exist)
{
    struct lab lab;

    lab_open(&lab, 2, 0);
    cr_expect_eq(net_send(lab.net, 0, 0, 4, NCU_VIA_NEAREST, 8, 0, 0, NULL), NCU_EDEST);
    cr_expect_eq(net_send(lab.net, 0, 0, NODE_IO(3, 0), NCU_VIA_NEAREST, 8, 0, 0, NULL), NCU_EDEST);
    cr_expect_eq(net_in_flight(lab.net), 0);
    cr_expect_eq(eventq_next(lab.queue), EVENTQ_NEVER);
    lab_close(&lab);
}

/* 0 -> 7 holds 0.0, 1.1, 3.2. Its tail leaves channel k of 3 at done - 45 * (3 - k). */
Test(net, the_tail_frees_the_channels_one_by_one)
{
    static const struct {
        uint64_t cycles;
        int holder[3]; /* of 0.0, 1.1, 3.2 */
    } c[] = {
        {0, {1, -1, -1}},   {44, {1, -1, -1}},  {45, {1, 1, -1}},    {90, {1, 1, 1}},     {1016, {1, 1, 1}},
        {1017, {-1, 1, 1}}, {1061, {-1, 1, 1}}, {1062, {-1, -1, 1}}, {1106, {-1, -1, 1}}, {1107, {-1, -1, -1}},
    };
    struct lab lab;
    lab_open(&lab, 3, 0);
    send(&lab, 0, 0, 7, 100, 1); /* done at 3 * 45 + 9 * 108 = 1107 */
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        run_until(&lab, c[i].cycles);
        cr_expect_eq(holder(&lab, 0, 0), c[i].holder[0], "0.0 at %lu", (unsigned long)c[i].cycles);
        cr_expect_eq(holder(&lab, 1, 1), c[i].holder[1], "1.1 at %lu", (unsigned long)c[i].cycles);
        cr_expect_eq(holder(&lab, 3, 2), c[i].holder[2], "3.2 at %lu", (unsigned long)c[i].cycles);
    }
    run_all(&lab);
    lab_close(&lab);
}

Test(net, a_short_message_holds_its_path_until_it_is_accepted)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    send(&lab, 0, 0, 7, 0, 1); /* header readable, and done, at 207; done - 45 * 2 lies before */
    run_until(&lab, 206);
    cr_expect_eq(holder(&lab, 0, 0), 1);
    run_until(&lab, 207);
    cr_expect_eq(holder(&lab, 0, 0), -1);
    run_all(&lab);
    cr_expect_eq(lab.log[0].done_cycles, 207);
    lab_close(&lab);
}

Test(net, a_message_without_a_receive_holds_its_path_and_moves_on_when_accepted)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    lab.refuse = true;
    send(&lab, 0, 0, 3, 100, 1);
    run_until(&lab, 5000);
    cr_expect_eq(lab.headers, 1, "header() is called once");
    cr_expect_eq(eventq_next(lab.queue), EVENTQ_NEVER, "nothing moves");
    cr_expect_eq(holder(&lab, 0, 0), 1);
    cr_expect_eq(holder(&lab, 1, 1), 1);
    net_accept(lab.net, lab.waiting[1], 6000);
    run_all(&lab);
    cr_expect_eq(lab.headers, 1);
    cr_expect_eq(lab.log[0].header_cycles, 2 * 45 + 72);
    cr_expect_eq(lab.log[0].done_cycles, 6000 + 900, "the header is not sent again");
    lab_close(&lab);
}

Test(net, accepting_before_the_header_is_readable_is_refused, .signal = SIGABRT)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    lab.refuse = true;
    send(&lab, 100, 0, 1, 0, 1);
    run_until(&lab, 5000);
    fclose(stderr);
    net_accept(lab.net, lab.waiting[1], 216);
}

Test(net, a_chain_of_blocked_messages_starts_moving_at_its_head)
{
    struct lab lab;

    lab_open(&lab, 2, 0);
    lab.refuse = true;
    send(&lab, 0, 3, 1, 0, 1);    /* holds 3.1 */
    send(&lab, 100, 2, 1, 0, 2);  /* holds 2.0, waits for 3.1 */
    send(&lab, 200, 2, 3, 10, 3); /* waits for 2.0 */
    run_until(&lab, 999);
    cr_expect_eq(holder(&lab, 3, 1), 1);
    cr_expect_eq(holder(&lab, 2, 0), 2);
    cr_expect_eq(lab.headers, 1);
    lab.refuse = false;
    net_accept(lab.net, lab.waiting[1], 1000);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 1)->done_cycles, 1000);
    cr_expect_eq(done_of(&lab, 2)->done_cycles, 1000 + 45 + 72, "takes 3.1 at 1000");
    cr_expect_eq(done_of(&lab, 3)->done_cycles, 1117 + 45 + 72 + 90, "takes 2.0 when 2's tail has left it");
    lab_close(&lab);
}

Test(net, messages_with_disjoint_channels_do_not_disturb_each_other)
{
    struct lab lab;

    lab_open(&lab, 5, 8);
    send(&lab, 0, 3, NODE_IO(3, 1), 4096, 1); /* 3 -> 7 -> I/O node 1: path 1 of [P0] */
    send(&lab, 0, 3, NODE_IO(3, 2), 4096, 2); /* 3 -> 11 -> I/O node 2: path 2 */
    send(&lab, 0, 3, NODE_IO(3, 3), 4096, 3); /* 3 -> 7 -> 15 -> I/O node 3: path 3 shares 3 -> 7 with path 1 */
    run_all(&lab);
    uint64_t alone = 2 * 45 + 9 * 4104;
    cr_expect_eq(done_of(&lab, 1)->done_cycles, alone);
    cr_expect_eq(done_of(&lab, 2)->done_cycles, alone);
    cr_expect_eq(done_of(&lab, 3)->done_cycles, (alone - 45) + 3 * 45 + 9 * 4104);
    lab_close(&lab);
}

Test(net, a_busy_channel_serves_waiting_headers_first_come_first_served)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    send(&lab, 0, 0, 1, 1000, 1);
    send(&lab, 30, 0, 1, 0, 2);
    send(&lab, 20, 0, 3, 0, 3);
    send(&lab, 10, 0, 5, 0, 4);
    run_all(&lab);
    uint64_t t = 45 + 9 * 1008;
    cr_expect_eq(done_of(&lab, 1)->done_cycles, t);
    t += 2 * 45 + 72; /* 0.0 is free when the header is accepted at 5 */
    cr_expect_eq(done_of(&lab, 4)->done_cycles, t);
    t += 2 * 45 + 72;
    cr_expect_eq(done_of(&lab, 3)->done_cycles, t);
    t += 45 + 72;
    cr_expect_eq(done_of(&lab, 2)->done_cycles, t);
    lab_close(&lab);
}

/* Three headers ask for 7.3 (7 -> 15) in the same cycle: by channel 0 from 6, by channel 1 from 5, and 7's own. */
Test(net, headers_of_one_cycle_are_served_by_channel_number_then_the_nodes_own)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    static const struct {
        uint32_t from;
        uint64_t at_cycles;
    } message[3] = {{6, 100}, {5, 100}, {7, 145}};
    for (int i = 0; i < 6; i++) {
        struct lab lab;

        lab_open(&lab, 4, 0);
        for (int j = 0; j < 3; j++) {
            int m = order[i][j];

            send(&lab, message[m].at_cycles, message[m].from, 15, 0, (uint64_t)m);
        }
        run_all(&lab);
        for (uint32_t j = 0; j < 3; j++) {
            cr_expect_eq(lab.log[j].cookie, j, "added in order %d: place %u", i, j);
            cr_expect_eq(lab.log[j].done_cycles, 145 + (j + 1) * 117, "added in order %d: place %u", i, j);
        }
        lab_close(&lab);
    }
}

/* By all thirteen channels of a node, from its neighbours. */
Test(net, headers_that_arrive_in_one_cycle_are_received_by_channel_number)
{
    struct lab lab;

    lab_open(&lab, NODE_MAX_DIM, 0);
    for (uint32_t d = NODE_MAX_DIM; d-- > 0;)
        send(&lab, 0, 1u << d, 0, 0, d);
    run_all(&lab);
    cr_assert_eq(lab.headers, NODE_MAX_DIM);
    for (uint32_t d = 0; d < NODE_MAX_DIM; d++)
        cr_expect_eq(lab.header[d], d, "header %u is by channel %u", d, (uint32_t)lab.header[d]);
    lab_close(&lab);
}

Test(net, a_channel_freed_in_the_cycle_of_a_request_goes_to_the_one_that_waits)
{
    struct lab lab;

    lab_open(&lab, 1, 0);
    send(&lab, 0, 0, 1, 0, 1);   /* frees 0.0 at 117 */
    send(&lab, 50, 0, 1, 0, 2);  /* waits; takes it at 117, frees it at 234 */
    send(&lab, 117, 0, 1, 0, 3); /* asks in the cycle of the change */
    send(&lab, 351, 0, 1, 0, 4); /* asks in the cycle in which 3 frees it; no message waits */
    run_all(&lab);
    static const uint64_t asked[] = {0, 50, 117, 351};
    cr_assert_eq(lab.uses, 4);
    for (uint64_t i = 1; i <= 4; i++) {
        cr_expect_eq(done_of(&lab, i)->done_cycles, 117 * i, "message %lu", (unsigned long)i);
        cr_expect_eq(lab.use[i - 1].asked_cycles, asked[i - 1], "message %lu", (unsigned long)i);
        cr_expect_eq(lab.use[i - 1].taken_cycles, 117 * (i - 1), "message %lu", (unsigned long)i);
    }
    lab_close(&lab);
}

Test(net, messages_of_one_source_to_one_destination_keep_their_order)
{
    struct lab lab;

    lab_open(&lab, 4, 0);
    for (uint64_t i = 0; i < 20; i++)
        send(&lab, 10 * i, 1, 14, 1000 - 50 * i, i);
    run_all(&lab);
    for (uint64_t i = 0; i < 20; i++)
        cr_expect_eq(lab.log[i].cookie, i);
    lab_close(&lab);
}

/* All pairs at once in a 4-cube: everything arrives, none earlier than it could alone, and twice the same. */
static void storm_end(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    (void)m, (void)now_cycles;
    ((struct lab *)ctx)->done++;
}

static void storm_done(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    (void)ctx;
    *(uint64_t *)m->data = now_cycles;
    cr_expect_geq(now_cycles - m->start_cycles, 45 * m->hops + 9 * (8 + m->bytes));
}

Test(net, a_storm_of_all_pairs_drains_and_is_repeatable)
{
    static const struct net_ops ops = {.header = on_header, .done = storm_done};
    static uint64_t done_cycles[2][256];

    for (int run = 0; run < 2; run++) {
        struct lab lab = {.topo = sandia_machine(4, 0), .queue = eventq_new()};

        lab.net = net_new(&lab.topo, lab.queue, &ops, &lab);
        for (uint32_t i = 0; i < 256; i++)
            net_send(lab.net, i / 16, i % 16, i / 16, NCU_VIA_NEAREST, i, 0, i, &done_cycles[run][i]);
        run_all(&lab);
        cr_expect_eq(lab.headers, 256);
        lab_close(&lab);
    }
    for (uint32_t i = 0; i < 256; i++) {
        cr_expect_neq(done_cycles[0][i], 0, "message %u", i);
        cr_expect_eq(done_cycles[0][i], done_cycles[1][i], "message %u", i);
    }
}

Test(net, a_fault_ends_the_message_with_its_status_and_leaves_its_timing)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    lab.fault_channel = 1 * 3 + 1; /* 1.1 */
    send(&lab, 0, 0, 7, 100, 1);
    send(&lab, 0, 2, 6, 100, 2);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 1)->status, NCU_EPARITY);
    cr_expect_eq(done_of(&lab, 1)->done_cycles, 3 * 45 + 9 * 108);
    cr_expect_eq(done_of(&lab, 2)->status, NCU_OK);
    lab_close(&lab);
}

Test(net, a_header_that_asks_for_a_dead_channel_turns_back)
{
    struct lab lab;

    lab_open(&lab, 4, 0);
    net_kill_channel(lab.net, 3 * 4 + 2, 0); /* 3.2 */
    send(&lab, 100, 0, 15, 100, 1);          /* 0.0, 1.1, then 3.2 at 190 */
    run_until(&lab, 306);
    cr_expect_eq(holder(&lab, 1, 1), 1);
    run_until(&lab, 307);
    cr_expect_eq(holder(&lab, 1, 1), -1, "the last channel first");
    cr_expect_eq(holder(&lab, 0, 0), 1);
    run_all(&lab);
    cr_expect_eq(lab.headers, 0, "nothing has arrived");
    cr_expect_eq(done_of(&lab, 1)->status, NCU_ELINK);
    cr_expect_eq(lab.now_cycles, 100 + 2 * 90 + 72, "45 cycles per hop there and back");
    lab_close(&lab);
}

Test(net, a_dead_first_channel_fails_after_72_cycles_and_a_recovered_one_carries)
{
    struct lab lab;

    lab_open(&lab, 2, 0);
    net_kill_channel(lab.net, 0, 0);
    send(&lab, 10, 0, 1, 0, 1);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 1)->status, NCU_ELINK);
    cr_expect_eq(lab.now_cycles, 82);
    net_revive_channel(lab.net, 0);
    send(&lab, 100, 0, 1, 0, 2);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 2)->status, NCU_OK);
    lab_close(&lab);
}

Test(net, a_channel_that_has_died_twice_recovers_with_the_second_recovery)
{
    struct lab lab;

    lab_open(&lab, 2, 0);
    net_kill_channel(lab.net, 0, 0);
    net_kill_channel(lab.net, 0, 0);
    net_revive_channel(lab.net, 0);
    send(&lab, 10, 0, 1, 0, 1);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 1)->status, NCU_ELINK);
    net_revive_channel(lab.net, 0);
    send(&lab, 100, 0, 1, 0, 2);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 2)->status, NCU_OK);
    lab_close(&lab);
}

Test(net, a_channel_that_dies_damages_its_message_and_turns_back_those_that_wait)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    send(&lab, 0, 0, 3, 1000, 1); /* holds 0.0, 1.1 */
    send(&lab, 50, 5, 3, 0, 2);   /* 5.1, 7.2: nothing in common */
    send(&lab, 60, 1, 3, 0, 3);   /* waits for 1.1 */
    send(&lab, 70, 1, 7, 0, 4);   /* waits behind it */
    run_until(&lab, 5000);
    net_kill_channel(lab.net, 1 * 3 + 1, 5000);
    run_all(&lab);
    cr_expect_eq(done_of(&lab, 1)->status, NCU_EPARITY);
    cr_expect_eq(done_of(&lab, 1)->done_cycles, 2 * 45 + 9 * 1008, "its timing is that of any other");
    cr_expect_eq(done_of(&lab, 2)->status, NCU_OK);
    cr_expect_eq(done_of(&lab, 3)->status, NCU_ELINK);
    cr_expect_eq(done_of(&lab, 4)->status, NCU_ELINK);
    lab_close(&lab);
}

/* Every message of a storm ends, whatever dies and recovers meanwhile, and nothing is held afterwards. */
Test(net, a_storm_drains_while_channels_die_and_recover)
{
    static const struct net_ops ops = {.header = on_header, .done = storm_end};

    for (uint32_t seed = 1; seed <= 30; seed++) {
        struct lab lab = {.topo = sandia_machine(4, 0), .queue = eventq_new()};
        uint32_t random = seed, channels;

        lab.net = net_new(&lab.topo, lab.queue, &ops, &lab);
        channels = topo_channels(&lab.topo) - 2;
        for (uint32_t i = 0; i < 256; i++)
            net_send(lab.net, i % 7, i / 16, i % 16, NCU_VIA_NEAREST, i, 0, i, NULL);
        for (uint32_t k = 1; k <= 40; k++) {
            random = random * 1103515245u + 12345u;
            run_until(&lab, 500 * k);
            net_kill_channel(lab.net, (random >> 8) % channels, 500 * k);
            run_until(&lab, 500 * k + 300);
            if (random >> 30)
                net_revive_channel(lab.net, (random >> 8) % channels);
            net_check(lab.net);
        }
        run_all(&lab);
        net_check(lab.net);
        cr_expect_eq(lab.done, 256, "seed %u", seed);
        lab_close(&lab);
    }
}

Test(net, freeing_the_net_drops_what_is_under_way)
{
    struct lab lab;

    lab_open(&lab, 3, 0);
    send(&lab, 0, 0, 7, 1000, 1);
    send(&lab, 0, 0, 7, 1000, 2);
    run_until(&lab, 300);
    cr_expect_eq(net_in_flight(lab.net), 2);
    net_free(lab.net);
    cr_expect_eq(eventq_next(lab.queue), EVENTQ_NEVER);
    cr_expect_eq(lab.done, 0);
    eventq_free(lab.queue);
    topo_free(&lab.topo);
}
