/*
 * Room for bytes that are still to be written. No request reserves blocks of a volume, so the bytes are written: with
 * what the file holds there, else with zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/file/transfer.h"

#define PIECE_BYTES (256 << 10) /* most that is written at once, unless a stripe is longer */

static int check(const struct pio_file *file, int64_t offset, int64_t n)
{
    if (!file || (file->flags & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    if (offset < 0 || n <= 0 || file->view)
        return -EINVAL;
    return offset > PIO_OFFSET_MAX || n > PIO_OFFSET_MAX - offset ? -EFBIG : 0;
}

/* Returns the length of a piece: whole stripes, so that no block is written in two requests. */
static int64_t piece_bytes(const struct pio_map *map)
{
    int64_t stripe = (int64_t)map->disks * map->block_bytes;

    return stripe >= PIECE_BYTES ? stripe : PIECE_BYTES / stripe * stripe;
}

/* Writes the bytes from `at` on again. Returns the number, or a negative errno. A read that comes short below the
 * end of the file has met a failure: only what it has read is written again, and the next one returns the error. */
static ssize_t write_again(int pfd, char *piece, int64_t at, int64_t n, int64_t present)
{
    ssize_t held = at < present ? pio_pread(pfd, piece, n, at) : 0;

    if (held < 0)
        return -errno;
    if (held > 0 && held < n && at + held < present)
        n = held;
    memset(piece + held, 0, n - held);
    ssize_t done = pio_pwrite(pfd, piece, n, at);
    return done < 0 ? -errno : done;
}

/* Cuts the file back to `before` bytes, unless another process has changed its length. The failed path stays. */
static void take_back(int pfd, struct pio_file *file, int64_t before, int64_t reached)
{
    char path[PIO_PATH_MAX_BYTES];

    memcpy(path, pio_fail_path, sizeof path);
    if (reached > before && pio_file_bytes(file) == reached)
        pio_ftruncate(pfd, before);
    memcpy(pio_fail_path, path, sizeof path);
}

int pio_preallocate(int pfd, off_t offset, off_t n)
{
    struct pio_file *file = pio_file_get(pfd);
    ssize_t done = 0;

    int error = check(file, offset, n);
    if (error)
        return PIO_RESULT(error);
    pio_transfer_settle(file);
    int64_t before = pio_file_bytes(file), at = offset, end = offset + n;
    if (before < 0)
        return PIO_RESULT(before);
    if (offset < before && (file->flags & O_ACCMODE) != O_RDWR)
        return PIO_RESULT(-EBADF);
    int64_t most = piece_bytes(&file->description.map);
    char *piece = malloc(most);
    if (!piece)
        return PIO_RESULT(-ENOMEM);
    for (; at < end && done >= 0; at += done > 0 ? done : 0) {
        int64_t bytes = most - at % most < end - at ? most - at % most : end - at;

        done = write_again(pfd, piece, at, bytes, before);
    }
    free(piece);
    if (done < 0)
        take_back(pfd, file, before, at);
    return (int)PIO_RESULT(done < 0 ? done : 0);
}
