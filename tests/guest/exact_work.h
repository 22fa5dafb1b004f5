/*
 * What random programs of make exact do beside what they are about: they compute for different times, and add up what
 * they saw, and when, so that a single cycle's difference between two runs shows.
 */
#pragma once

#include <ntime.h>

#include "check.h"

static uint64_t own_choice, seen; /* seed of the node's own draws; the sum */

static void note(uint64_t value)
{
    seen = (seen ^ value) * 0x100000001b3ull;
    seen = (seen ^ (uint64_t)(amicclk() * 20 + 0.5)) * 0x100000001b3ull;
}

static void compute(void)
{
    uint64_t x = own_choice;

    for (uint32_t i = draw(&own_choice) % 3000; i > 0; i--)
        x = x * 6364136223846793005ull + i;
    note(x);
}
