/* The computations that both sides of a comparison run: on a node of the machine, and on plain QEMU. Each is compiled
 * with -DWORK=NAME, so that a program has one of them:
 *
 *   integer    a linear congruential generator, additions to a table of 2 KB
 *   floating   multiplications and additions of doubles from a table of 2 KB
 *   branches   jumps that depend on a random number, a few instructions apart
 *   chase      pointers that lead through 4 MB, one in each 64 bytes, in random order
 *   stream     2 MB, read and written from end to end
 */
#pragma once

#include <stdint.h>

#define WORK_JOIN_(a, b) a##b
#define WORK_JOIN(a, b)  WORK_JOIN_(a, b)
#define WORK_WORDS       WORK_JOIN(WORK, _words) /* of memory that `work` needs, zero at first */
#define work             WORK_JOIN(WORK, _work)  /* uint64_t work(uint64_t turns, uint64_t *memory) */

/* The same code on both sides, whatever it is told. */
#define WORK_FUNCTION __attribute__((noipa, unused)) static uint64_t

enum {
    integer_words = 256,
    floating_words = 256,
    branches_words = 1,
    chase_words = 1 << 19,
    chase_apart = 8, /* words between two pointers */
    stream_words = 1 << 18
};

static inline uint64_t work_random(uint64_t x)
{
    return x * 6364136223846793005u + 1442695040888963407u;
}

WORK_FUNCTION integer_work(uint64_t turns, uint64_t *table)
{
    uint64_t x = 88172645463325252u;

    for (uint64_t i = 0; i < turns; i++) {
        x = work_random(x);
        table[x >> 56] += x;
    }
    return x + table[x & 255];
}

WORK_FUNCTION floating_work(uint64_t turns, uint64_t *memory)
{
    double *table = (double *)memory, sum = 0;

    for (int i = 0; i < floating_words; i++)
        table[i] = i * 0.125;
    for (uint64_t i = 0; i < turns; i++)
        sum = sum * 0.875 + table[i % floating_words] * table[(i + 1) % floating_words];
    return (uint64_t)sum;
}

WORK_FUNCTION branches_work(uint64_t turns, uint64_t *memory)
{
    uint64_t x = 88172645463325252u, sum = memory[0];

    for (uint64_t i = 0; i < turns; i++) {
        x = work_random(x);
        for (uint64_t bits = x >> 56; bits != 0; bits >>= 1) {
            if (bits & 1)
                __asm__ volatile("addi %0, %0, 3" : "+r"(sum)); /* keeps the compiler from doing without the branch */
        }
    }
    return x + sum;
}

/* Sattolo's shuffle: the pointers, which are indices, make one circle. */
WORK_FUNCTION chase_work(uint64_t turns, uint64_t *memory)
{
    uint64_t x = 1, at = 0;

    for (uint64_t i = 0; i < chase_words; i += chase_apart)
        memory[i] = i;
    for (uint64_t i = chase_words / chase_apart - 1; i > 0; i--) {
        x = work_random(x);
        uint64_t *one = &memory[i * chase_apart], *other = &memory[(x >> 33) % i * chase_apart], was = *one;

        *one = *other;
        *other = was;
    }
    for (uint64_t i = 0; i < turns; i++)
        at = memory[at];
    return at + 1;
}

WORK_FUNCTION stream_work(uint64_t turns, uint64_t *memory)
{
    for (uint64_t i = 0; i < turns / stream_words + 1; i++)
        for (uint64_t k = 0; k < stream_words; k++)
            memory[k] += i;
    return memory[7] + 1;
}
