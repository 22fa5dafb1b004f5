/* Arithmetic of whole numbers. */
#pragma once

#include <stdint.h>

/* Greatest common divisor. gcd(a, 0) is a. */
static inline int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The first number from `low` to before `high` for which the condition on `i` is false; `high`: none. It is true for
 * all numbers below one, and false from there on. */
#define FIRST_NOT(low, high, i, condition)         \
    ({                                             \
        int32_t low_ = (low), high_ = (high);      \
                                                   \
        while (low_ < high_) {                     \
            int32_t i = low_ + (high_ - low_) / 2; \
            if (condition)                         \
                low_ = i + 1;                      \
            else                                   \
                high_ = i;                         \
        }                                          \
        low_;                                      \
    })
