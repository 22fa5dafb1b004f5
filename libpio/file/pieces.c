/* The memory of a transfer, in one piece or several (pieces.h). */
#include "libpio/file/pieces.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/numbers.h"

#ifndef IOV_MAX
#define IOV_MAX 1024
#endif

struct pio_pieces pio_pieces_one(struct pio_piece *piece, const void *buf, int64_t n)
{
    *piece = (struct pio_piece){(char *)buf, 0, n};
    return (struct pio_pieces){piece, 1};
}

static int sum(const struct iovec *iov, int count, int64_t *bytes)
{
    size_t all = 0;

    if (count <= 0 || count > IOV_MAX)
        return -EINVAL;
    for (int i = 0; i < count; i++)
        if (iov[i].iov_len > (size_t)INT64_MAX - all)
            return -EINVAL;
        else
            all += iov[i].iov_len;
    *bytes = all;
    return 0;
}

int pio_pieces_make(const struct iovec *iov, int count, struct pio_pieces *pieces, int64_t *bytes)
{
    int64_t position = 0;
    int error = sum(iov, count, bytes);

    if (error)
        return error;
    *pieces = (struct pio_pieces){.piece = malloc(count * sizeof *pieces->piece)};
    if (!pieces->piece)
        return -ENOMEM;
    for (int i = 0; i < count; i++)
        if (iov[i].iov_len > 0) {
            pieces->piece[pieces->n++] = (struct pio_piece){iov[i].iov_base, position, iov[i].iov_len};
            position += iov[i].iov_len;
        }
    return 0;
}

/* Returns the piece with the byte at `position`, which is in one. */
static const struct pio_piece *find(const struct pio_pieces *pieces, int64_t position)
{
    return &pieces->piece[FIRST_NOT(1, pieces->n, i, pieces->piece[i].position <= position) - 1];
}

bool pio_pieces_next(const struct pio_pieces *pieces, int64_t *position, int64_t end, struct pio_piece *span)
{
    if (*position >= end)
        return false;
    const struct pio_piece *p = find(pieces, *position);
    int64_t within = *position - p->position, left = p->bytes - within;

    *span = (struct pio_piece){p->at + within, *position, left < end - *position ? left : end - *position};
    *position += span->bytes;
    return true;
}

char *pio_pieces_whole(const struct pio_pieces *pieces, int64_t position, int64_t bytes)
{
    struct pio_piece span;
    int64_t at = position;

    return pio_pieces_next(pieces, &at, position + bytes, &span) && span.bytes == bytes ? span.at : NULL;
}

void pio_pieces_gather(const struct pio_pieces *pieces, int64_t position, int64_t bytes, char *to)
{
    struct pio_piece span;

    for (int64_t at = position; pio_pieces_next(pieces, &at, position + bytes, &span);)
        memcpy(to + (span.position - position), span.at, span.bytes);
}

void pio_pieces_scatter(const struct pio_pieces *pieces, int64_t position, int64_t bytes, const char *from)
{
    struct pio_piece span;

    for (int64_t at = position; pio_pieces_next(pieces, &at, position + bytes, &span);)
        memcpy(span.at, from + (span.position - position), span.bytes);
}

void pio_pieces_clear(const struct pio_pieces *pieces, int64_t position, int64_t bytes)
{
    struct pio_piece span;

    for (int64_t at = position; pio_pieces_next(pieces, &at, position + bytes, &span);)
        memset(span.at, 0, span.bytes);
}
