/*
 * The passes of a transfer: one, or several of a view whose plans are of a part of the file at a time (viewed.h).
 *
 *   the view's windows    |   window    |   window    |   window    |
 *   transfer                    |-pass 0|---pass 1----|-pass 2-|          each but the last ends before the next begins
 */
#pragma once

#include "libpio/file/transfer.h"

/* Begins a transfer of n bytes at `start`, which must be within what a file can hold. Where the view's window has to
 * move, the file's other transfers are ended first, as far as their result. */
void pio_passes_begin(struct pio_transfer *t, enum pio_op op, struct pio_pieces pieces, int64_t start, int64_t n);

/* Finishes the transfer. Returns what pio_transfer_end does. */
int64_t pio_passes_end(struct pio_transfer *t);
