/*
 * Makes the result of a transfer whose requests have all been answered (transfer_end.h).
 */
#include "libpio/file/transfer_end.h"

#include <errno.h>

#include "libpio/file/transport.h"
#include "libpio/file/viewed.h"

/* ---- The end of the file ---------------------------------------------------------------------- */

static bool any_subfile_ended(const struct pio_transfer *t)
{
    for (int k = 0; k < t->file->description.map.disks; k++)
        if (t->on[k].ended_bytes != INT64_MAX)
            return true;
    return false;
}

static bool clear_run(void *ctx, const struct plan_run *run)
{
    struct pio_transfer *t = ctx;

    pio_pieces_clear(&t->pieces, run->in[PLAN_A] - t->start, run->bytes);
    return true;
}

/* For a file with a map or a view, fills the bytes below the limit that lie beyond their subfile's end with zeros. */
static void fill_holes_by_plans(struct pio_transfer *t)
{
    const struct pio_file *file = t->file;
    int64_t from = pio_file_end(file, t->start + t->from), to = pio_file_end(file, t->start + t->limit);

    for (int k = 0; k < file->description.map.disks; k++) {
        int64_t first = pio_part_bytes(file, k, from);

        if (first < t->on[k].ended_bytes)
            first = t->on[k].ended_bytes;
        if (first < pio_part_bytes(file, k, to))
            plan_runs(file->subfile[k].plan, pio_part_logical(file, k, first), to, clear_run, t);
    }
}

/* Fills the bytes below the limit that lie beyond their subfile's end with zeros. */
static void fill_holes(struct pio_transfer *t)
{
    if (pio_uses_plans(t->file)) {
        fill_holes_by_plans(t);
        return;
    }
    for (int64_t position = 0; position < t->limit;) {
        struct pio_place place = pio_map_locate(&t->file->description.map, t->start + position);
        int64_t left_bytes = t->limit - position;
        int64_t bytes = left_bytes < place.block_left_bytes ? left_bytes : place.block_left_bytes;
        int64_t present = t->on[place.volume].ended_bytes - place.subfile_offset;

        if (present < 0)
            present = 0;
        if (present < bytes)
            pio_pieces_clear(&t->pieces, position + present, bytes - present);
        position += bytes;
    }
}

/* A subfile ended within the transfer. Only the sizes of all subfiles show whether that is a hole or the end of the
 * logical file. They are requested only now, so that a read within the file costs only the messages of its blocks. */
static int settle_end(struct pio_transfer *t)
{
    int64_t bytes = pio_file_bytes(t->file);

    if (bytes < 0)
        return bytes;
    bytes = pio_own_bytes(t->file, bytes);
    int64_t left_bytes = bytes > t->start ? bytes - t->start : 0;
    if (left_bytes < t->limit) {
        t->limit = left_bytes;
        t->error = 0;
    }
    fill_holes(t);
    return 0;
}

/* After a write that failed at a gap, the file must end where it ended before, or where the bytes written without a gap
 * end. Cuts each subfile that this write made longer, unless another process has made it longer still, which its server
 * sees: between a look and a cut from here another could write. Nothing below the transfer's start is cut: another
 * process may have written it since the size was seen. */
static void trim_after_gap(struct pio_transfer *t)
{
    struct pio_file *file = t->file;
    int64_t end = t->start + t->limit;

    if (end < file->known_bytes)
        end = file->known_bytes;
    for (int k = 0; k < file->description.map.disks; k++) {
        struct pio_subfile *subfile = &file->subfile[k];
        int64_t keep_bytes = pio_map_subfile_bytes(&file->description.map, k, end);

        if (t->on[k].wrote_bytes > keep_bytes)
            pio_transport->cut(subfile->fd, keep_bytes, t->on[k].wrote_bytes);
    }
}

/* ---- The result -------------------------------------------------------------------------------- */

int pio_transfer_check(const struct pio_file *file, enum pio_op op, int64_t start, int64_t *n)
{
    if (op == PIO_OP_WRITE && *n > 0 && start >= PIO_OFFSET_MAX)
        return -EFBIG;
    if (*n > PIO_OFFSET_MAX - start)
        *n = PIO_OFFSET_MAX - start;
    if (pio_file_end(file, start + *n) >= 0)
        return 0;
    return op == PIO_OP_READ ? -EINVAL : -EFBIG;
}

int64_t pio_transfer_append_at(struct pio_file *file)
{
    int64_t at = pio_file_bytes(file);

    for (const struct pio_transfer *t = file->started; t && at >= 0; t = t->next)
        if (t->op == PIO_OP_WRITE && t->under_way > 0 && t->start + t->limit > at)
            at = t->start + t->limit;
    return at;
}

static void end_write(struct pio_transfer *t)
{
    struct pio_file *file = t->file;

    if (t->error && !file->view) /* beside a view's bytes others write */
        trim_after_gap(t);
    int64_t end = t->limit > 0 ? pio_file_end(file, t->start + t->limit) : 0;
    if (file->known_bytes < end)
        file->known_bytes = end;
}

int64_t pio_transfer_end(struct pio_transfer *t)
{
    int error = pio_transfer_finish(t);

    if (!error && t->op == PIO_OP_WRITE)
        end_write(t);
    else if (!error && any_subfile_ended(t))
        error = settle_end(t);
    if (error)
        return error;
    if (t->error)
        pio_fail_at_volume(t->file, t->failed_volume, t->error);
    return t->limit == 0 && t->error ? t->error : t->limit;
}
