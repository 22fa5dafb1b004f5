/*
 * Where the bytes of a PIO file lie: disk interleaving as pure arithmetic, no I/O [P0 section 3].
 *
 *   logical file    | block 0 | block 1 | ... | block D-1 | block D | block D+1 | ...
 *   volume 0        | block 0 | block D | block 2D | ...                subfile offset of block b: (b / D) * B
 *   volume 1        | block 1 | block D+1 | ...                         volume of block b:          b mod D
 *
 * That is the pattern "cyclic B D" of <pattern.h>, computed without it. Offsets and sizes are in bytes and >= 0.
 * Everything here is a function of its arguments.
 */
#pragma once

#include <stdint.h>

#include "libpio/map/pattern.h"

#define PIO_OFFSET_MAX (INT64_MAX / 2) /* highest logical offset; sums of two offsets do not overflow */

struct pio_map {
    int disks;       /* D >= 1 */
    int block_bytes; /* B >= 1 */
    /* Of a file with another map than stripes: which volume has which byte. Then B is only the length of a request, and
     * all but pio_map_locate go by the pattern. NULL: stripes. */
    const struct pattern *pattern;
};

struct pio_place {
    int volume;             /* 0 .. D-1 */
    int64_t subfile_offset; /* of the byte within that volume's subfile */
    int block_left_bytes;   /* from the byte to the end of its block: 1 .. B */
};

/* Place of the logical byte at `offset`. Of stripes only. */
struct pio_place pio_map_locate(const struct pio_map *map, int64_t offset);

/* Logical offset of a subfile's byte: the inverse of pio_map_locate. PIO_OFFSET_MAX if it lies beyond that. */
int64_t pio_map_logical(const struct pio_map *map, int volume, int64_t subfile_offset);

/* Size of a volume's subfile when the logical file has no holes and logical_bytes bytes. */
int64_t pio_map_subfile_bytes(const struct pio_map *map, int volume, int64_t logical_bytes);

/* Logical offset just after a subfile's last byte; 0 when the subfile is empty. */
int64_t pio_map_logical_end(const struct pio_map *map, int volume, int64_t subfile_bytes);

/* Logical size: the highest logical end of the D subfiles. A shorter subfile has a hole at its end. */
int64_t pio_map_logical_bytes(const struct pio_map *map, const int64_t *subfile_bytes);
