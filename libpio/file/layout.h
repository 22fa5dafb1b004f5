/*
 * The layout of a PIO file and its description on disk.
 *
 * Beside each subfile //volume/name lies //volume/name.pio, the description of the whole file and of this volume's
 * part in it, as text that debugfs and cat can show:
 *
 *   pio 1                 format
 *   block 16384           B
 *   disks 8               D
 *   index 3               k: this is volume 3 of 8
 *   volumes df00 df01 df02 df03 df04 df05 df06 df07
 *   end
 *
 * A file with a map of another kind than stripes is "pio 2", and has a line more before `volumes`:
 *
 *   map array 512x512x8 block,block on 2x4
 *
 * It is kept apart from the data so that a subfile holds blocks and nothing else (the striping rule alone puts
 * the file together), and on every volume so that a lost or exchanged volume is noticed. The text is a function
 * of layout and k: two nodes that create a file at the same time write the same.
 * C is not part of it: each open chooses how many blocks are in flight.
 */
#pragma once

#include <stddef.h>

#include "libpio/file/map.h"
#include "libpio/file/pio.h"

/* All defaults: the best parameters of [P0 section 3], on its machine of eight I/O nodes. */
#define PIO_DISKS_DEFAULT       8
#define PIO_BLOCK_BYTES_DEFAULT 16384
#define PIO_BUFFERS_DEFAULT     2 /* double buffering */

#define PIO_DISKS_MAX             256
#define PIO_BLOCK_BYTES_MAX       (1 << 20) /* FILE_IO_MAX_BYTES of vertex/contract/proto.h: a block is one message */
#define PIO_IN_FLIGHT_MAX         65536     /* D*C */
#define PIO_VOLUME_BYTES          16        /* a volume's name with its NUL */
#define PIO_MAP_TEXT_BYTES        1024      /* with its NUL */
#define PIO_DESCRIPTION_MAX_BYTES (128 + PIO_MAP_TEXT_BYTES + PIO_DISKS_MAX * PIO_VOLUME_BYTES)

struct pio_description {
    struct pio_map map;
    char volume[PIO_DISKS_MAX][PIO_VOLUME_BYTES]; /* D of them */
    char map_text[PIO_MAP_TEXT_BYTES];            /* ""; of `pio 2`, what map.pattern is made of by the file's opener */
};

/* Makes the pattern of a map. 0; -EINVAL: wrong text, or not each byte from 0 on has one volume of 256, in order;
 * -ENOMEM. */
int pio_map_make(const char *text, struct pattern **pattern);

/* Checks what a caller asks for: NULL, or numbers within their limits, D different, well-formed names, and a map that
 * agrees.
 * 0, -EINVAL or -ENOMEM. */
int pio_layout_check(const struct pio_layout *layout);

/* Fills in the layout of a new file: the caller's, with defaults for the rest. */
void pio_layout_complete(const struct pio_layout *layout, struct pio_description *description);

/* Returns C for this open. */
int pio_layout_buffers(const struct pio_layout *layout);

/* Compares the caller's D, B and volumes, as far as given, with a file's description. 0, or -EINVAL where they
 * differ. */
int pio_layout_compare(const struct pio_layout *layout, const struct pio_description *description);

/* Writes volume `index`'s description to text (PIO_DESCRIPTION_MAX_BYTES). Returns its length. */
size_t pio_description_format(const struct pio_description *description, int index, char *text);

/* Reads a description. 0, or -EPROTO if pio_description_format would not have written exactly these bytes. */
int pio_description_parse(const char *text, size_t bytes, struct pio_description *description, int *index);
