/*
 * The writing end of a pipe (pipe.h). A write goes to all readers that have bytes of it, to each as far as it has room,
 * in turn from the own number on, so that not all writers begin with the same reader.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/pipes/pipe.h"
#include "vertex/contract/traps.h"

#define DATA_BYTES 8192 /* most in a message; with its header it fits a channel's buffer */
#define POLL_BYTES 4096

/* Only programs that handle signals have it. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before) __attribute__((weak));

/* n bytes of this node that are being written, from its byte `own` on; of a permutation, all that it has of a period.
 */
struct range {
    const char *bytes;
    int64_t own, n;
    int64_t to; /* where they end in the stream; not used if all go to one reader */
};

/* ---- Readers ---- */

static void take_room(struct pipe_end *e, int node, const struct pipe_room *room)
{
    struct pipe_partner *reader = pipe_partner_of(e, node);

    if (!reader)
        return;
    if (room->slots < 0)
        reader->ended = true;
    else if (room->slots > reader->slots) {
        reader->slots = room->slots;
        reader->slot_end = -1;
    }
    if (!e->error && !reader->ended)
        e->error = pipe_check_hashes(e, room->hash_writers, room->hash_readers);
}

/* Waits until a reader tells that it has room, or that it has ended. */
PIPE_APART static int await_room(struct pipe_end *e)
{
    int node = -1, type = PIPE_TYPE(e->number, PIPE_ROOM);
    struct pipe_room room;
    long n = trap_read_context(&room, sizeof room, &node, &type, CONTEXT_PIPE);

    if (n == (long)sizeof room)
        take_room(e, node, &room);
    else
        e->error = n < 0 ? (int)n : -EPROTO;
    return e->error;
}

/* Takes what readers have told, as far as it has come: above all that they have ended. */
PIPE_APART static int take_rooms(struct pipe_end *e)
{
    while (!e->error && pipe_has_come(e, PIPE_ROOM))
        await_room(e);
    e->looks = false;
    return e->error;
}

/* After a send: takes what readers have told, or waits for it if there was no room for anything. */
static int hear_readers(struct pipe_end *e, bool no_room)
{
    if (e->looks)
        return take_rooms(e);
    return no_room ? await_room(e) : 0;
}

/* As Unix: the process ends unless it handles or ignores SIGPIPE. It ends alone, and quietly; the rest of the pipeline
 * goes on. */
PIPE_APART static ssize_t broken_pipe(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};

    if (sigaction)
        sigaction(SIGPIPE, NULL, &action);
    if (action.sa_handler == SIG_DFL)
        _exit(128 + SIGPIPE);
    if (action.sa_handler != SIG_IGN)
        raise(SIGPIPE);
    return -EPIPE;
}

/* ---- Sending ---- */

/* Returns how many common bytes of the window the reader has room for, or a negative errno. */
static int64_t room_of(const struct pipe_end *e, struct pipe_partner *reader)
{
    if (reader->slot_end < 0) {
        int64_t end = pipe_slot_begin(e, reader->pe, reader->slots);

        if (end < 0)
            return end;
        reader->slot_end = plan_window_bytes(&reader->window, end);
    }
    return reader->slot_end - reader->at;
}

/* Sets how far the range goes in the reader's window, which it moves on while the range has no more bytes there. */
static int find_limit(struct pipe_partner *reader, const struct range *r)
{
    int error = 0;

    if (reader->whole) {
        reader->limit = r->own + r->n;
        return 0;
    }
    while (!error && (reader->limit = plan_window_bytes(&reader->window, r->to)) == reader->at &&
           reader->window.to < r->to)
        error = pipe_go_on(reader);
    return error;
}

/* Gathers n bytes of the range. Returns up to which byte of the stream all has been sent then. */
PIPE_APART static int64_t gather(struct pipe_partner *reader, const struct range *r, void *packed, int64_t n)
{
    const struct plan_window *w = &reader->window;
    int64_t next = plan_window_file(w, reader->at + n);

    plan_gather(w->plan, reader->next, next, packed, r->bytes, r->own);
    reader->next = next;
    return reader->at + n == reader->limit && r->to <= w->to ? r->to : next;
}

/* Begins a piece for a reader. Returns where its next part goes. */
static int64_t *begin_piece(struct pipe_end *e, struct pipe_partner *reader, int64_t n)
{
    struct pipe_data *data = (struct pipe_data *)e->message;
    uint32_t *hashes = (uint32_t *)(data + 1);

    *data = (struct pipe_data){.at = (uint32_t)reader->at, .bytes = (uint16_t)n};
    if (reader->checked)
        return (int64_t *)hashes;
    data->parts = PIPE_HASHES;
    hashes[0] = e->hash;
    hashes[1] = e->their_hash;
    reader->checked = true;
    return (int64_t *)(hashes + 2);
}

/* Tells a reader that has no room where its next byte lies, unless it knows, or gets all of its bytes from here: what
 * it waits for before that may be written by nobody. */
PIPE_APART static int tell_next(struct pipe_end *e, struct pipe_partner *reader)
{
    const struct plan *plan = reader->window.plan;
    int64_t next = reader->whole ? plan_window_file(&reader->window, reader->at) : reader->next;

    if (next <= reader->told || (reader->at > 0 && plan->body.bytes == plan->step[PLAN_B]))
        return 0;
    int64_t *part = begin_piece(e, reader, 0);
    ((struct pipe_data *)e->message)->parts |= PIPE_TO;
    reader->told = *part++ = next;
    return pipe_send(e, reader->pe, PIPE_DATA, e->message, (size_t)((char *)part - e->message));
}

/* Sends the next piece of the range to a reader. Returns 1; 0: the reader has no room for it; or a negative errno. */
static int send_piece(struct pipe_end *e, struct pipe_partner *reader, const struct range *r)
{
    int64_t room = room_of(e, reader), n = reader->limit - reader->at;

    if (room <= 0)
        return room < 0 ? (int)room : tell_next(e, reader);
    n = n < room ? n : room;
    n = n < DATA_BYTES ? n : DATA_BYTES;
    int64_t *part = begin_piece(e, reader, n);
    if (reader->whole) {
        memcpy(part, r->bytes + (reader->at - r->own), (size_t)n);
    } else {
        ((struct pipe_data *)e->message)->parts |= PIPE_TO;
        reader->told = *part = gather(reader, r, part + 1, n);
        part++;
    }
    reader->at += n;
    int error = pipe_send(e, reader->pe, PIPE_DATA, e->message, (size_t)((char *)part - e->message + n));
    if (!error && reader->at == reader->limit)
        error = find_limit(reader, r);
    return error ? error : 1;
}

/* Writers that have the same readers should not all begin with the same one. Their numbers differ in a digit to the
 * base of the number of readers if, as in arrays, they follow each other or are a power of it apart; so the sums of
 * their digits are all different. */
static int32_t first_served(const struct pipe_end *e)
{
    int32_t sum = 0;

    if (e->partners < 2)
        return 0;
    for (int32_t own = e->own; own > 0; own /= e->partners)
        sum += own % e->partners;
    return sum % e->partners;
}

/* Sends a piece to each reader that has bytes in the range and room. Returns how many got one, or a negative errno, and
 * in *waiting how many others have bytes in the range. */
static int32_t send_round(struct pipe_end *e, const struct range *r, int32_t *waiting)
{
    int32_t sent = 0, start = first_served(e);

    *waiting = 0;
    for (int32_t i = 0; i < e->partners; i++) {
        struct pipe_partner *reader = &e->partner[start + i < e->partners ? start + i : start + i - e->partners];

        if (reader->ended || reader->at >= reader->limit)
            continue;
        int result = send_piece(e, reader, r);
        if (result < 0)
            return result;
        sent += result;
        *waiting += result == 0;
    }
    return sent;
}

/* Sends a range to all readers; the bytes of those that have ended are dropped. */
PIPE_APART static int send_range(struct pipe_end *e, const struct range *r)
{
    int32_t sent, waiting, all = 0;

    for (int32_t i = 0; i < e->partners; i++) {
        int error = find_limit(&e->partner[i], r);

        if (error)
            return e->error = error;
    }
    do {
        sent = send_round(e, r, &waiting);
        if (sent < 0)
            return e->error = sent;
        all += sent;
        e->looks |= sent + waiting + all == 0; /* all readers of the range have ended: have the others, too? */
        if (hear_readers(e, sent == 0 && waiting > 0) != 0)
            return e->error;
        if (pipe_is_over(e))
            return -EPIPE;
    } while (sent > 0 || waiting > 0);
    return 0;
}

/* The same when all of this node's bytes go to one reader. */
static int send_to_one(struct pipe_end *e, const struct range *r)
{
    struct pipe_partner *reader = &e->partner[0];

    reader->limit = r->own + r->n;
    while (reader->at < reader->limit && !reader->ended) {
        int result = send_piece(e, reader, r);

        if (result < 0)
            return e->error = result;
        if (hear_readers(e, result == 0) != 0)
            return e->error;
    }
    return reader->ended ? -EPIPE : 0;
}

/* ---- A permuting writer ---- */

/* Returns how many of this node's bytes are in a period. */
static int64_t share_of(const struct pipe_end *e)
{
    return e->map->element[e->own].bytes;
}

struct known { /* which of a period's bytes have been written */
    int64_t below;
    int64_t reach;
};

static bool find_reach(void *ctx, const struct plan_run *run)
{
    struct known *k = ctx;
    int64_t n = k->below - run->in[PLAN_B];

    n = n < run->bytes ? n : run->bytes;
    if (n > 0 && run->file + n > k->reach)
        k->reach = run->file + n;
    return true;
}

/* Sends what the node has written of the period that `at` is in or, at its end, behind. */
static int send_period(struct pipe_end *e)
{
    int64_t share = share_of(e), period = (e->at - 1) / share, first = e->map->displacement + period * e->map->period;
    struct known known = {.below = e->at};

    plan_runs(e->part, first, first + e->map->period, find_reach, &known);
    if (known.reach > e->reach)
        e->reach = known.reach;
    return send_range(e, &(struct range){e->stage, period * share, e->at - period * share, known.reach});
}

PIPE_APART static ssize_t write_permuted(struct pipe_end *e, const char *buf, size_t n)
{
    int64_t share = share_of(e);
    size_t done = 0;

    if (share > PIPE_PERIOD_BYTES)
        return -ENOBUFS;
    if (!e->stage)
        e->stage = calloc(1, (size_t)share);
    if (!e->stage)
        return -ENOMEM;
    while (done < n) {
        int64_t have = e->at % share, left = share - have;
        size_t piece = (int64_t)(n - done) < left ? n - done : (size_t)left;

        memcpy(e->stage + have, buf + done, piece);
        e->at += (int64_t)piece;
        done += piece;
        if (e->at % share != 0)
            break;
        int error = send_period(e);
        if (error)
            return error;
        memset(e->stage, 0, (size_t)share);
    }
    return (ssize_t)done;
}

/* ---- The calls ---- */

static ssize_t write_ascending(struct pipe_end *e, const char *buf, size_t n)
{
    struct range r = {.bytes = buf, .own = e->at, .n = (int64_t)n};
    bool to_one = e->partners == 1 && e->partner[0].whole;
    int64_t last = to_one ? 0 : pattern_file(e->map, e->own, e->at + (int64_t)n - 1);

    if (last < 0)
        return last;
    r.to = last + 1;
    int error = to_one ? send_to_one(e, &r) : send_range(e, &r);
    if (error)
        return error;
    e->at += (int64_t)n;
    return (ssize_t)n;
}

/* What the first message would otherwise wait for. */
static int prepare(struct pipe_end *e)
{
    e->message = pipe_new_buffer(PIPE_HEADER_BYTES + DATA_BYTES);
    if (!e->message)
        return -ENOMEM;
    int64_t room = e->partners == 1 ? room_of(e, &e->partner[0]) : 0;
    return room < 0 ? (int)room : 0;
}

ssize_t pipe_write(struct pipe_end *e, const void *buf, size_t n)
{
    ssize_t result = e->message ? e->error : pipe_make_ready(e);
    if (result == 0 && !e->message && pipe_has_bytes(e))
        result = prepare(e);
    if (result == 0 && n == 0)
        return 0;
    if (result == 0 && !e->message)
        return -EINVAL;
    if (result == 0)
        result = e->map->element[e->own].ascending ? write_ascending(e, buf, n) : write_permuted(e, buf, n);
    return result == -EPIPE ? broken_pipe() : result;
}

/* True if a write of a few KB would not wait for the reader, or as much as it ever takes at once. */
static bool has_room(const struct pipe_end *e, struct pipe_partner *reader)
{
    int64_t room = room_of(e, reader), most = PIPE_SLOTS * pipe_slot_bytes(e, reader->pe);
    int64_t enough = most < POLL_BYTES ? most : POLL_BYTES;

    if (room >= 0 && room < enough) {
        int64_t ahead = plan_window_ahead(&reader->window, pipe_slot_begin(e, reader->pe, reader->slots));

        room = ahead < 0 ? ahead : room + ahead;
    }
    return reader->ended || room < 0 || room >= enough;
}

int pipe_poll_write(struct pipe_end *e)
{
    int error = pipe_make_ready(e);

    if (!error)
        error = take_rooms(e);
    if (error || pipe_is_over(e))
        return POLLOUT | POLLWRNORM | POLLERR;
    for (int32_t i = 0; i < e->partners; i++)
        if (has_room(e, &e->partner[i]))
            return POLLOUT | POLLWRNORM;
    return e->partners == 0 ? POLLOUT | POLLWRNORM : 0;
}

void pipe_end_writing(struct pipe_end *e)
{
    struct {
        struct pipe_data data;
        uint32_t hash_writers, hash_readers;
        int64_t to;
    } end = {.data.parts = PIPE_HASHES | PIPE_TO | PIPE_END};

    if (e->ready && !e->error && pipe_has_bytes(e) && e->at > 0) {
        if (e->map->element[e->own].ascending)
            e->reach = pattern_file(e->map, e->own, e->at - 1) + 1;
        else if (e->at % share_of(e) != 0)
            send_period(e);
    }
    end.hash_writers = e->hash;
    end.hash_readers = e->their_hash;
    end.to = e->reach;
    for (int32_t pe = 0; pe < (int32_t)e->other.nodes; pe++)
        pipe_send(e, pe, PIPE_DATA, &end, sizeof end);
    free(e->message);
    free(e->stage);
}
