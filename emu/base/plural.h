/* The ending of a counted word: "1 node", "2 nodes". */
#pragma once

#include <stdint.h>

static inline const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}
