/* Times of POSIX in cycles of the node's clock. Part of libvertex. */
#pragma once

#include <time.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

#define NS_PER_CYCLE (1000 / CYCLES_PER_US)
#define FOR_EVER     UINT64_MAX

/* Rounds up. What is longer than any run becomes a time that is, too. */
static inline int64_t cycles_of(int64_t s, int64_t ns)
{
    const int64_t most_s = INT64_MAX / CLOCK_HZ / 2;

    return (s < most_s ? s : most_s) * CLOCK_HZ + (ns + NS_PER_CYCLE - 1) / NS_PER_CYCLE;
}

static inline bool cycles_can_be(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

/* When so long a time from now on is over. */
static inline uint64_t cycles_after(const struct timespec *t)
{
    return (uint64_t)(trap_cycles() + cycles_of(t->tv_sec, t->tv_nsec));
}
