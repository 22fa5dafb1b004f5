/*
 * For the programs of this folder, which run under ncube and under another MPI, with the same output: what rank 0
 * prints. A check that fails prints where, and ends all.
 */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

#define check(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: rank %d: not %s\n", __FILE__, __LINE__, rank, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                      \
        }                                                                                      \
    } while (0)

/* Both are taken as long. */
#define check_equal(actual, expected)                                                                                \
    do {                                                                                                             \
        long check_actual = (long)(actual), check_expected = (long)(expected);                                       \
        if (check_actual != check_expected) {                                                                        \
            fprintf(stderr, "%s:%d: rank %d: %s is %ld, not %ld\n", __FILE__, __LINE__, rank, #actual, check_actual, \
                    check_expected);                                                                                 \
            MPI_Abort(MPI_COMM_WORLD, 3);                                                                            \
        }                                                                                                            \
    } while (0)

/* With SUITE the program is a function of that name, called by all.c in one run with others. */
#ifdef SUITE
#define main SUITE
int main(int argc, char **argv);
#endif

static inline void begin(int *argc, char ***argv)
{
#ifdef SUITE
    (void)argc, (void)argv;
#else
    MPI_Init(argc, argv);
#endif
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline void end(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s on %d: passed\n", name, size);
#ifndef SUITE
    MPI_Finalize();
#endif
}

/* All ranks draw the same. */
static inline uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static inline void fill(char *buf, long n, unsigned seed)
{
    for (long i = 0; i < n; i++)
        buf[i] = (char)(seed * 31 + (unsigned)i * 7);
}

static inline int is_filled(const char *buf, long n, unsigned seed)
{
    for (long i = 0; i < n; i++)
        if (buf[i] != (char)(seed * 31 + (unsigned)i * 7))
            return 0;
    return 1;
}
