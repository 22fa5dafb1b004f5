/*
 * The functions that the compiler may call on its own in freestanding code.
 */
#include <stddef.h>

#include "vertex/memory/copy.h"

void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);

__attribute__((used)) void *memcpy(void *to, const void *from, size_t bytes)
{
    copy_bytes(to, from, bytes);
    return to;
}

__attribute__((used)) void *memset(void *to, int value, size_t bytes)
{
    if (value == 0)
        copy_zero(to, bytes);
    else
        for (size_t i = 0; i < bytes; i++)
            ((unsigned char *)to)[i] = value;
    return to;
}
