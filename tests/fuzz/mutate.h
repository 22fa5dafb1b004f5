/* Inputs that resemble others. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct input {
    size_t n;
    uint8_t *bytes; /* room for FUZZ_INPUT_BYTES, where it is changed */
};

/* Returns the next number of a sequence, below n. */
uint32_t mutate_below(uint64_t *state, size_t n);

/* Changes an input a few times, with parts of another one and words (up to NULL; NULL: none) among the changes. */
void mutate(uint64_t *state, struct input *it, const struct input *other, const char *const *words);
