#include "emu/base/memory.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

void *memory_new(size_t count, size_t bytes)
{
    void *p = calloc(count > 0 ? count : 1, bytes);

    if (!p)
        errx(1, "no memory for %zu objects of %zu bytes", count, bytes);
    return p;
}

void *memory_grow(void *array, size_t *room, size_t needed, size_t bytes)
{
    size_t old = *room;

    if (needed <= old && array)
        return array;
    *room = needed > 2 * old ? needed : 2 * old;
    array = reallocarray(array, *room, bytes);
    if (!array)
        errx(1, "no memory for %zu objects of %zu bytes", *room, bytes);
    memset((char *)array + old * bytes, 0, (*room - old) * bytes);
    return array;
}
