/*
 * bench_net [MESSAGES]: how fast the bare network is, and its contention shapes. Not a test: reads the host's clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/emu/traffic.h"

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int bench_load(uint64_t messages)
{
    double start = processor_seconds();
    struct traffic_result r = traffic_random(10, messages, 1024, 1);
    double seconds = processor_seconds() - start;

    printf("10-cube, random traffic, 0-1024 bytes: %lu of %lu messages delivered, %lu hops, %.3f s of virtual time, "
           "%.2f s of processor: %.0f message-hops per second\n",
           (unsigned long)r.delivered, (unsigned long)messages, (unsigned long)r.hops, (double)r.cycles / 20e6, seconds,
           (double)r.hops / seconds);
    return r.delivered == messages ? 0 : 1;
}

static void bench_shapes(void)
{
    printf("%-18s %8s %18s %18s\n", "one message a node", "cube", "busiest channel", "makespan, slope");
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        for (uint32_t dim = 6; dim <= 8; dim += 2)
            printf("%-18s %8u %18u %18.2f\n", traffic_pattern[kind].name, dim,
                   traffic_busiest_channel((enum traffic_kind)kind, dim), traffic_slope((enum traffic_kind)kind, dim));
}

int main(int argc, char **argv)
{
    char *end = "";
    unsigned long messages = argc > 1 ? strtoul(argv[1], &end, 10) : 1000000;

    if (argc > 2 || *end != '\0' || messages == 0) {
        fprintf(stderr, "usage: bench_net [MESSAGES]\n");
        return 2;
    }
    int status = bench_load(messages);
    bench_shapes();
    return status;
}
