/*
 * The queueing network of parallel file I/O: the exact solver against mean value analysis step by step, and against the
 * paper's tables; the simulation against networks whose answer is arithmetic.
 */
#include "emu/tools/queueing.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(queueing);

/* ---- Mean value analysis for several classes (Reiser and Lavenberg 1980), through all populations ---- */

enum { DISKS = 4, BUFFERS = 3, POPULATIONS = 256 }; /* (BUFFERS + 1)^DISKS */

struct lengths { /* mean queues at one population */
    double cpu, routing[DISKS], disk[DISKS];
};

struct analysis {
    double rate, cpu, network;
};

/* Populations are numbers in base BUFFERS + 1, a digit for each class, so that n - weight is before n. */
static struct analysis analyse(const struct queueing *q)
{
    static struct lengths at[POPULATIONS];
    struct analysis result = {0};
    uint32_t full = 0, weight[DISKS];

    for (uint32_t i = 0; i < q->disks; i++) {
        weight[i] = i == 0 ? 1 : weight[i - 1] * (BUFFERS + 1);
        full += q->buffers * weight[i];
    }
    memset(at, 0, sizeof at);
    for (uint32_t n = 1; n <= full; n++) {
        struct lengths *here = &at[n];

        result = (struct analysis){0};
        for (uint32_t i = 0; i < q->disks; i++) {
            uint32_t customers = n / weight[i] % (BUFFERS + 1), r = i * q->routings / q->disks;

            if (customers == 0)
                continue;
            const struct lengths *less = &at[n - weight[i]];
            double cpu = q->cpu_us * (1 + less->cpu), network = q->network_us * (1 + less->routing[r]);
            double disk = q->disk_us * (1 + less->disk[i]);
            double rate = customers / (cpu + network + disk + q->status_us);
            here->cpu += rate * cpu;
            here->routing[r] += rate * network;
            here->disk[i] = rate * disk;
            result.rate += rate;
            result.network += rate * network;
        }
        result.cpu = here->cpu;
    }
    return result;
}

static double draw(unsigned *seed)
{
    return 1 + rand_r(seed) % 20000;
}

#define expect_close(actual, expected, part)                                                                        \
    cr_expect(fabs((actual) - (expected)) <= (part)*fabs(expected), "%s is %.9g, not %s = %.9g", #actual, (actual), \
              #expected, (expected))

Test(queueing, product_form_is_mean_value_analysis)
{
    unsigned seed = 1;

    for (int round = 0; round < 2000; round++) {
        uint32_t disks = 1 + (uint32_t)rand_r(&seed) % DISKS;
        struct queueing q = {.disks = disks,
                             .buffers = 1 + (uint32_t)rand_r(&seed) % BUFFERS,
                             .routings = 1 + (uint32_t)rand_r(&seed) % disks,
                             .cpu_us = draw(&seed),
                             .network_us = draw(&seed),
                             .disk_us = draw(&seed),
                             .status_us = round % 3 ? draw(&seed) : 0};
        struct analysis by_steps = analyse(&q);
        struct queueing_means means = queueing_exact(&q);

        cr_assert(queueing_is_sound(&q));
        expect_close(means.per_s, by_steps.rate * 1e6, 1e-9);
        expect_close(means.cpu_us, by_steps.cpu / by_steps.rate, 1e-9);
        expect_close(means.network_us, by_steps.network / by_steps.rate, 1e-9);
        expect_close(means.network_messages, by_steps.network, 1e-9);
        expect_close(means.disk_use, by_steps.rate * q.disk_us / disks, 1e-9);
        expect_close(means.response_us, disks * q.buffers / by_steps.rate, 1e-9);
        expect_close(means.cpu_us + means.network_us + means.disk_us + q.status_us, means.response_us, 1e-9);
    }
}

/* ---- The paper's Tables 2, 3 and 4 ---- */

#define ANY 0.0 /* not printed there */

static const struct printed {
    uint32_t buffers, routings;
    double cpu_us, network_us, disk_us; /* services */
    double response_ms, cpu_ms, network_ms, messages, use, mb_s, block_bytes;
} paper[] = {
    {1, 1, 800, 1854, 17300, 22.27, 1.06, 3.91, 1.40, 77.67, 1.40323, 4096},
    {1, 1, 1065, 3697, 19500, 33.00, 1.39, 12.11, 2.94, 59.09, 1.89394, 8192},
    {1, 1, 1808, 7384, 20500, 59.69, 2.36, 36.83, 4.94, 34.34, 2.09415, 16384},
    {1, 4, 1808, 7384, 20500, 32.53, 2.86, 9.17, ANY, 63.03, 3.84260, 16384},
    {1, 8, 1808, 7384, 20500, 30.81, 2.92, 7.38, ANY, 66.54, 4.05712, 16384},
    {2, 1, 1808, 7384, 20500, 118.15, 2.39, 91.29, ANY, 34.70, 2.11595, 16384},
    {2, 4, 1808, 7384, 20500, 49.74, 3.93, 13.09, ANY, 82.43, 5.02614, 16384},
    {2, 8, 1808, 7384, 20500, 47.06, 4.17, 9.11, ANY, 87.12, 5.31237, 16384},
};

/* Within 0.3 %, or half a unit of the last of `decimals`. */
static void expect_printed(const char *what, size_t row, double actual, double printed, int decimals)
{
    double slack = fmax(0.003 * printed, 0.5001 * pow(10, -decimals));

    cr_expect(printed == ANY || fabs(actual - printed) <= slack, "row %zu, %s: %.5f, printed %.5f", row, what, actual,
              printed);
}

Test(queueing, the_papers_tables)
{
    for (size_t i = 0; i < sizeof paper / sizeof *paper; i++) {
        const struct printed *p = &paper[i];
        struct queueing q = {8, p->buffers, p->routings, p->cpu_us, p->network_us, p->disk_us, 0};
        struct queueing_means m = queueing_exact(&q);

        expect_printed("response", i, m.response_us / 1e3, p->response_ms, 2);
        expect_printed("CPU", i, m.cpu_us / 1e3, p->cpu_ms, 2);
        expect_printed("network", i, m.network_us / 1e3, p->network_ms, 2);
        expect_printed("messages", i, m.network_messages, p->messages, 2);
        expect_printed("use", i, m.disk_use * 100, p->use, 2);
        expect_printed("MB/s", i, m.per_s * p->block_bytes / 1048576, p->mb_s, 5);
    }
}

/* The largest network: no overflow, and the bottleneck's rate. */
Test(queueing, many_messages_reach_the_bottleneck)
{
    struct queueing q = {256, 2, 1, 100, 1000, 10000, 15};
    struct queueing_means m = queueing_exact(&q), constant = queueing_constant(&q);

    expect_close(m.per_s, 1000.0, 1e-3); /* of the routing */
    expect_close(constant.per_s, 1000.0, 1e-6);
    q.routings = 256;
    q.cpu_us = 1;
    expect_close(queueing_constant(&q).per_s, 25600.0, 1e-3); /* of 256 I/O nodes */
}

/* ---- Constant service times ---- */

Test(queueing, one_message_waits_nowhere)
{
    struct queueing q = {1, 1, 1, 800, 1854, 17300, 15};
    struct queueing_means m = queueing_constant(&q);

    expect_close(m.response_us, 19969.0, 1e-12);
    expect_close(m.cpu_us, 800.0, 1e-12);
    expect_close(m.network_us, 1854.0, 1e-12);
    expect_close(m.disk_us, 17300.0, 1e-12);
    expect_close(m.disk_use, 17300.0 / 19969.0, 1e-12);
    expect_close(queueing_constant_us(&q, 7), 7 * 19969.0, 1e-12);
}

/* Two messages to one I/O node, which is the bottleneck: the second waits until the first is done. */
Test(queueing, two_messages_share_an_io_node)
{
    struct queueing q = {1, 2, 1, 10, 20, 100, 0};
    struct queueing_means m = queueing_constant(&q);

    expect_close(m.per_s, 10000.0, 1e-9);
    expect_close(m.disk_us, 170.0, 1e-9); /* of 200 around, 10 and 20 elsewhere */
    expect_close(queueing_constant_us(&q, 3), 330.0, 1e-9);
}

/* Nothing is faster than its bottleneck, or slower than one message after the other; constant services beat
 * exponential ones here. */
Test(queueing, bounds_hold)
{
    unsigned seed = 7;

    for (int round = 0; round < 100; round++) {
        uint32_t disks = 1 + (uint32_t)rand_r(&seed) % 9;
        struct queueing q = {disks,
                             1 + (uint32_t)rand_r(&seed) % 3,
                             1 + (uint32_t)rand_r(&seed) % disks,
                             draw(&seed),
                             draw(&seed),
                             draw(&seed),
                             0};
        struct queueing_means exact = queueing_exact(&q), constant = queueing_constant(&q);
        uint32_t busiest = (disks + q.routings - 1) / q.routings; /* classes of a routing, at most */
        double service = q.cpu_us + q.network_us + q.disk_us;
        double most = fmin(1e6 / q.cpu_us, fmin(1e6 * q.routings / q.network_us, 1e6 * disks / q.disk_us));

        cr_expect(exact.per_s <= most * 1.000001 && constant.per_s <= most * 1.01);
        cr_expect(exact.per_s >= 1e6 / service * 0.999999 && constant.per_s >= 1e6 / service * 0.999999);
        cr_expect(busiest > 1 || constant.network_us <= q.network_us * q.buffers * 1.000001);
    }
}

Test(queueing, unsound_networks_are_told)
{
    static const struct queueing unsound[] = {
        {0, 1, 1, 1, 1, 1, 0},   {1, 0, 1, 1, 1, 1, 0},   {1, 1, 0, 1, 1, 1, 0},        {1, 1, 2, 1, 1, 1, 0},
        {513, 1, 1, 1, 1, 1, 0}, {200, 3, 1, 1, 1, 1, 0}, {1, 1, 1, 0, 1, 1, 0},        {1, 1, 1, 1, -1, 1, 0},
        {1, 1, 1, 1, 1, NAN, 0}, {1, 1, 1, 1, 1, 1, -1},  {1, 1, 1, 1, 1, INFINITY, 0},
    };
    struct queueing sound = {1, 1, 1, 1, 1, 1, 0};

    cr_expect(queueing_is_sound(&sound));
    for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++)
        cr_expect_not(queueing_is_sound(&unsound[i]), "row %zu", i);
}

/* ---- Service times that depend on the idle time before ---- */

/* One disk that turns in 10 ms and needs 2 ms to pass a block: a request that comes within 8 ms ends 12 ms after the
 * one before; a later one 22 ms after it. */
static double period_us(double cpu_us, const struct queueing_curve *c)
{
    struct queueing q = {.disks = 1, .buffers = 1, .routings = 1, .cpu_us = cpu_us, .network_us = 1000, .disk_us = 1};

    return (queueing_turning_us(&q, c, 500) - queueing_turning_us(&q, c, 100)) / 400;
}

Test(queueing, a_drive_that_turns_ends_each_service_a_revolution_after_the_last)
{
    static const double idle_us[] = {2000, 7900, 8100, 17900}, service_us[] = {10000, 4100, 13900, 4100};
    const struct queueing_curve curve = {4, idle_us, service_us};
    static const struct {
        double cpu_us, period_us;
    } row[] = {{500, 12000}, {1000, 12000}, {3000, 12000}, {6900, 12000}, {7050, 12000}, {7100, 22000}, {12000, 22000}};

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double us = period_us(row[i].cpu_us, &curve);

        cr_expect(fabs(us - row[i].period_us) < 1, "CPU %.0f us: %.1f us around instead of %.0f", row[i].cpu_us, us,
                  row[i].period_us);
    }
}

Test(queueing, after_the_last_point_a_service_takes_as_long_as_there)
{
    static const double idle_us[] = {2000, 4000}, service_us[] = {3000, 1000};
    const struct queueing_curve curve = {2, idle_us, service_us};

    cr_expect(fabs(period_us(9000, &curve) - 11000) < 1);
    cr_expect(fabs(period_us(2000, &curve) - 5000) < 1); /* half way between the points: 2000 */
}
