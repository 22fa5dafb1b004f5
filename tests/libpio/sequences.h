/*
 * Random sequences of PIO calls on several files and descriptors, each compared with plain arrays. Buffers are poisoned
 * first: what a call must not touch keeps the poison. On the host tests/libpio/test_sequences.c runs them over a fake
 * transport; in the machine tests/guest/sequences.c does, on volumes df00 to df03.
 */
#pragma once

#include <stdint.h>

extern int sequences_volumes; /* df00, df01, ...: 1 to 4, by default 4 */

/* Runs the sequence of that number; afterwards no file is open, and none is left. */
void sequences_run(uint64_t seed);

/* The next number of the sequence, below n. */
uint32_t sequences_below(uint32_t n);

/* Is called at the first call that differs from the arrays, and does not return. `line` is one of sequences.c. */
_Noreturn void sequences_failed(int line, const char *text);
