/* The end of a transfer: what the end of the file, holes and failures make of it. */
#pragma once

#include "libpio/file/transfer.h"

/* -EINVAL, -EFBIG: a file does not hold that much. Shortens *n where it goes beyond the highest offset. */
int pio_transfer_check(const struct pio_file *file, enum pio_op op, int64_t start, int64_t *n);

/* Where the next append of the file begins: at its end, or behind what it has started to write. Or a negative errno. */
int64_t pio_transfer_append_at(struct pio_file *file);

/* Finishes the transfer. Returns the bytes moved from the start of the user's memory without a gap, or a negative errno
 * if there are none. */
int64_t pio_transfer_end(struct pio_transfer *t);
