/*
 * <ntime.h>: virtual time.
 */
#include <ntime.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

#define US_PER_S 1000000

double amicclk(void)
{
    return (double)trap_cycles() / CYCLES_PER_US;
}

long n_time(int *us)
{
    long now_us = trap_cycles() / CYCLES_PER_US;

    if (us)
        *us = (int)(now_us % US_PER_S);
    return now_us / US_PER_S;
}

long ntime(void)
{
    return trap_cycles() / (CYCLES_PER_US * NTIME_TICK_US);
}
