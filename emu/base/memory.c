#include "emu/base/memory.h"

#include <err.h>
#include <stdio.h>
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
    return insist(memory_try_grow(array, room, needed, bytes), needed, bytes);
}

void *memory_try_grow(void *array, size_t *room, size_t needed, size_t bytes)
{
    size_t old = *room, larger = needed > 2 * old ? needed : 2 * old;

    if (needed <= old && array)
        return array;
    array = reallocarray(array, larger > 0 ? larger : 1, bytes);
    if (!array)
        return NULL;
    memset((char *)array + old * bytes, 0, (larger - old) * bytes);
    *room = larger;
    return array;
}

void *memory_resize(void *array, size_t count, size_t bytes)
{
    return insist(reallocarray(array, count > 0 ? count : 1, bytes), count, bytes);
}

char *memory_print_list(const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0)
        errx(1, "no memory for a text");
    return text;
}

char *memory_print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = memory_print_list(format, arguments);
    va_end(arguments);
    return text;
}

char *memory_copy_text(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    char *copy = memory_new(n + 1, 1);

    return memcpy(copy, text, n);
}
