/*
 * The network against closed formulas, and against the flit-by-flit reference: on random message sets, and under load,
 * counted as BookSim2 counts.
 */
#include "emu/network/net.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "emu/model/timing.h"
#include "tests/emu/machines.h"
#include "tests/emu/reference.h"

#define SETS         600u /* NET_SETS says another number: make bench-net takes 10,000 */
#define LIMIT_CYCLES 10000000u

struct lab {
    struct topo topo;
    struct eventq *queue;
    struct net *net;
    struct reference_message *message; /* by cookie */
    uint64_t done[REFERENCE_MESSAGES_MAX];
    uint32_t delivered;
};

struct late_accept {
    struct lab *lab;
    struct net_message *m;
};

static void accept_late(void *arg, uint64_t now_cycles)
{
    struct late_accept *late = arg;

    net_accept(late->lab->net, late->m, now_cycles);
    free(late);
}

static bool on_header(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct lab *lab = ctx;
    uint64_t delay = lab->message[m->cookie].accept_after_cycles;

    if (delay == 0)
        return true;
    struct late_accept *late = malloc(sizeof *late);
    *late = (struct late_accept){lab, m};
    eventq_add(lab->queue, now_cycles + delay, NET_ORDER_END, accept_late, late);
    return false;
}

static void on_done(void *ctx, struct net_message *m, uint64_t now_cycles)
{
    struct lab *lab = ctx;

    lab->done[m->cookie] = now_cycles;
    lab->delivered++;
}

static void lab_open(struct lab *lab, uint32_t dim, const struct reference_times *times)
{
    static const struct net_ops ops = {.header = on_header, .done = on_done};

    lab->topo = sandia_machine(dim, 0);
    if (times)
        lab->topo.times = (struct channel_times){times->channel_flits, times->byte_flits, times->header_bytes};
    lab->queue = eventq_new();
    lab->net = net_new(&lab->topo, lab->queue, &ops, lab);
    lab->delivered = 0;
}

static void lab_close(struct lab *lab)
{
    net_free(lab->net);
    eventq_free(lab->queue);
    topo_free(&lab->topo);
}

static void run_model(struct lab *lab, struct reference_message *message, uint32_t n)
{
    lab->message = message;
    for (uint32_t i = 0; i < n; i++)
        net_send(lab->net, message[i].start_cycles, message[i].from, message[i].to, NCU_VIA_NEAREST,
                 message[i].payload_bytes, 0, i, NULL);
    while (eventq_next(lab->queue) != EVENTQ_NEVER) {
        eventq_run_one(lab->queue);
        net_check(lab->net);
    }
}

Test(net_reference, every_pair_of_a_6_cube_takes_45_cycles_per_hop_and_9_per_byte)
{
    static const uint64_t bytes[] = {1, 8, 4096, 65536}; /* payload; N has 8 more */
    static struct lab lab;

    lab_open(&lab, 6, NULL);
    for (uint32_t pair = 0; pair < 64 * 64; pair++)
        for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++) {
            uint32_t from = pair / 64, to = pair % 64;
            uint64_t start = 1000000ull * (4 * pair + b);
            uint64_t expected = 45 * (uint64_t)__builtin_popcount(from ^ to) + 9 * (bytes[b] + 8);
            struct reference_message m = {from, to, bytes[b], start, 0, 0};

            run_model(&lab, &m, 1);
            cr_assert_eq(lab.done[0] - start, expected, "%u -> %u, %lu bytes: %lu cycles, not %lu", from, to,
                         (unsigned long)bytes[b], (unsigned long)(lab.done[0] - start), (unsigned long)expected);
        }
    lab_close(&lab);
}

/* ---- Random message sets ---- */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
    return next_random(state) % n;
}

/* Many starts in one cycle, many short messages, a few hot destinations: what makes ties and queues. */
static const struct reference_times ncube_2 = {45, 9, 8};

/* Channels of other machines, slow and fast, with headers of any length. */
static struct reference_times random_times(uint64_t seed)
{
    uint64_t s = ~seed;

    return (struct reference_times){1 + (uint32_t)below(&s, 120), 1 + (uint32_t)below(&s, 20),
                                    1 + (uint32_t)below(&s, 24)};
}

static uint32_t random_set(uint64_t seed, uint32_t *dim, struct reference_message *message)
{
    uint64_t s = seed;

    *dim = 3 + (uint32_t)below(&s, 4);
    uint32_t n = 2 + (uint32_t)below(&s, 6u << *dim), nodes = 1u << *dim;
    uint32_t hot = (uint32_t)below(&s, nodes);
    n = n > 160 ? 160 : n;
    for (uint32_t i = 0; i < n; i++)
        message[i] = (struct reference_message){
            .from = (uint32_t)below(&s, nodes),
            .to = below(&s, 4) == 0 ? hot : (uint32_t)below(&s, nodes),
            .payload_bytes = below(&s, 3) == 0 ? below(&s, 150) : below(&s, 12),
            .start_cycles = below(&s, 3) == 0 ? 0 : 9 * below(&s, 120),
            .accept_after_cycles = below(&s, 5) == 0 ? below(&s, 700) : 0,
        };
    return n;
}

static void compare_set(uint64_t seed, const struct reference_times *times)
{
    static struct reference_message message[REFERENCE_MESSAGES_MAX];
    static struct lab lab;
    uint32_t dim, n = random_set(seed, &dim, message);

    lab_open(&lab, dim, times);
    run_model(&lab, message, n);
    cr_assert_eq(lab.delivered, n, "seed %lu: %u of %u messages delivered", (unsigned long)seed, lab.delivered, n);
    cr_assert(reference_run(times ? times : &ncube_2, dim, message, n, RELEASE_WHEN_ACCEPTED, LIMIT_CYCLES), "seed %lu",
              (unsigned long)seed);
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(lab.done[i], message[i].done_cycles,
                     "seed %lu, %u-cube, message %u of %u, %u -> %u: model %lu, reference %lu", (unsigned long)seed,
                     dim, i, n, message[i].from, message[i].to, (unsigned long)lab.done[i],
                     (unsigned long)message[i].done_cycles);
    lab_close(&lab);
}

static uint64_t sets(void)
{
    const char *text = getenv("NET_SETS");

    return text ? strtoul(text, NULL, 10) : SETS;
}

/* A seed that has once shown a difference is put into `kept` and stays. */
Test(net_reference, random_message_sets_arrive_in_the_cycles_of_the_reference)
{
    static const uint64_t kept[] = {0};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        compare_set(kept[i], NULL);
    for (uint64_t seed = 1; seed <= sets(); seed++)
        compare_set(seed, NULL);
}

Test(net_reference, so_they_do_in_networks_with_other_times)
{
    for (uint64_t seed = 1; seed <= sets() / 2; seed++) {
        struct reference_times times = random_times(seed);

        compare_set(seed, &times);
    }
}

/* And in those of the machines that a machine file can name. */
Test(net_reference, so_they_do_in_the_networks_of_presets)
{
    for (size_t i = 0; timing_names[i]; i++) {
        struct channel_times c = topo_times(&(struct topo){.times = timing_presets[i].channels});
        struct reference_times times = {c.hop_cycles, c.byte_cycles, c.header_bytes};

        for (uint64_t seed = 1; seed <= sets() / 4; seed++)
            compare_set(seed, &times);
    }
}

/* Without contention, h hops and N bytes with the header take hop * h + byte * N cycles. */
Test(net_reference, other_times_follow_the_closed_formula)
{
    static struct lab lab;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct reference_times t = random_times(seed);
        uint64_t s = seed, start = below(&s, 1000), bytes = below(&s, 70000);
        uint32_t from = (uint32_t)below(&s, 32), to = (uint32_t)below(&s, 32);
        struct reference_message m = {from, to, bytes, start, 0, 0};

        lab_open(&lab, 5, &t);
        run_model(&lab, &m, 1);
        cr_expect_eq(lab.done[0] - start,
                     t.channel_flits * (uint64_t)__builtin_popcount(from ^ to) +
                         t.byte_flits * (bytes + t.header_bytes),
                     "seed %lu", (unsigned long)seed);
        lab_close(&lab);
    }
}

/* ---- Counted as BookSim2 counts ----
 *
 * Packets of one length are made at random times, whatever the network takes. Those that are made in a measuring phase
 * count; others come before and after. Latency is from when a packet is made to when its last flit arrives, so that it
 * has the wait at the source. The accepted rate is of the flits that arrive in the phase. */

#define LOADED_DIM 5u
#define PACKETS    450u

struct load {
    const struct reference_times *times;
    uint32_t rate;         /* flits of a node in 1000 cycles */
    uint64_t flits;        /* of a packet */
    uint64_t from, before; /* the phase, in cycles */
};

struct counts {
    uint64_t packets, latency_cycles, hops, accepted_flits;
};

/* Uniform traffic. The phase is the second third of the time. */
static void make_load(struct load *l, uint64_t seed, struct reference_message *message)
{
    uint64_t s = seed, payload = below(&s, 20);

    l->flits = l->times->byte_flits * (payload + l->times->header_bytes);
    uint64_t cycles = PACKETS * l->flits * 1000 / ((uint64_t)l->rate << LOADED_DIM);
    l->from = cycles / 3;
    l->before = cycles * 2 / 3;
    for (uint32_t i = 0; i < PACKETS; i++)
        message[i] = (struct reference_message){.from = (uint32_t)below(&s, 1u << LOADED_DIM),
                                                .to = (uint32_t)below(&s, 1u << LOADED_DIM),
                                                .payload_bytes = payload,
                                                .start_cycles = below(&s, cycles)};
}

/* Of a packet's flits, which arrive one in each cycle, those of the phase. */
static uint64_t flits_in_phase(const struct load *l, uint64_t done)
{
    uint64_t from = done - l->flits > l->from ? done - l->flits : l->from, to = done < l->before ? done : l->before;

    return to > from ? to - from : 0;
}

static void count(struct counts *c, const struct load *l, const struct reference_message *m, uint64_t done)
{
    c->accepted_flits += flits_in_phase(l, done);
    if (m->start_cycles < l->from || m->start_cycles >= l->before)
        return;
    c->packets++;
    c->latency_cycles += done - m->start_cycles;
    c->hops += (uint32_t)__builtin_popcount(m->from ^ m->to);
}

/* What the network gives, which is what the reference gives. */
static struct counts counts_of(struct load *l, uint64_t seed)
{
    static struct reference_message message[REFERENCE_MESSAGES_MAX];
    static struct lab lab;
    struct counts model = {0}, reference = {0};

    make_load(l, seed, message);
    lab_open(&lab, LOADED_DIM, l->times);
    run_model(&lab, message, PACKETS);
    lab_close(&lab);
    cr_assert_eq(lab.delivered, PACKETS);
    cr_assert(reference_run(l->times, LOADED_DIM, message, PACKETS, RELEASE_WHEN_ACCEPTED, LIMIT_CYCLES));
    for (uint32_t i = 0; i < PACKETS; i++) {
        count(&model, l, &message[i], lab.done[i]);
        count(&reference, l, &message[i], message[i].done_cycles);
    }
    cr_expect(memcmp(&model, &reference, sizeof model) == 0, "seed %lu, rate %u: latency %lu, reference %lu",
              (unsigned long)seed, l->rate, (unsigned long)model.latency_cycles,
              (unsigned long)reference.latency_cycles);
    return model;
}

/* With little load a packet takes what it takes alone, and more with each step, and what is offered is accepted. */
static void expect_counts(const struct reference_times *times, uint64_t seed)
{
    static const uint32_t rates[] = {20, 100, 400};
    double waited = 0;

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct load l = {.times = times, .rate = rates[i]};
        struct counts c = counts_of(&l, seed);
        double n = (double)c.packets, alone = times->channel_flits * (double)c.hops / n + (double)l.flits;
        double waits = (double)c.latency_cycles / n - alone, accepted = (double)c.accepted_flits / (double)l.flits / n;

        cr_expect_gt(waits, waited, "seed %lu, rate %u", (unsigned long)seed, l.rate);
        cr_expect(i > 0 || waits < 0.05 * alone, "seed %lu: %f cycles, and %f of waiting", (unsigned long)seed, alone,
                  waits);
        cr_expect(i > 1 || (accepted > 0.9 && accepted < 1.1), "seed %lu, rate %u: %f of what is offered is accepted",
                  (unsigned long)seed, l.rate, accepted);
        waited = waits;
    }
}

Test(net_reference, latency_hops_and_accepted_rate_under_load_are_the_references)
{
    expect_counts(&ncube_2, 1);
    for (size_t i = 0; timing_names[i]; i++) {
        struct channel_times c = topo_times(&(struct topo){.times = timing_presets[i].channels});

        expect_counts(&(struct reference_times){c.hop_cycles, c.byte_cycles, c.header_bytes}, 2 + i);
    }
    struct reference_times fast = {3, 1, 4};
    expect_counts(&fast, 9);
}

/* All nodes send to their neighbours more than the channels carry: each packet has its channel for as long as it takes
 * alone, and waits at its source for those before it. */
Test(net_reference, a_channel_that_is_full_accepts_what_the_closed_formula_says)
{
    static struct reference_message message[REFERENCE_MESSAGES_MAX];
    static struct lab lab;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct reference_times t = random_times(seed);
        uint64_t s = seed, payload = below(&s, 300),
                 alone = t.channel_flits + t.byte_flits * (payload + t.header_bytes);
        uint32_t d = (uint32_t)below(&s, LOADED_DIM);

        for (uint32_t i = 0; i < PACKETS; i++)
            message[i] = (struct reference_message){i % 32, i % 32 ^ 1u << d, payload, 0, 0, 0};
        lab_open(&lab, LOADED_DIM, &t);
        run_model(&lab, message, PACKETS);
        for (uint32_t i = 0; i < PACKETS; i++)
            cr_assert_eq(lab.done[i], (i / 32 + 1) * alone, "seed %lu, packet %u", (unsigned long)seed, i);
        lab_close(&lab);
    }
}

/* The other reading of "the tail frees them" (docs/network.md): it matters to trains shorter than their way, and
 * without contention to none. */
Test(net_reference, channels_freed_before_acceptance_would_matter_to_some_short_messages_only)
{
    static struct reference_message a[REFERENCE_MESSAGES_MAX], b[REFERENCE_MESSAGES_MAX];
    uint32_t differ = 0, messages = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t dim, n = random_set(seed, &dim, a);

        random_set(seed, &dim, b);
        for (uint32_t i = 0; i < n; i++)
            a[i].accept_after_cycles = b[i].accept_after_cycles = 0;
        cr_assert(reference_run(&ncube_2, dim, a, n, RELEASE_WHEN_ACCEPTED, LIMIT_CYCLES));
        cr_assert(reference_run(&ncube_2, dim, b, n, RELEASE_WHEN_PASSED, LIMIT_CYCLES));
        for (uint32_t i = 0; i < n; i++)
            differ += a[i].done_cycles != b[i].done_cycles;
        messages += n;
    }
    cr_log_info("%u of %u messages", differ, messages);
    cr_expect_gt(differ, 0);
    cr_expect_lt(differ, messages / 2);
}
