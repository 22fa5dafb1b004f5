/* Arithmetic of whole numbers. */
#ifndef PIO_NUMBERS_H
#define PIO_NUMBERS_H

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

#endif
