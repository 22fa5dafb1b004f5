#include "emu/base/memory.h"

#include <err.h>
#include <stdlib.h>

void *memory_new(size_t count, size_t bytes)
{
    void *p = calloc(count > 0 ? count : 1, bytes);

    if (!p)
        errx(1, "no memory for %zu objects of %zu bytes", count, bytes);
    return p;
}
