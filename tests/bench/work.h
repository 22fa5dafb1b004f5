/* The computation that both sides of a comparison run: on a node of the machine, and on plain QEMU. */
#ifndef NCUBE_BENCH_WORK_H
#define NCUBE_BENCH_WORK_H

#include <stdint.h>

#define WORK_INSTRUCTIONS 10u /* of one turn, as compiled with -O2 */

#define WORK_TABLE 256u /* entries of the caller's table */

/* Integer work of `turns` turns: a linear congruential generator, a table in memory, a branch. */
static inline uint64_t work(uint64_t turns, uint64_t table[WORK_TABLE])
{
    uint64_t x = 88172645463325252u;

    for (uint64_t i = 0; i < turns; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        table[x >> 56] += x;
    }
    return x + table[x & 255];
}

#endif
