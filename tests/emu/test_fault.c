/* Which channels a fault concerns, when it is active, and what parity errors are drawn. */
#include "emu/model/fault.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/emu/machines.h"

Test(fault, a_link_is_both_directions)
{
    struct topo t = sandia_machine(3, 0);
    struct fault f = {.kind = FAULT_LINK, .node = 5, .channel = 1}; /* 5 - 7 */
    uint32_t channel[FAULT_CHANNELS_MAX];

    cr_assert_eq(fault_channels(&t, &f, channel), 2);
    cr_expect_eq(channel[0], 5 * 3 + 1);
    cr_expect_eq(channel[1], 7 * 3 + 1);
    topo_free(&t);
}

Test(fault, of_a_node_are_all_its_channels)
{
    struct topo t = sandia_machine(5, 8);
    struct fault compute = {.kind = FAULT_NODE, .node = 7}, io = {.kind = FAULT_NODE, .node = NODE_IO(3, 2)};
    uint32_t channel[FAULT_CHANNELS_MAX];

    cr_expect_eq(fault_channels(&t, &compute, channel), 2 * (5 + 1), "7 is an SI node");
    cr_expect_eq(fault_channels(&t, &io, channel), 2);
    topo_free(&t);
}

Test(fault, noise_is_of_one_link_or_of_all)
{
    struct topo t = sandia_machine(5, 8);
    struct fault of_link = {.kind = FAULT_PARITY, .node = 7, .channel = NCU_IO_CHANNEL}, all = of_link;
    struct fault dead = {.kind = FAULT_LINK, .node = 7, .channel = NCU_IO_CHANNEL};
    uint32_t channel[FAULT_CHANNELS_MAX];

    all.node = TOPO_NONE;
    cr_assert_eq(fault_channels(&t, &dead, channel), 2);
    for (uint32_t c = 0; c < topo_channels(&t); c++) {
        cr_expect_eq(fault_is_noise_of(&of_link, &t, c), c == channel[0] || c == channel[1], "channel %u", c);
        cr_expect(fault_is_noise_of(&all, &t, c), "channel %u", c);
        cr_expect_not(fault_is_noise_of(&dead, &t, c), "channel %u", c);
    }
    topo_free(&t);
}

Test(fault, lasts_from_its_first_cycle_to_before_its_last)
{
    struct fault f[] = {{.kind = FAULT_NODE, .node = 4, .from_cycles = 100, .until_cycles = 200},
                        {.kind = FAULT_DRIVE, .node = NODE_IO(0, 1), .drive = 2, .until_cycles = FAULT_NEVER},
                        {.kind = FAULT_LINK, .node = 6, .until_cycles = FAULT_NEVER},
                        {.kind = FAULT_PARITY, .node = NODE_IO(0, 3), .until_cycles = FAULT_NEVER}};

    cr_expect_not(fault_node_is_dead(f, 2, 4, 99));
    cr_expect(fault_node_is_dead(f, 2, 4, 100));
    cr_expect(fault_node_is_dead(f, 2, 4, 199));
    cr_expect_not(fault_node_is_dead(f, 2, 4, 200));
    cr_expect_not(fault_node_is_dead(f, 2, 5, 150));
    cr_expect(fault_drive_is_dead(f, 2, NODE_IO(0, 1), 2, 0));
    cr_expect_not(fault_drive_is_dead(f, 2, NODE_IO(0, 1), 1, 0));
    cr_expect_not(fault_drive_is_dead(f, 2, NODE_IO(0, 2), 2, 0));
    cr_expect_not(fault_node_is_dead(f, 4, 6, 0), "only a link of it is");
    cr_expect_not(fault_drive_is_dead(f, 4, NODE_IO(0, 3), 0, 0), "only noise is there");
}

Test(fault, is_named_with_its_times)
{
    struct topo t = sandia_machine(5, 8);

    static const struct {
        struct fault f;
        const char *text;
    } c[] = {
        {{.kind = FAULT_NODE, .node = 4, .until_cycles = FAULT_NEVER}, "node 4 has been dead since the start"},
        {{.kind = FAULT_NODE, .node = NODE_IO(3, 2), .from_cycles = 20000, .until_cycles = FAULT_NEVER},
         "I/O node 2 of board 3 has been dead since 0.001000 s"},
        {{.kind = FAULT_LINK, .node = 5, .channel = 1, .from_cycles = 20000, .until_cycles = 40000},
         "the link at channel 1 of node 5 was dead from 0.001000 s to 0.002000 s"},
        {{.kind = FAULT_NODE, .node = 5, .from_cycles = 20000, .until_cycles = 50000}, /* it recovers just now */
         "node 5 was dead from 0.001000 s to 0.002500 s"},
        {{.kind = FAULT_DRIVE, .node = NODE_IO(3, 2), .until_cycles = FAULT_NEVER},
         "the drive of volume df02 has been dead since the start"},
    };
    char text[128];
    strcpy(t.io[2].drive[0].volume, "df02");
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        fault_describe(&c[i].f, &t, 50000, text, sizeof text);
        cr_expect_str_eq(text, c[i].text);
    }
    topo_free(&t);
}

static uint32_t count_damaged(const struct fault *f, uint32_t channel, uint64_t bytes)
{
    uint32_t n = 0;

    for (uint64_t k = 0; k < 100000; k++)
        n += fault_damages(f, channel, k, bytes);
    return n;
}

Test(fault, parity_errors_come_at_their_rate)
{
    static const struct {
        uint32_t rate;
        uint64_t bytes;
        double expected; /* of 100000 messages: 1 - (1 - rate / 10^6)^bytes */
    } c[] = {{1000, 8, 796.8}, {1000, 1000, 63230.5}, {10, 1008, 1002.9}, {1, 100, 10}, {1000000, 8, 100000}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct fault f = {.kind = FAULT_PARITY, .node = TOPO_NONE, .rate = c[i].rate, .seed = 7};
        double deviation = 4 * sqrt(c[i].expected) + 1;

        cr_expect_float_eq(count_damaged(&f, 3, c[i].bytes), c[i].expected, deviation, "rate %u, %lu bytes: %u",
                           c[i].rate, (unsigned long)c[i].bytes, count_damaged(&f, 3, c[i].bytes));
    }
}

Test(fault, parity_errors_depend_on_seed_and_channel_and_on_nothing_else)
{
    struct fault a = {.kind = FAULT_PARITY, .rate = 1000, .seed = 1}, b = a;
    uint32_t other_channel = 0, other_seed = 0, next_of_neighbour = 0;

    b.seed = 2;
    for (uint64_t k = 0; k < 1000; k++) {
        cr_assert_eq(fault_damages(&a, 5, k, 500), fault_damages(&a, 5, k, 500));
        other_channel += fault_damages(&a, 5, k, 500) != fault_damages(&a, 6, k, 500);
        next_of_neighbour += fault_damages(&a, 5, k + 1, 500) != fault_damages(&a, 6, k, 500);
        other_seed += fault_damages(&a, 5, k, 500) != fault_damages(&b, 5, k, 500);
    }
    cr_expect_gt(other_channel, 100);
    cr_expect_gt(other_seed, 100);
    cr_expect_gt(next_of_neighbour, 100);
}
