/* Memory that nsdisk takes when it starts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES 4096u

/* Pages that are touched while nothing else has memory are one piece: the NCU and the drives reach them without
 * copies. */
static inline void pages_touch(uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at < n; at += PAGE_BYTES)
        ((volatile uint8_t *)bytes)[at] = 0;
}
