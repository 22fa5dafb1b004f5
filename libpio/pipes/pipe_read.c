/*
 * The reading end of a pipe (pipe.h). What comes is put where it belongs in the slots; up to the next byte that some
 * writer still has to send, all is there. Bytes that nobody writes are zeros.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/pipes/pipe.h"
#include "vertex/contract/traps.h"

#define MESSAGE_BYTES 16384

static void set_first_slot(struct pipe_end *e, int64_t slot)
{
    e->first_slot = slot;
    e->first_end = (slot + 1) * e->slot_bytes;
    e->slots_end = (slot + PIPE_SLOTS) * e->slot_bytes;
}

PIPE_APART static int prepare_first(struct pipe_end *e)
{
    int error = pipe_make_ready(e);

    if (error || !pipe_has_bytes(e))
        return error;
    e->slot_bytes = pipe_slot_bytes(e, e->own);
    if (e->slot_bytes < 0)
        return e->error = (int)e->slot_bytes;
    set_first_slot(e, 0);
    e->direct = e->partners == 1 && e->partner[0].whole;
    e->message = pipe_new_buffer(MESSAGE_BYTES);
    if (!e->direct)
        e->slot = malloc(PIPE_SLOTS * (size_t)e->slot_bytes);
    if (!e->message || (!e->slot && !e->direct))
        return e->error = -ENOMEM;
    return 0;
}

static int prepare(struct pipe_end *e)
{
    return e->message ? e->error : prepare_first(e);
}

/* ---- Messages ---- */

static void end_writer(struct pipe_end *e, struct pipe_partner *writer)
{
    e->ends++;
    if (!writer)
        return;
    writer->ended = true;
    writer->next = INT64_MAX;
}

/* The address of a slot, which is full of zeros when it is used first. */
static char *slot_at(struct pipe_end *e, int64_t slot)
{
    for (; e->cleared <= slot; e->cleared++)
        memset(e->slot + e->cleared % PIPE_SLOTS * e->slot_bytes, 0, (size_t)e->slot_bytes);
    return e->slot + slot % PIPE_SLOTS * e->slot_bytes;
}

/* Finds the slot into which the writer's next byte falls, and the window. -EPROTO: it is beyond those that the writer
 * was told. */
static int find_slot(const struct pipe_end *e, struct pipe_partner *writer)
{
    for (;;) {
        int64_t end = pipe_slot_begin(e, e->own, writer->slots + 1);
        int error = 0;

        if (writer->slot_end < 0)
            writer->slot_end = plan_window_bytes(&writer->window, end);
        if (writer->at < writer->slot_end)
            return 0;
        if (writer->slots >= 0 && writer->window.to < end)
            error = pipe_go_on(writer);
        else if (writer->slots + 1 >= e->first_slot + PIPE_SLOTS)
            return -EPROTO;
        else
            writer->slots++;
        writer->slot_end = -1;
        if (error)
            return error;
    }
}

PIPE_APART static int put_into_slots(struct pipe_end *e, struct pipe_partner *writer, const char *bytes, int64_t n)
{
    while (n > 0) {
        int error = find_slot(e, writer);

        if (error)
            return error;
        int64_t left = writer->slot_end - writer->at, piece = n < left ? n : left;
        int64_t next = plan_window_file(&writer->window, writer->at + piece);
        plan_scatter(writer->window.plan, writer->next, next, slot_at(e, writer->slots), writer->slots * e->slot_bytes,
                     bytes);
        writer->at += piece;
        writer->next = next;
        bytes += piece;
        n -= piece;
    }
    return 0;
}

/* n bytes of a writer, after which it has sent all up to `to`, if that is known. */
static int put(struct pipe_end *e, struct pipe_partner *writer, const char *bytes, int64_t n, int64_t to)
{
    if (e->direct && n == 0)
        return 0;
    if (e->direct) {
        if (writer->at + n > e->slots_end)
            return -EPROTO;
        writer->at += n;
        e->held = bytes - e->message;
        e->left = n;
        return 0;
    }
    int error = put_into_slots(e, writer, bytes, n);
    if (error)
        return error;
    if (to <= 0)
        to = plan_window_file(&writer->window, writer->at - 1) + 1;
    if (to > e->reach)
        e->reach = to;
    return 0;
}

static int check_writer(struct pipe_end *e, struct pipe_partner *writer, const uint32_t *hashes)
{
    int error = pipe_check_hashes(e, hashes[0], hashes[1]);

    if (writer)
        writer->checked = !error;
    return error;
}

/* Takes the parts of a piece, and moves *bytes behind them. Returns 1 if it is the writer's end, and 0 or an error if
 * it is not. */
PIPE_APART static int take_parts(struct pipe_end *e, unsigned parts, const char **bytes, int64_t *to)
{
    int error = 0;

    if (parts & PIPE_HASHES) {
        error = parts & PIPE_END ? 0 : check_writer(e, e->sender, (const uint32_t *)*bytes);
        *bytes += 8;
    }
    if (parts & PIPE_TO) {
        *to = *(const int64_t *)*bytes;
        *bytes += 8;
    }
    if (!(parts & PIPE_END))
        return error;
    end_writer(e, e->sender);
    e->reach = *to > e->reach ? *to : e->reach;
    return 1;
}

/* Takes the next piece of the message. */
static int take_piece(struct pipe_end *e)
{
    const struct pipe_data *data = (const struct pipe_data *)(e->message + e->next);
    struct pipe_partner *writer = e->sender;
    const char *bytes = (const char *)(data + 1);
    int64_t to = 0, left = e->came - e->next - (int64_t)sizeof *data;
    unsigned parts = left < 0 ? 0 : data->parts, n = left < 0 ? 0 : data->bytes;

    left -= n;
    if (parts)
        left -= 8 * (!!(parts & PIPE_HASHES) + !!(parts & PIPE_TO));
    if (left < 0)
        return -EPROTO;
    e->next = PIPE_ALIGN_UP(e->came - left);
    int result = parts ? take_parts(e, parts, &bytes, &to) : 0;
    if (result)
        return result < 0 ? result : 0;
    if (!writer || !writer->checked)
        return -EINVAL;
    if (data->at != (uint32_t)writer->at || (n == 0 && to <= 0))
        return -EPROTO;
    return put(e, writer, bytes, n, to);
}

/* Takes the pieces of the message; where a reader needs no slots, one that has bytes: the others wait in it. */
static int take_pieces(struct pipe_end *e)
{
    while (!e->error && e->next < e->came && e->left == 0)
        e->error = take_piece(e);
    return e->error;
}

/* Takes a message that is one piece of bytes alone, as nearly all are between two nodes: the reader's only writer is
 * known, and no slot is needed. False: it is another one, and nothing has been taken. */
static bool take_plain(struct pipe_end *e)
{
    const struct pipe_data *data = (const struct pipe_data *)e->message;
    struct pipe_partner *writer = e->sender;
    int64_t n = e->came - (int64_t)sizeof *data;

    if (!e->direct || !writer || !writer->checked || n <= 0 || data->bytes != n || data->parts ||
        data->at != (uint32_t)writer->at || writer->at + n > e->slots_end)
        return false;
    writer->at += n;
    e->held = sizeof *data;
    e->left = n;
    e->next = e->came;
    return true;
}

/* Waits for a message of a writer. */
static int await_data(struct pipe_end *e)
{
    int node = -1, type = PIPE_TYPE(e->number, PIPE_DATA);

    e->next = 0;
    e->came = trap_read_pipe(e->message, MESSAGE_BYTES, &node, &type, &e->others);
    if (e->came <= 0)
        return e->error = e->came < 0 ? (int)e->came : -EPROTO;
    if (e->partners == 1 && (int)e->other.first + e->partner->pe == node)
        e->sender = e->partner;
    else
        e->sender = pipe_partner_of(e, node);
    return take_plain(e) ? 0 : take_pieces(e);
}

PIPE_APART static void tell_room(struct pipe_end *e, int64_t slots)
{
    const struct pipe_room room = {.hash_writers = e->their_hash, .hash_readers = e->hash, .slots = slots};

    for (int32_t i = 0; i < e->partners; i++)
        if (!e->partner[i].ended)
            pipe_send(e, e->partner[i].pe, PIPE_ROOM, &room, sizeof room);
}

/* ---- Reading ---- */

static bool find_lowest(void *ctx, const struct plan_run *run)
{
    int64_t *lowest = ctx;

    if (run->in[PLAN_B] < *lowest)
        *lowest = run->in[PLAN_B];
    return true;
}

/* Returns how many of this node's bytes, from its first one on, lie below `end` of the stream. In a permutation, one of
 * the next bytes may lie beyond: only whole periods count, until all writers have ended. */
static int64_t count_below(const struct pipe_end *e, int64_t end)
{
    int64_t period = e->map->period, first = e->map->displacement;

    if (e->map->element[e->own].ascending || end <= first)
        return plan_bytes(e->part, end);
    if (!pipe_is_over(e))
        return (end - first) / period * e->map->element[e->own].bytes;
    int64_t lowest = (end - first + period - 1) / period * e->map->element[e->own].bytes;
    plan_runs(e->part, end, first + (end - first + period - 1) / period * period, find_lowest, &lowest);
    return lowest;
}

/* Returns the stream offset of the writer's next byte, if that is below `end`. Its windows go on as far as others have
 * come. */
static int64_t next_of(struct pipe_end *e, struct pipe_partner *writer, int64_t end)
{
    while (writer->next < end && writer->next == writer->window.to && !e->error)
        e->error = pipe_go_on(writer);
    return writer->next;
}

/* Returns how many of this node's bytes are there, counted from the first of all. */
static int64_t count_ready(struct pipe_end *e)
{
    int64_t next = e->reach;

    for (int32_t i = 0; i < e->partners; i++) {
        int64_t of_writer = next_of(e, &e->partner[i], next);

        next = of_writer < next ? of_writer : next;
    }
    int64_t ready = count_below(e, next);
    return ready < e->slots_end ? ready : e->slots_end;
}

/* Goes on by n bytes, and tells the writers when a slot has become free. */
static void go_on(struct pipe_end *e, int64_t n)
{
    e->at += n;
    if (e->at < e->first_end)
        return;
    set_first_slot(e, e->at / e->slot_bytes);
    tell_room(e, e->first_slot + PIPE_SLOTS);
}

/* Moves up to n bytes out of the message that has come. When the writer has ended, other writers' bytes may lie behind
 * its last one in the stream: what it has not written is zeros. */
static int64_t take_held(struct pipe_end *e, char *buf, int64_t n)
{
    int64_t zeros = e->left == 0 && e->partner[0].ended ? count_below(e, e->reach) - e->at : 0;
    int64_t room = e->first_end - e->at, piece = n < room ? n : room;

    if (zeros > 0) {
        piece = piece < zeros ? piece : zeros;
        memset(buf, 0, (size_t)piece);
    } else {
        piece = piece < e->left ? piece : e->left;
        memcpy(buf, e->message + e->held, (size_t)piece);
        e->held += piece;
        e->left -= piece;
    }
    go_on(e, piece);
    return piece;
}

/* Moves up to n bytes that are there out of the first slot. Returns how many. */
PIPE_APART static int64_t take_ready(struct pipe_end *e, char *buf, int64_t n)
{
    int64_t ready = count_ready(e) - e->at, within = e->at % e->slot_bytes, left = e->slot_bytes - within;

    n = n < ready ? n : ready;
    n = n < left ? n : left;
    if (n <= 0)
        return 0;
    memcpy(buf, slot_at(e, e->first_slot) + within, (size_t)n);
    go_on(e, n);
    return n;
}

/* A mapped end gets all that it asks for, as from a file; another one, what is there, as from a pipe of Unix. */
ssize_t pipe_read(struct pipe_end *e, void *buf, size_t n)
{
    int64_t done = 0;
    int error = prepare(e);
    int64_t behind = 1; /* at most so many messages had come when the first one was taken: what comes later waits */
    bool taken = false;

    if (error == -EPIPE)
        return 0;             /* the writers have ended, and never had a mapping: they have written nothing */
    if (error || !e->message) /* the mapping gives this node no bytes */
        return error;
    while (done < (int64_t)n && !error) {
        int64_t left = (int64_t)n - done, got = (e->direct ? take_held : take_ready)(e, (char *)buf + done, left);

        done += got;
        if (got > 0)
            continue;
        if (e->next < e->came) {
            error = take_pieces(e);
            continue;
        }
        if (pipe_is_over(e) || (done > 0 && !e->by_user && (behind == 0 || !pipe_has_come(e, PIPE_DATA))))
            break;
        error = e->error ? e->error : await_data(e);
        behind = taken ? behind - 1 : e->others;
        taken = true;
    }
    return done > 0 ? (ssize_t)done : error;
}

static bool has_bytes(struct pipe_end *e)
{
    if (!e->direct)
        return count_ready(e) > e->at;
    return e->left > 0 || (e->partner[0].ended && count_below(e, e->reach) > e->at);
}

int pipe_poll_read(struct pipe_end *e)
{
    int error = prepare(e);

    if (error == -EPIPE)
        return POLLHUP;
    if (error || !pipe_has_bytes(e))
        return POLLIN | POLLRDNORM;
    while (!has_bytes(e)) {
        if (pipe_is_over(e))
            return POLLHUP;
        if (e->next >= e->came && !pipe_has_come(e, PIPE_DATA))
            return 0;
        if ((e->next < e->came ? take_pieces(e) : await_data(e)) != 0)
            break;
    }
    return POLLIN | POLLRDNORM;
}

void pipe_end_reading(struct pipe_end *e)
{
    const struct pipe_room end = {.slots = -1};

    if (e->ready && e->message)
        tell_room(e, -1);
    else
        for (int32_t pe = 0; pe < (int32_t)e->other.nodes; pe++)
            pipe_send(e, pe, PIPE_ROOM, &end, sizeof end);
    free(e->slot);
    free(e->message);
}
