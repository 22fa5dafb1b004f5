#include "emu/base/memory.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

static void *insist(void *memory, size_t count, size_t bytes)
{
    if (!memory)
        errx(1, "no memory for %zu objects of %zu bytes", count, bytes);
    return memory;
}

void *memory_new(size_t count, size_t bytes)
{
    return insist(calloc(count > 0 ? count : 1, bytes), count, bytes);
}

void *memory_grow(void *array, size_t *room, size_t needed, size_t bytes)
{
    size_t old = *room;

    if (needed <= old && array)
        return array;
    *room = needed > 2 * old ? needed : 2 * old;
    array = memory_resize(array, *room, bytes);
    memset((char *)array + old * bytes, 0, (*room - old) * bytes);
    return array;
}

void *memory_resize(void *array, size_t count, size_t bytes)
{
    return insist(reallocarray(array, count > 0 ? count : 1, bytes), count, bytes);
}

char *memory_copy_text(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *copy = memory_new(n + 1, 1);

    return memcpy(copy, text, n);
}
