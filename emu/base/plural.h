/* The ending of a counted word: "1 node", "2 nodes". */
#ifndef NCUBE_PLURAL_H
#define NCUBE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#endif
