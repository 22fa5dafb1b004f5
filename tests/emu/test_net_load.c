/* The network under load: the shape of contention, and that random traffic always drains. */
#include <criterion/criterion.h>

#include "tests/emu/traffic.h"

/* Slope of makespan against message length, in channel time. Why these: docs/network.md. */
Test(net_load, the_makespan_of_a_permutation_has_its_slope)
{
    static const struct {
        enum traffic_kind kind;
        uint32_t dim, busiest;
        double slope;
    } c[] = {
        {TRAFFIC_COMPLEMENT, 6, 1, 1}, {TRAFFIC_COMPLEMENT, 8, 1, 1},
        {TRAFFIC_REVERSAL, 6, 4, 4},   {TRAFFIC_REVERSAL, 8, 8, 8},
        {TRAFFIC_GATHER, 6, 32, 32},   {TRAFFIC_GATHER, 8, 128, 128}, /* half the nodes come by the last dimension */
        {TRAFFIC_TRANSPOSE, 6, 4, 5},  {TRAFFIC_TRANSPOSE, 8, 8, 10}, /* blocked worms hold what others want */
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const char *name = traffic_pattern[c[i].kind].name;
        double slope = traffic_slope(c[i].kind, c[i].dim);

        cr_expect_eq(traffic_busiest_channel(c[i].kind, c[i].dim), c[i].busiest, "%s, %u-cube", name, c[i].dim);
        cr_expect_float_eq(slope, c[i].slope, 0.001, "%s, %u-cube: slope %f", name, c[i].dim, slope);
    }
}

#ifdef NCUBE_DEBUG
#define MESSAGES 1000 /* the invariants are checked at every event, on all 10240 channels */
#else
#define MESSAGES 50000
#endif

Test(net_load, random_traffic_on_a_10_cube_is_delivered_and_repeatable)
{
    struct traffic_result a = traffic_random(10, MESSAGES, 1024, 1), b = traffic_random(10, MESSAGES, 1024, 1);
    struct traffic_result other = traffic_random(10, MESSAGES, 1024, 2);

    cr_expect_eq(a.delivered, MESSAGES);
    cr_expect_eq(a.digest, b.digest);
    cr_expect_neq(a.digest, other.digest);
}
