/* Traffic for the bare network: permutations with one message per node, and random load. No host time in here. */
#pragma once

#include <stdint.h>

struct traffic_pattern {
    const char *name;
    uint32_t (*destination)(uint32_t node, uint32_t dim);
};

enum traffic_kind { TRAFFIC_COMPLEMENT, TRAFFIC_REVERSAL, TRAFFIC_GATHER, TRAFFIC_TRANSPOSE, TRAFFIC_KINDS };
extern const struct traffic_pattern traffic_pattern[TRAFFIC_KINDS];

/* Every node but those that are their own destination sends `bytes` at time 0. Returns the time of the last
 * delivery. */
uint64_t traffic_makespan(enum traffic_kind kind, uint32_t dim, uint64_t bytes);

/* Makespan against message length, in byte times of one channel (9 cycles) per byte: between 64 KB and 128 KB. */
double traffic_slope(enum traffic_kind kind, uint32_t dim);

/* Most messages of a pattern that use one channel. */
uint32_t traffic_busiest_channel(enum traffic_kind kind, uint32_t dim);

struct traffic_result {
    uint64_t delivered; /* each once, and to where it was sent: asserted */
    uint64_t hops;
    uint64_t cycles; /* of the last delivery */
    uint64_t digest; /* of all delivery times */
};

/* Every node of a cube sends, one after the other, messages of 0 to most_bytes to random nodes: `messages` in all.
 * Ends when nothing more can happen. */
struct traffic_result traffic_random(uint32_t dim, uint64_t messages, uint64_t most_bytes, uint64_t seed);
