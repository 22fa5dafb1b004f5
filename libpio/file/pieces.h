/*
 * The memory of a transfer: one buffer, or several taken one after the other (pio_readv).
 *
 *   position in the transfer   0        a                b      n
 *   pieces                     | piece 0 |    piece 1     | ... |
 *
 * The bytes are the caller's; nothing here owns them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct pio_piece {
    char *at;
    int64_t position, bytes; /* of the transfer; bytes > 0, unless it is the only piece */
};

struct pio_pieces {
    struct pio_piece *piece; /* adjacent, in ascending order */
    int n;
};

/* Makes one piece of n bytes, for which the caller has room in *piece. */
struct pio_pieces pio_pieces_one(struct pio_piece *piece, const void *buf, int64_t n);

/* Makes the pieces of a vector, without its empty ones, and sets *bytes to their sum. The caller frees pieces->piece.
 * -EINVAL: count is not 1 to IOV_MAX, or the sum does not fit into a ssize_t; -ENOMEM. */
int pio_pieces_make(const struct iovec *iov, int count, struct pio_pieces *pieces, int64_t *bytes);

/* Steps through the range from *position to `end`: sets *span to what of it lies in one piece, moves *position behind
 * that, and returns true; false at the end. */
bool pio_pieces_next(const struct pio_pieces *pieces, int64_t *position, int64_t end, struct pio_piece *span);

/* Returns the address of the range if it lies in one piece, else NULL. */
char *pio_pieces_whole(const struct pio_pieces *pieces, int64_t position, int64_t bytes);

void pio_pieces_gather(const struct pio_pieces *pieces, int64_t position, int64_t bytes, char *to);
void pio_pieces_scatter(const struct pio_pieces *pieces, int64_t position, int64_t bytes, const char *from);
void pio_pieces_clear(const struct pio_pieces *pieces, int64_t position, int64_t bytes);
