/*
 * PIO READ and PIO WRITE: calls that return when their transfer is done [P0 section 3]. transfer.c moves the blocks.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "libpio/file/pio.h"
#include "libpio/file/passes.h"
#include "libpio/file/transfer_end.h"

/* Returns the bytes moved, or a negative errno. */
static int64_t move_at(struct pio_file *file, enum pio_op op, int64_t start, struct pio_pieces pieces, int64_t n)
{
    int error = pio_transfer_check(file, op, start, &n);

    if (error)
        return error;
    bool works = pio_work_begin(file, &pieces);
    pio_passes_begin(file->own, op, pieces, start, n);
    int64_t done = pio_passes_end(file->own);
    pio_work_end(works);
    return done;
}

static ssize_t read_here(struct pio_file *file, struct pio_pieces pieces, int64_t n)
{
    int64_t done = move_at(file, PIO_OP_READ, file->offset, pieces, n);

    if (done > 0)
        file->offset += done;
    return done;
}

static ssize_t write_here(struct pio_file *file, struct pio_pieces pieces, int64_t n)
{
    int64_t start = file->flags & O_APPEND && n > 0 ? pio_transfer_append_at(file) : file->offset;

    if (start < 0 || n == 0)
        return start < 0 ? start : 0;
    int64_t done = move_at(file, PIO_OP_WRITE, start, pieces, n);
    if (done >= 0)
        file->offset = start + done;
    return done;
}

ssize_t pio_read(int pfd, void *buf, size_t n)
{
    int error;
    struct pio_file *file = pio_transfer_file(pfd, PIO_OP_READ, n, &error);
    struct pio_piece piece;

    return PIO_RESULT(error ? error : read_here(file, pio_pieces_one(&piece, buf, n), n));
}

ssize_t pio_write(int pfd, const void *buf, size_t n)
{
    int error;
    struct pio_file *file = pio_transfer_file(pfd, PIO_OP_WRITE, n, &error);
    struct pio_piece piece;

    return PIO_RESULT(error ? error : write_here(file, pio_pieces_one(&piece, buf, n), n));
}

/* Transfers at a named place. */
static ssize_t move_there(int pfd, enum pio_op op, const void *buf, size_t n, off_t offset)
{
    int error;
    struct pio_file *file = pio_transfer_file(pfd, op, n, &error);
    struct pio_piece piece;

    if (!error && (offset < 0 || offset > PIO_OFFSET_MAX))
        error = -EINVAL;
    if (error || (op == PIO_OP_WRITE && n == 0))
        return error;
    return move_at(file, op, offset, pio_pieces_one(&piece, buf, n), n);
}

ssize_t pio_pread(int pfd, void *buf, size_t n, off_t offset)
{
    return PIO_RESULT(move_there(pfd, PIO_OP_READ, buf, n, offset));
}

ssize_t pio_pwrite(int pfd, const void *buf, size_t n, off_t offset)
{
    return PIO_RESULT(move_there(pfd, PIO_OP_WRITE, buf, n, offset));
}

/* Transfers several buffers as one, as `move` does. */
static ssize_t move_vector(int pfd, enum pio_op op, const struct iovec *iov, int count,
                           ssize_t (*move)(struct pio_file *file, struct pio_pieces pieces, int64_t n))
{
    int error;
    struct pio_file *file = pio_transfer_file(pfd, op, 0, &error);
    struct pio_pieces pieces;
    int64_t n;

    if (!error)
        error = pio_pieces_make(iov, count, &pieces, &n);
    if (error)
        return error;
    ssize_t done = n > PIO_OFFSET_MAX ? -EINVAL : move(file, pieces, n);
    free(pieces.piece);
    return done;
}

ssize_t pio_readv(int pfd, const struct iovec *iov, int count)
{
    return PIO_RESULT(move_vector(pfd, PIO_OP_READ, iov, count, read_here));
}

ssize_t pio_writev(int pfd, const struct iovec *iov, int count)
{
    return PIO_RESULT(move_vector(pfd, PIO_OP_WRITE, iov, count, write_here));
}
