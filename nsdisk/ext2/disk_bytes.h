/*
 * Little-endian fields of disk blocks, taken out and put in one at a time. A disk block is never cast to a
 * structure, so a corrupt one can at worst yield a wrong number. Every field of ext2 is naturally aligned,
 * which lets the compiler use one load or store; the caller checks offsets that come from the disk.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "both ends of the system are little-endian");

static inline uint16_t disk_get16(const uint8_t *field)
{
    uint16_t value;

    memcpy(&value, __builtin_assume_aligned(field, 2), sizeof value);
    return value;
}

static inline uint32_t disk_get32(const uint8_t *field)
{
    uint32_t value;

    memcpy(&value, __builtin_assume_aligned(field, 4), sizeof value);
    return value;
}

static inline uint64_t disk_get64(const uint8_t *field)
{
    uint64_t value;

    memcpy(&value, __builtin_assume_aligned(field, 8), sizeof value);
    return value;
}

static inline void disk_put16(uint8_t *field, uint32_t value)
{
    uint16_t narrow = (uint16_t)value;

    memcpy(__builtin_assume_aligned(field, 2), &narrow, sizeof narrow);
}

static inline void disk_put32(uint8_t *field, uint32_t value)
{
    memcpy(__builtin_assume_aligned(field, 4), &value, sizeof value);
}

/* One bit of a bitmap. */
static inline bool disk_get_bit(const uint8_t *bits, uint32_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}
