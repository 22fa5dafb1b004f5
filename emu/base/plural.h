/* "1 node", "2 nodes": what follows the word in a line that counts. */
#ifndef NCUBE_PLURAL_H
#define NCUBE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

#endif
