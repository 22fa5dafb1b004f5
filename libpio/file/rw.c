/*
 * PIO READ and PIO WRITE: Figures 3 and 5 of [P0 section 3].
 *
 * First C rounds over all volumes, one block each; then, for each acknowledgement from whichever I/O node, the next
 * block of the volume that it came from, D*C blocks further on. So C requests are under way at every volume for as
 * long as it has blocks left, and never more than D*C in all.
 *
 * Why "bytes_op + B * (D*C - 1)" leads to the next block also where transfers start or end within a block: a request
 * for block b ends at the end of block b, unless the transfer ends first. In the first case the request's end is the
 * start of block b + 1, and D*C - 1 blocks further starts block b + D*C, on the same volume because D divides D*C.
 * In the second case the request ends where the transfer ends, nothing lies beyond, and no request follows. The
 * first rounds issue the first D*C blocks of the transfer, one each, so every block is issued exactly once.
 *
 * Failures. `limit` is the end of the transfer in the user's buffer. A failed or cut request lowers it to the last
 * byte before the gap, and from then on only blocks below it are issued. Those are whole blocks, so the proof
 * above holds. When the queue is empty everything below the limit has been moved, whatever the order of the
 * acknowledgements was: the limit is the result.
 *
 * Files with a map of another kind. Between two bytes of the file a subfile has one piece, as it has its bytes in the
 * file's order. So a transfer is one range of each subfile: requests of at most B bytes, C under way at every volume as
 * above. The bytes of a request lie apart in the user's buffer; a plan gathers and scatters them. A view (viewed.h) is
 * the same: the element is in the place of the file, and what a volume has of it in that of the subfile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/pieces.h"
#include "libpio/file/pio.h"
#include "libpio/file/transport.h"
#include "libpio/file/viewed.h"

struct pio_transfer {
    struct pio_file *file;
    enum pio_op op;
    struct pio_pieces pieces; /* the user's memory; only read from when writing */
    int64_t start;            /* offset of its first byte, in the file or in its view */
    int64_t limit;            /* see above */
    int error;                /* of the failure that set the limit, 0: none */
};

/* Set when acknowledgements were lost: one may still arrive, and would be mistaken for that of a later request. */
static bool messages_lost;

/* ---- Figure 3 -------------------------------------------------------------------------------- */

/* Records that a gap begins at `position`. The lowest gap is the limit. */
static void lower_limit(struct pio_transfer *t, int64_t position, int volume, int error)
{
    if (position >= t->limit)
        return;
    t->limit = position;
    t->error = pio_fail_at_volume(t->file, volume, error);
}

/* Returns the bytes to write at `position`, gathered into the communication buffer if they lie in several pieces. */
static const char *in_one_piece(struct pio_transfer *t, int64_t position, int bytes)
{
    const char *whole = pio_pieces_whole(&t->pieces, position, bytes);

    if (whole)
        return whole;
    pio_pieces_gather(&t->pieces, position, bytes, t->file->comm);
    return t->file->comm;
}

/* ASYNCHRONOUS DISK READ/WRITE: requests the transfer's part of the block at `position` in the buffer. Returns the
 * number of bytes requested. */
static int issue_request(struct pio_transfer *t, int64_t position)
{
    struct pio_place place = pio_map_locate(&t->file->description.map, t->start + position);
    struct pio_subfile *subfile = &t->file->subfile[place.volume];
    int64_t left_bytes = t->limit - position;
    int bytes = left_bytes < place.block_left_bytes ? left_bytes : place.block_left_bytes;
    int error;

    if (t->op == PIO_OP_READ)
        error = pio_transport->read_start(subfile->fd, place.subfile_offset, bytes);
    else
        error = pio_transport->write_start(subfile->fd, place.subfile_offset, in_one_piece(t, position, bytes), bytes);
    if (error < 0) {
        lower_limit(t, position, place.volume, error);
        return bytes;
    }
    pio_queue_append(&t->file->queue, &(struct pio_request){.node = subfile->node,
                                                            .volume = place.volume,
                                                            .bytes = bytes,
                                                            .position = position,
                                                            .subfile_offset = place.subfile_offset});
    return bytes;
}

/* The range of the file from the first byte of a request to the one behind its last. */
struct part {
    int64_t from, to;
};

static struct part part_of(const struct pio_file *file, int volume, int64_t offset, int64_t bytes)
{
    return (struct part){pio_part_logical(file, volume, offset),
                         pio_part_logical(file, volume, offset + bytes - 1) + 1};
}

/* Where the file's byte x lies in the user's buffer. */
static int64_t position_of(const struct pio_transfer *t, int64_t x)
{
    return pio_own_bytes(t->file, x) - t->start;
}

/* Moves a request's bytes between the user's memory and `packed`, where they lie one after the other. */
static void move_part(struct pio_transfer *t, int volume, struct part part, char *packed)
{
    const struct plan *plan = t->file->subfile[volume].plan;
    struct pio_piece span;

    for (int64_t at = position_of(t, part.from); pio_pieces_next(&t->pieces, &at, position_of(t, part.to), &span);) {
        int64_t own = t->start + span.position;
        int64_t from = pio_file_end(t->file, own), to = pio_file_end(t->file, own + span.bytes);

        if (from < part.from)
            from = part.from;
        packed += t->op == PIO_OP_READ ? plan_scatter(plan, from, to, span.at, own, packed)
                                       : plan_gather(plan, from, to, packed, span.at, own);
    }
}

/* For a file with a map or a view, issues the next request to volume k, if any bytes are left for it. */
static void issue_part(struct pio_transfer *t, int k)
{
    struct pio_file *file = t->file;
    struct pio_subfile *subfile = &file->subfile[k];
    int64_t at = subfile->next, block_bytes = file->description.map.block_bytes;
    int64_t end = pio_part_bytes(file, k, pio_file_end(file, t->start + t->limit));
    int error;

    if (end > at - at % block_bytes + block_bytes)
        end = at - at % block_bytes + block_bytes;
    if (at >= end)
        return;
    subfile->next = end;
    struct part part = part_of(file, k, at, end - at);
    if (t->op == PIO_OP_READ) {
        error = pio_transport->read_start(subfile->fd, at, end - at);
    } else {
        move_part(t, k, part, file->comm);
        error = pio_transport->write_start(subfile->fd, at, file->comm, end - at);
    }
    if (error < 0)
        lower_limit(t, position_of(t, part.from), k, error);
    else
        pio_queue_append(&file->queue, &(struct pio_request){.node = subfile->node,
                                                             .volume = k,
                                                             .bytes = end - at,
                                                             .position = position_of(t, part.from),
                                                             .subfile_offset = at});
}

/* READ ACK FROM I/O NODES: waits for any acknowledgement, and takes its request out of the queue. */
static int await_ack(struct pio_transfer *t, struct pio_ack *ack, struct pio_request *request)
{
    struct pio_file *file = t->file;

    int error = pio_transport->wait(t->op, file->comm, file->comm_bytes, ack);
    if (error < 0)
        return error;
    return pio_queue_take(&file->queue, ack->node, request) ? 0 : -EPROTO;
}

static void finish_read(struct pio_transfer *t, const struct pio_request *request, const struct pio_ack *ack)
{
    struct pio_subfile *subfile = &t->file->subfile[request->volume];
    int64_t end_bytes = request->subfile_offset + ack->status;

    if (!subfile->plan) {
        pio_pieces_scatter(&t->pieces, request->position, ack->status, ack->data);
    } else if (ack->status > 0) {
        struct part part = part_of(t->file, request->volume, request->subfile_offset, ack->status);

        move_part(t, request->volume, part, (char *)ack->data);
    }
    if (ack->status < request->bytes && end_bytes < subfile->ended_bytes)
        subfile->ended_bytes = end_bytes;
}

static void finish_write(struct pio_transfer *t, const struct pio_request *request, const struct pio_ack *ack)
{
    struct pio_subfile *subfile = &t->file->subfile[request->volume];
    int64_t end_bytes = request->subfile_offset + ack->status;

    if (ack->status > 0 && end_bytes > subfile->wrote_bytes)
        subfile->wrote_bytes = end_bytes;
    if (ack->status < request->bytes) /* vertex/contract/proto.h: a short count means that the volume is full */
        lower_limit(t, position_of(t, pio_part_logical(t->file, request->volume, end_bytes)), request->volume, -ENOSPC);
}

static void finish_request(struct pio_transfer *t, const struct pio_request *request, const struct pio_ack *ack)
{
    if (ack->status < 0)
        lower_limit(t, request->position, request->volume, ack->status);
    else if (ack->status > request->bytes)
        lower_limit(t, request->position, request->volume, -EPROTO);
    else if (t->op == PIO_OP_READ)
        finish_read(t, request, ack);
    else
        finish_write(t, request, ack);
}

/* ---- Figure 5 -------------------------------------------------------------------------------- */

/* Initiates C blocks per volume. */
static void issue_first_rounds(struct pio_transfer *t)
{
    int disks = t->file->description.map.disks;
    int64_t position = 0;

    if (!pio_uses_plans(t->file)) {
        for (int c = 0; c < t->file->buffers; c++)
            for (int k = 0; k < disks && position < t->limit; k++)
                position += issue_request(t, position);
        return;
    }
    for (int k = 0; k < disks; k++)
        t->file->subfile[k].next = pio_part_bytes(t->file, k, pio_file_end(t->file, t->start));
    for (int c = 0; c < t->file->buffers; c++)
        for (int k = 0; k < disks; k++)
            issue_part(t, k);
}

/* Issues the next block of the volume of a request that has ended, unless there is none. */
static void issue_next(struct pio_transfer *t, const struct pio_request *done)
{
    const struct pio_file *file = t->file;
    const struct pio_map *map = &file->description.map;
    int64_t blocks_on = (int64_t)map->disks * file->buffers - 1;
    int64_t position = done->position + done->bytes + map->block_bytes * blocks_on;

    if (file->subfile[done->volume].ended_bytes != INT64_MAX)
        return;
    if (pio_uses_plans(file))
        issue_part(t, done->volume);
    else if (position < t->limit)
        issue_request(t, position);
}

/* Returns 0, or a negative errno when acknowledgements were lost; what happened to the data is then unknown. */
static int run_transfer(struct pio_transfer *t)
{
    struct pio_request request;
    struct pio_ack ack;

    for (int k = 0; k < t->file->description.map.disks; k++) {
        t->file->subfile[k].ended_bytes = INT64_MAX;
        t->file->subfile[k].wrote_bytes = 0;
    }
    issue_first_rounds(t);
    while (!pio_queue_empty(&t->file->queue)) {
        int error = await_ack(t, &ack, &request);

        if (error) {
            messages_lost = true;
            return error;
        }
        finish_request(t, &request, &ack);
        issue_next(t, &request);
    }
    return 0;
}

/* ---- The end of the file ---------------------------------------------------------------------- */

static bool any_subfile_ended(const struct pio_file *file)
{
    for (int k = 0; k < file->description.map.disks; k++)
        if (file->subfile[k].ended_bytes != INT64_MAX)
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
    int64_t from = pio_file_end(file, t->start), to = pio_file_end(file, t->start + t->limit);

    for (int k = 0; k < file->description.map.disks; k++) {
        int64_t first = pio_part_bytes(file, k, from);

        if (first < file->subfile[k].ended_bytes)
            first = file->subfile[k].ended_bytes;
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
        int64_t present = t->file->subfile[place.volume].ended_bytes - place.subfile_offset;

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
 * end. Cuts each subfile that this write made longer, unless another process has made it longer still. */
static void trim_after_gap(struct pio_transfer *t)
{
    struct pio_file *file = t->file;
    int64_t end = t->limit > 0 ? t->start + t->limit : 0;
    struct stat st;

    if (end < file->known_bytes)
        end = file->known_bytes;
    for (int k = 0; k < file->description.map.disks; k++) {
        struct pio_subfile *subfile = &file->subfile[k];
        int64_t keep_bytes = pio_map_subfile_bytes(&file->description.map, k, end);

        if (subfile->wrote_bytes <= keep_bytes)
            continue;
        if (pio_transport->fstat(subfile->fd, &st) == 0 && st.st_size == subfile->wrote_bytes)
            pio_transport->ftruncate(subfile->fd, keep_bytes);
    }
}

/* ---- Entry points ------------------------------------------------------------------------------ */

static struct pio_file *get_file(int pfd, int unfit_mode, size_t n, int *error)
{
    struct pio_file *file = pio_file_get(pfd);

    *error = 0;
    if (!file || (file->flags & O_ACCMODE) == unfit_mode)
        *error = -EBADF;
    else if (n > PIO_OFFSET_MAX)
        *error = -EINVAL;
    else if (messages_lost)
        *error = -EIO;
    return file;
}

static ssize_t result_of(const struct pio_transfer *t)
{
    return t->limit == 0 && t->error ? t->error : t->limit;
}

/* Returns the bytes read, or a negative errno. */
static ssize_t read_at(struct pio_file *file, int64_t start, struct pio_pieces pieces, int64_t n)
{
    struct pio_transfer t = {.file = file, .op = PIO_OP_READ, .pieces = pieces, .start = start, .limit = n};

    if (t.limit > PIO_OFFSET_MAX - t.start)
        t.limit = PIO_OFFSET_MAX - t.start;
    if (pio_file_end(file, t.start + t.limit) < 0)
        return -EINVAL;
    int error = run_transfer(&t);
    if (!error && any_subfile_ended(file))
        error = settle_end(&t);
    return error ? error : result_of(&t);
}

/* Returns the bytes written, or a negative errno. */
static ssize_t write_at(struct pio_file *file, int64_t start, struct pio_pieces pieces, int64_t n)
{
    struct pio_transfer t = {.file = file, .op = PIO_OP_WRITE, .pieces = pieces, .start = start, .limit = n};

    if (n > PIO_OFFSET_MAX - start || pio_file_end(file, start + n) < 0)
        return -EFBIG;
    int error = run_transfer(&t);
    if (error)
        return error;
    if (t.error && !file->view) /* beside a view's bytes others write */
        trim_after_gap(&t);
    int64_t end = t.limit > 0 ? pio_file_end(file, start + t.limit) : 0;
    if (file->known_bytes < end)
        file->known_bytes = end;
    return result_of(&t);
}

static ssize_t read_here(struct pio_file *file, struct pio_pieces pieces, int64_t n)
{
    ssize_t done = read_at(file, file->offset, pieces, n);

    if (done > 0)
        file->offset += done;
    return pio_result(done);
}

static ssize_t write_here(struct pio_file *file, struct pio_pieces pieces, int64_t n)
{
    int64_t start = file->flags & O_APPEND && n > 0 ? pio_file_bytes(file) : file->offset;

    if (start < 0 || n == 0)
        return pio_result(start < 0 ? start : 0);
    ssize_t done = write_at(file, start, pieces, n);
    if (done >= 0)
        file->offset = start + done;
    return pio_result(done);
}

static struct pio_pieces one_piece(struct pio_piece *piece, const void *buf, size_t n)
{
    *piece = (struct pio_piece){(char *)buf, 0, n};
    return (struct pio_pieces){piece, 1};
}

ssize_t pio_read(int pfd, void *buf, size_t n)
{
    int error;
    struct pio_file *file = get_file(pfd, O_WRONLY, n, &error);
    struct pio_piece piece;

    return error ? pio_result(error) : read_here(file, one_piece(&piece, buf, n), n);
}

ssize_t pio_write(int pfd, const void *buf, size_t n)
{
    int error;
    struct pio_file *file = get_file(pfd, O_RDONLY, n, &error);
    struct pio_piece piece;

    return error ? pio_result(error) : write_here(file, one_piece(&piece, buf, n), n);
}

ssize_t pio_pread(int pfd, void *buf, size_t n, off_t offset)
{
    int error;
    struct pio_file *file = get_file(pfd, O_WRONLY, n, &error);
    struct pio_piece piece;

    if (!error && (offset < 0 || offset > PIO_OFFSET_MAX))
        error = -EINVAL;
    return pio_result(error ? error : read_at(file, offset, one_piece(&piece, buf, n), n));
}

ssize_t pio_pwrite(int pfd, const void *buf, size_t n, off_t offset)
{
    int error;
    struct pio_file *file = get_file(pfd, O_RDONLY, n, &error);
    struct pio_piece piece;

    if (!error && (offset < 0 || offset > PIO_OFFSET_MAX))
        error = -EINVAL;
    return pio_result(error || n == 0 ? error : write_at(file, offset, one_piece(&piece, buf, n), n));
}

/* Transfers several buffers as one, as `move` does. */
static ssize_t move_vector(int pfd, int unfit_mode, const struct iovec *iov, int count,
                           ssize_t (*move)(struct pio_file *file, struct pio_pieces pieces, int64_t n))
{
    int error;
    struct pio_file *file = get_file(pfd, unfit_mode, 0, &error);
    struct pio_pieces pieces;
    int64_t n;

    if (!error)
        error = pio_pieces_make(iov, count, &pieces, &n);
    if (error)
        return pio_result(error);
    ssize_t done = n > PIO_OFFSET_MAX ? pio_result(-EINVAL) : move(file, pieces, n);
    free(pieces.piece);
    return done;
}

ssize_t pio_readv(int pfd, const struct iovec *iov, int count)
{
    return move_vector(pfd, O_WRONLY, iov, count, read_here);
}

ssize_t pio_writev(int pfd, const struct iovec *iov, int count)
{
    return move_vector(pfd, O_RDONLY, iov, count, write_here);
}
