/*
 * The writing end of a pipe (pipe.h). A write goes to all readers that have bytes of it, to each as far as it has room,
 * in turn from the own number on, so that not all writers begin with the same reader.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/ndevices/pipe.h"
#include "vertex/contract/traps.h"

#define DATA_BYTES 8192 /* most in a message; with its header it fits a channel's buffer */

/* Only programs that handle signals have it. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before) __attribute__((weak));

/* A range of the stream that is being written: this node's bytes of it begin at `bytes`, which is its byte `own`. */
struct range {
    const char *bytes;
    int64_t own;
    int64_t from, to;
};

/* ---- Readers ---- */

static bool all_have_ended(const struct pipe_end *e)
{
    for (int32_t i = 0; i < e->partners; i++)
        if (!e->partner[i].ended)
            return false;
    return e->partners > 0;
}

static void take_room(struct pipe_end *e, int node, const struct pipe_room *room)
{
    struct pipe_partner *reader = pipe_partner_of(e, node);

    if (!reader)
        return;
    if (room->slots < 0)
        reader->ended = true;
    else if (room->slots > reader->slots)
        reader->slots = room->slots;
    if (!e->error && !reader->ended)
        e->error = pipe_check_hashes(e, room->hash_writers, room->hash_readers);
}

/* Waits until a reader tells that it has room, or that it has ended. */
static int await_room(struct pipe_end *e)
{
    int node = -1, type = PIPE_TYPE(e->other.number, PIPE_ROOM);
    struct pipe_room room;
    long n = trap_read_context(&room, sizeof room, &node, &type, CONTEXT_PIPE);

    if (n == (long)sizeof room)
        take_room(e, node, &room);
    else
        e->error = n < 0 ? (int)n : -EPROTO;
    return e->error;
}

/* As Unix: the process ends unless it handles or ignores SIGPIPE. It ends alone, and quietly; the rest of the pipeline
 * goes on. */
static ssize_t broken_pipe(void)
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

/* The slot of the reader into which stream byte x falls, and in *end the stream offset of the next slot. */
static int64_t slot_of(const struct pipe_end *e, const struct pipe_partner *reader, int64_t x, int64_t *end)
{
    int64_t bytes = pipe_slot_bytes(e, reader->pe);

    if (bytes < 0)
        return bytes;
    if (!e->their->element[reader->pe].ascending) {
        int64_t round = e->their->period * (bytes / e->their->element[reader->pe].bytes);
        int64_t first = e->their->displacement;

        *end = x + (round - (x - first) % round);
        return (x - first) / round;
    }
    int64_t at = pipe_place(reader->plan, x, PLAN_B);
    *end = pattern_file(e->their, reader->pe, (at / bytes + 1) * bytes);
    if (*end < 0)
        *end = INT64_MAX;
    return at / bytes;
}

/* Sends the next piece of the range to a reader. Returns 1; 0: the reader has no room for it; or a negative errno. */
static int send_piece(struct pipe_end *e, struct pipe_partner *reader, const struct range *r)
{
    int64_t end, slot = slot_of(e, reader, reader->next, &end);

    if (slot < 0)
        return (int)slot;
    if (slot >= reader->slots)
        return 0;
    int64_t to = end < r->to ? end : r->to, before = plan_bytes(reader->plan, reader->next);
    if (plan_bytes(reader->plan, to) - before > DATA_BYTES)
        to = plan_file(reader->plan, before + DATA_BYTES);
    struct pipe_data *data = (struct pipe_data *)e->message;
    *data = (struct pipe_data){e->hash, e->their_hash, slot, reader->next, to};
    int64_t n = plan_gather(reader->plan, reader->next, to, data + 1, r->bytes, r->own);
    int error = pipe_send(e, reader->pe, PIPE_DATA, data, sizeof *data + (size_t)n);
    reader->next = pipe_next_common(reader->plan, to);
    return error ? error : 1;
}

/* Sends a piece to each reader that has bytes in the range and room. Returns how many got one, or a negative errno, and
 * in *waiting how many others have bytes in the range. */
static int32_t send_round(struct pipe_end *e, const struct range *r, int32_t *waiting)
{
    int32_t sent = 0, start = e->partners > 0 ? e->own % e->partners : 0;

    *waiting = 0;
    for (int32_t i = 0; i < e->partners; i++) {
        struct pipe_partner *reader = &e->partner[(start + i) % e->partners];

        if (reader->ended || reader->next >= r->to)
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
static int send_range(struct pipe_end *e, const struct range *r)
{
    int32_t sent, waiting;

    for (int32_t i = 0; i < e->partners; i++)
        if (e->partner[i].next < r->from)
            e->partner[i].next = pipe_next_common(e->partner[i].plan, r->from);
    do {
        sent = send_round(e, r, &waiting);
        if (sent < 0)
            return e->error = sent;
        if (sent == 0 && waiting > 0 && await_room(e) != 0)
            return e->error;
        if (all_have_ended(e))
            return -EPIPE;
    } while (sent > 0 || waiting > 0);
    if (r->to > e->reach)
        e->reach = r->to;
    return 0;
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
    return send_range(e, &(struct range){e->stage, period * share, first, known.reach});
}

static ssize_t write_permuted(struct pipe_end *e, const char *buf, size_t n)
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
    int64_t from = pattern_file(e->map, e->own, e->at), last = pattern_file(e->map, e->own, e->at + (int64_t)n - 1);

    if (from < 0 || last < 0)
        return from < 0 ? from : last;
    int error = send_range(e, &(struct range){buf, e->at, from, last + 1});
    if (error)
        return error;
    e->at += (int64_t)n;
    return (ssize_t)n;
}

ssize_t pipe_write(void *end, const void *buf, size_t n)
{
    struct pipe_end *e = end;
    ssize_t result = pipe_make_ready(e);

    if (result == 0 && n == 0)
        return 0;
    if (result == 0 && !pipe_has_bytes(e))
        return -EINVAL;
    if (result == 0 && !e->message) {
        e->message = malloc(sizeof(struct pipe_data) + DATA_BYTES);
        result = e->message ? 0 : -ENOMEM;
    }
    if (result == 0)
        result = e->map->element[e->own].ascending ? write_ascending(e, buf, n) : write_permuted(e, buf, n);
    return result == -EPIPE ? broken_pipe() : result;
}

void pipe_end_writing(struct pipe_end *e)
{
    if (e->ready && !e->error && pipe_has_bytes(e) && !e->map->element[e->own].ascending && e->at % share_of(e) != 0)
        send_period(e);
    const struct pipe_data data = {.hash_writers = e->hash, .hash_readers = e->their_hash, .slot = -1, .to = e->reach};
    for (int32_t pe = 0; pe < (int32_t)e->other.nodes; pe++)
        pipe_send(e, pe, PIPE_DATA, &data, sizeof data);
    free(e->message);
    free(e->stage);
}
