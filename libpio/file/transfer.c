/*
 * Moves the blocks of transfers: Figures 3 and 5 of [P0 section 3] (transfer.h).
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
 * above holds. When none of its requests is left everything below the limit has been moved, whatever the order of
 * the acknowledgements was: the limit is the result.
 *
 * Files with a map of another kind. Between two bytes of the file a subfile has one piece, as it has its bytes in the
 * file's order. So a transfer is one range of each subfile: requests of at most B bytes, C under way at every volume as
 * above. The bytes of a request lie apart in the user's buffer; a plan gathers and scatters them. A view (viewed.h) is
 * the same: the element is in the place of the file, and what a volume has of it in that of the subfile.
 *
 * Several transfers. All requests are in one queue, each with its transfer. Whoever waits takes acknowledgements of all
 * and serves whichever transfer they are of: so none stands still while a program waits for another.
 */
#include "libpio/file/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "libpio/file/viewed.h"

/* ---- A transfer's life ------------------------------------------------------------------------ */

static struct pio_request *take_spare(struct pio_transfer *t)
{
    struct pio_request *request = t->spare;

    t->spare = request->next;
    return request;
}

static void put_spare(struct pio_transfer *t, struct pio_request *request)
{
    request->next = t->spare;
    t->spare = request;
}

struct pio_transfer *pio_transfer_new(struct pio_file *file)
{
    int disks = file->description.map.disks, requests = disks * file->buffers;
    struct pio_transfer *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->file = file;
    t->requests = calloc(requests, sizeof *t->requests);
    t->on = calloc(disks, sizeof *t->on);
    t->part = calloc(disks, sizeof *t->part);
    if (!t->requests || !t->on || !t->part) {
        pio_transfer_free(t);
        return NULL;
    }
    for (int i = 0; i < requests; i++)
        put_spare(t, &t->requests[i]);
    return t;
}

void pio_transfer_free(struct pio_transfer *t)
{
    if (!t)
        return;
    free(t->requests);
    free(t->on);
    free(t->part);
    free(t);
}

int pio_transfer_reserve(int64_t block_bytes)
{
    size_t bytes = PIO_ACK_HEADER_BYTES + block_bytes;

    if (bytes <= pio_shared.comm_bytes)
        return 0;
    char *larger = realloc(pio_shared.comm, bytes);
    if (!larger)
        return -ENOMEM;
    pio_shared.comm = larger;
    pio_shared.comm_bytes = bytes;
    return 0;
}

/* ---- Figure 3 -------------------------------------------------------------------------------- */

/* Records that a gap begins at `position`. The lowest gap is the limit. */
static void lower_limit(struct pio_transfer *t, int64_t position, int volume, int error)
{
    if (position >= t->limit)
        return;
    t->limit = position;
    t->error = error;
    t->failed_volume = volume;
}

static void put_under_way(struct pio_transfer *t, int volume, int bytes, int64_t position, int64_t subfile_offset)
{
    struct pio_request *request = take_spare(t);

    request->transfer = t;
    request->op = t->op;
    request->node = t->file->subfile[volume].node;
    request->volume = volume;
    request->bytes = bytes;
    request->position = position;
    request->subfile_offset = subfile_offset;
    t->under_way++;
    pio_queue_append(&pio_shared.queue, request);
}

/* Returns the bytes to write at `position`, gathered into the communication buffer if they lie in several pieces. */
static const char *in_one_piece(struct pio_transfer *t, int64_t position, int bytes)
{
    const char *whole = pio_pieces_whole(&t->pieces, position, bytes);

    if (whole)
        return whole;
    pio_pieces_gather(&t->pieces, position, bytes, pio_shared.comm);
    return pio_shared.comm;
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
    put_under_way(t, place.volume, bytes, position, place.subfile_offset);
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
    int64_t at = t->on[k].next, block_bytes = file->description.map.block_bytes;
    int64_t end =
        t->limit == t->whole ? t->on[k].end : pio_part_bytes(file, k, pio_file_end(file, t->start + t->limit));
    int error;

    if (end > at - at % block_bytes + block_bytes)
        end = at - at % block_bytes + block_bytes;
    if (at >= end)
        return;
    t->on[k].next = end;
    struct part part = part_of(file, k, at, end - at);
    if (t->op == PIO_OP_READ) {
        error = pio_transport->read_start(subfile->fd, at, end - at);
    } else {
        move_part(t, k, part, pio_shared.comm);
        error = pio_transport->write_start(subfile->fd, at, pio_shared.comm, end - at);
    }
    if (error < 0)
        lower_limit(t, position_of(t, part.from), k, error);
    else
        put_under_way(t, k, end - at, position_of(t, part.from), at);
}

/* READ ACK FROM I/O NODES: waits for any acknowledgement of that kind, and takes its request out of the queue. */
static int await_ack(enum pio_op op, struct pio_ack *ack, struct pio_request **request)
{
    int error = pio_transport->wait(op, pio_shared.comm, pio_shared.comm_bytes, ack);

    if (error < 0)
        return error;
    *request = pio_queue_take(&pio_shared.queue, op, ack->node);
    return *request ? 0 : -EPROTO;
}

static void finish_read(struct pio_transfer *t, const struct pio_request *request, const struct pio_ack *ack)
{
    struct pio_progress *on = &t->on[request->volume];
    int64_t end_bytes = request->subfile_offset + ack->status;

    if (!t->file->subfile[request->volume].plan) {
        pio_pieces_scatter(&t->pieces, request->position, ack->status, ack->data);
    } else if (ack->status > 0) {
        struct part part = part_of(t->file, request->volume, request->subfile_offset, ack->status);

        move_part(t, request->volume, part, (char *)ack->data);
    }
    if (ack->status < request->bytes && end_bytes < on->ended_bytes)
        on->ended_bytes = end_bytes;
}

static void finish_write(struct pio_transfer *t, const struct pio_request *request, const struct pio_ack *ack)
{
    struct pio_progress *on = &t->on[request->volume];
    int64_t end_bytes = request->subfile_offset + ack->status;

    if (ack->status > 0 && end_bytes > on->wrote_bytes)
        on->wrote_bytes = end_bytes;
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

/* Counts what volume k has of the file from `from` to before `to`, and notes it if there is anything. */
static void note_part(struct pio_transfer *t, int k, int64_t from, int64_t to)
{
    if (t->file->subfile[k].plan->body.bytes == 0)
        return;
    t->on[k].next = pio_part_bytes(t->file, k, from);
    t->on[k].end = pio_part_bytes(t->file, k, to);
    if (t->on[k].next < t->on[k].end)
        t->part[t->parts++] = k;
}

/* Finds the volumes that have bytes of the transfer: of stripes, only those of the blocks in which it lies. */
static void find_parts(struct pio_transfer *t)
{
    struct pio_file *file = t->file;
    const struct pio_map *map = &file->description.map;
    int64_t from = pio_file_end(file, t->start + t->from + 1) - 1, to = pio_file_end(file, t->start + t->limit);

    t->parts = 0;
    if (t->from == t->limit)
        return;
    int64_t first = from / map->block_bytes, blocks = (to - 1) / map->block_bytes - first + 1;
    if (map->pattern || blocks >= map->disks)
        for (int k = 0; k < map->disks; k++)
            note_part(t, k, from, to);
    else
        for (int64_t b = first; b < first + blocks; b++)
            note_part(t, (int)(b % map->disks), from, to);
}

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
    find_parts(t);
    for (int c = 0; c < t->file->buffers; c++)
        for (int i = 0; i < t->parts; i++)
            issue_part(t, t->part[i]);
}

/* Issues the next block of the volume of a request that has ended, unless there is none. That request is spare again,
 * and becomes the next one. */
static void issue_next(struct pio_transfer *t, const struct pio_request *done)
{
    const struct pio_file *file = t->file;
    const struct pio_map *map = &file->description.map;
    int64_t blocks_on = (int64_t)map->disks * file->buffers - 1;
    int64_t position = done->position + done->bytes + map->block_bytes * blocks_on;

    if (t->on[done->volume].ended_bytes != INT64_MAX)
        return;
    if (pio_uses_plans(file))
        issue_part(t, done->volume);
    else if (position < t->limit)
        issue_request(t, position);
}

/* Waits for one acknowledgement of that kind, and serves its transfer. */
static int serve_ack(enum pio_op op)
{
    struct pio_request *request;
    struct pio_ack ack;
    int error = await_ack(op, &ack, &request);

    if (error) {
        pio_shared.lost_error = error;
        return error;
    }
    struct pio_transfer *t = request->transfer;
    t->under_way--;
    finish_request(t, request, &ack);
    put_spare(t, request);
    issue_next(t, request);
    return 0;
}

/* Bytes that are gathered or scattered piece by piece cost what the pieces cost. */
bool pio_work_begin(const struct pio_file *file, const struct pio_pieces *pieces)
{
    bool works = pieces->n == 1 && !pio_uses_plans(file);

    if (works)
        pio_transport->work(true);
    return works;
}

void pio_work_end(bool works)
{
    if (works)
        pio_transport->work(false);
}

void pio_transfer_begin(struct pio_transfer *t, enum pio_op op, struct pio_pieces pieces, int64_t start, int64_t from,
                        int64_t n)
{
    t->op = op;
    t->pieces = pieces;
    t->start = start;
    t->from = from;
    t->limit = t->whole = n;
    t->error = 0;
    for (int k = 0; k < t->file->description.map.disks; k++)
        t->on[k] = (struct pio_progress){.ended_bytes = INT64_MAX};
    issue_first_rounds(t);
}

/* Which kind of acknowledgement to take next: the oldest request's. But while reads are under way, too, one of a write
 * is not waited for: replies with data that nobody takes fill the node's memory, and then it could not come. */
static enum pio_op next_kind(void)
{
    const struct pio_queue *queue = &pio_shared.queue;

    if (queue->head->op == PIO_OP_READ || !pio_queue_has(queue, PIO_OP_READ))
        return queue->head->op;
    return pio_transport->arrived(PIO_OP_WRITE) ? PIO_OP_WRITE : PIO_OP_READ;
}

int pio_transfer_finish(struct pio_transfer *t)
{
    while (t->under_way > 0 && !pio_shared.lost_error)
        serve_ack(next_kind());
    return t->under_way > 0 ? pio_shared.lost_error : 0;
}

int pio_transfer_advance(void)
{
    for (int op = PIO_OP_READ; op <= PIO_OP_WRITE; op++)
        while (!pio_shared.lost_error && pio_queue_has(&pio_shared.queue, op) && pio_transport->arrived(op))
            serve_ack(op);
    return pio_shared.lost_error;
}

void pio_transfer_settle(struct pio_file *file)
{
    for (struct pio_transfer *t = file->started; t; t = t->next)
        pio_transfer_finish(t);
}

struct pio_file *pio_transfer_file(int pfd, enum pio_op op, size_t n, int *error)
{
    struct pio_file *file = pio_file_get(pfd);

    *error = 0;
    if (!file || (file->flags & O_ACCMODE) == (op == PIO_OP_READ ? O_WRONLY : O_RDONLY))
        *error = -EBADF;
    else if (n > PIO_OFFSET_MAX)
        *error = -EINVAL;
    else if (pio_shared.lost_error)
        *error = -EIO;
    return file;
}
