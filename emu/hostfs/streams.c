/*
 * Standard streams: a line buffer for the input, and for streams that never wait a queue for the output.
 */
#include "emu/hostfs/streams.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/progress.h"
#include "emu/hostfs/errmap.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"

#define BUFFER_BYTES FILE_IO_MAX_BYTES /* so that the longest read fits */

int streams_init(struct streams *s, int in, int out, int err, bool (*interrupted)(void *arg), void *arg)
{
    *s = (struct streams){.fd = {in, out, err}, .interrupted = interrupted, .arg = arg};
    for (int i = 0; i < STREAMS; i++)
        s->terminal[i] = isatty(s->fd[i]);
    s->buffer = malloc(BUFFER_BYTES);
    return s->buffer ? 0 : -N_ENOMEM;
}

static void empty_rest(struct streams_rest *r)
{
    free(r->bytes);
    *r = (struct streams_rest){.error = r->error};
}

void streams_free(struct streams *s)
{
    free(s->buffer);
    s->buffer = NULL;
    for (int which = 0; which < STREAMS; which++)
        empty_rest(&s->rest[which]);
}

static void record_terminals(struct streams *s, const char *name)
{
    for (int i = 0; i < STREAMS; i++) {
        char which[64];
        int reason;

        snprintf(which, sizeof which, "%s terminal %d", name, i);
        struct recorded_calls *c = recording_calls(s->recording, which);
        if (recorded_calls_are_replayed(c))
            s->terminal[i] = recorded_calls_take(c, false, &reason) != 0;
        else
            recorded_calls_note(c, false, s->terminal[i], 0);
    }
}

void streams_record(struct streams *s, struct recording *r, const char *name)
{
    char calls[64];

    if (!r)
        return;
    s->recording = r;
    snprintf(calls, sizeof calls, "%s reads", name);
    s->reads = recording_calls(r, calls);
    snprintf(calls, sizeof calls, "%s writes", name);
    s->writes = recording_calls(r, calls);
    snprintf(calls, sizeof calls, "%s is ready", name);
    s->readiness = recording_calls(r, calls);
    snprintf(calls, sizeof calls, "%s errors", name);
    s->errors = recording_calls(r, calls);
    snprintf(calls, sizeof calls, RECORDING_INPUT " of %s", name);
    s->input = recording_input(r, strcmp(name, STREAMS_OF_RUN) == 0 ? RECORDING_INPUT : calls);
    record_terminals(s, name);
}

void streams_keep_going(struct streams *s)
{
    s->keeps_going = true;
}

static bool is_interrupted(const struct streams *s)
{
    return s->interrupted && s->interrupted(s->arg);
}

/* Waits until the descriptor can be read or written, or has an error to report. 0 or a negative n_error; -N_EAGAIN
 * where streams that keep going would have to wait. */
static int32_t wait_ready(const struct streams *s, int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};

    if (s->keeps_going)
        return poll(&p, 1, 0) > 0 ? 0 : -N_EAGAIN;
    while (!is_interrupted(s)) {
        int ready = poll(&p, 1, STREAMS_CHECK_MS);

        if (ready > 0)
            return 0;
        if (ready < 0 && errno != EINTR)
            return errmap_from_host(errno);
    }
    return -N_EINTR;
}

static bool is_passing(int host_errno)
{
    return host_errno == EINTR || host_errno == EAGAIN;
}

/* The number of buffered bytes that a read of `bytes` returns now, or -1 if it must wait for more. */
static int64_t ready_bytes(const struct streams *s, size_t bytes)
{
    size_t have = s->end - s->start;
    size_t most = have < bytes ? have : bytes;
    const uint8_t *first = s->buffer + s->start;
    const uint8_t *newline = memchr(first, '\n', most);

    if (newline)
        return newline + 1 - first;
    return most == bytes || s->ended ? (int64_t)most : -1;
}

static void end_input(struct streams *s, int32_t error)
{
    s->ended = true;
    s->error = error;
}

static void make_room(struct streams *s)
{
    memmove(s->buffer, s->buffer + s->start, s->end - s->start);
    s->end -= s->start;
    s->start = 0;
}

/* What the program has read, it reads again; no read is answered beyond that (streams_read). */
static int32_t fill_from_recording(struct streams *s)
{
    make_room(s);
    size_t got = recorded_input_take(s->input, s->buffer + s->end, BUFFER_BYTES - s->end);
    s->end += got;
    if (got == 0)
        end_input(s, 0);
    return 0;
}

/* Where gdb goes back: what the host has given to a machine before this one comes first. Returns true if there was
 * some, or its end. */
static bool fill_again(struct streams *s)
{
    int32_t error;

    if (!recording_is_kept(s->recording))
        return false;
    make_room(s);
    size_t got = recorded_input_take(s->input, s->buffer + s->end, BUFFER_BYTES - s->end);
    s->end += got;
    bool ends = got == 0 && recorded_input_has_ended(s->input, &error);
    if (ends)
        end_input(s, error);
    return got > 0 || ends;
}

static void keep_input(struct streams *s, size_t got)
{
    if (!recording_is_kept(s->recording))
        return;
    recorded_input_keep(s->input, s->buffer + s->end - got, got);
    if (s->ended)
        recorded_input_end(s->input, s->error);
}

/* Reads more input from the host. 0 (bytes were added, or the end was noted), -N_EINTR or -N_EAGAIN. */
static int32_t fill_buffer(struct streams *s)
{
    if (recording_is_replayed(s->recording))
        return fill_from_recording(s);
    if (fill_again(s))
        return 0;
    int32_t waited = wait_ready(s, s->fd[STREAM_IN], POLLIN);
    if (waited == -N_EINTR || waited == -N_EAGAIN)
        return waited;
    make_room(s);

    ssize_t got = read(s->fd[STREAM_IN], s->buffer + s->end, BUFFER_BYTES - s->end);
    if (got > 0)
        s->end += got;
    else if (got == 0)
        end_input(s, 0);
    else if (!is_passing(errno))
        end_input(s, errmap_from_host(errno));
    keep_input(s, got > 0 ? (size_t)got : 0);
    return 0;
}

/* Fills the buffer until the result of a read of `bytes` is known, and returns it: -N_EINTR or -N_EAGAIN if the input
 * did not come. */
static int64_t find_input(struct streams *s, size_t bytes)
{
    int64_t n;

    while ((n = ready_bytes(s, bytes)) < 0) {
        int32_t filled = fill_buffer(s);

        if (filled < 0)
            return filled;
    }
    return n;
}

static int64_t read_input(struct streams *s, void *buffer, size_t bytes)
{
    if (bytes > BUFFER_BYTES)
        return -N_EINVAL;
    int64_t n = find_input(s, bytes);
    if (n < 0)
        return n;
    if (n == 0 && bytes > 0)
        return s->error;
    memcpy(buffer, s->buffer + s->start, n);
    s->start += n;
    return n;
}

/* A read gives the bytes that it gave, unless it failed. */
int64_t streams_read(struct streams *s, void *buffer, size_t bytes)
{
    int reason;

    if (recorded_calls_are_replayed(s->reads)) {
        int64_t recorded = recorded_calls_take(s->reads, 0, &reason);

        return recorded < 0 ? recorded : read_input(s, buffer, bytes);
    }
    int64_t n = read_input(s, buffer, bytes);
    if (recorded_calls_are_written(s->reads)) {
        if (!recording_is_kept(s->recording))
            recorded_input_note(s->input, buffer, n > 0 ? (size_t)n : 0);
        recorded_calls_note(s->reads, 0, n < 0 ? n : 0, 0);
    }
    return n;
}

/* One write that does not block a pipe that has announced room: at most PIPE_BUF bytes. Bytes written, 0 to try
 * again, or a negative n_error. */
static int64_t write_some(const struct streams *s, int fd, const uint8_t *bytes, size_t n)
{
    int32_t waited = wait_ready(s, fd, POLLOUT);

    if (waited < 0)
        return waited;

    ssize_t put = write(fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
    if (put >= 0)
        return put;
    return is_passing(errno) ? 0 : errmap_from_host(errno);
}

/* Writes as much as the host takes. The number of bytes written, or a negative n_error if it came before the first. */
static int64_t write_all(struct streams *s, enum stream which, const uint8_t *from, size_t n)
{
    size_t done = 0;

    while (done < n) {
        int64_t put = write_some(s, s->fd[which], from + done, n - done);

        if (put < 0)
            return done ? (int64_t)done : put;
        done += put;
    }
    return done;
}

/* ---- Output that the host has not taken ------------------------------------------------------------------ */

bool streams_holds_back(const struct streams *s, enum stream which)
{
    return s->rest[which].start < s->rest[which].end;
}

static int32_t take_error(struct streams *s, enum stream which)
{
    int32_t error = s->rest[which].error;

    s->rest[which].error = 0;
    return error;
}

int32_t streams_take_error(struct streams *s, enum stream which)
{
    int reason;

    if (recorded_calls_are_replayed(s->errors))
        return (int32_t)recorded_calls_take(s->errors, 0, &reason);
    int32_t error = take_error(s, which);
    return recorded_calls_are_written(s->errors) ? (int32_t)recorded_calls_note(s->errors, 0, error, 0) : error;
}

static void offer_rest(struct streams *s, enum stream which)
{
    struct streams_rest *r = &s->rest[which];
    int64_t put = write_all(s, which, r->bytes + r->start, r->end - r->start);

    if (put > 0)
        r->start += put;
    else if (put < 0 && put != -N_EAGAIN) {
        r->error = put;
        r->start = r->end;
    }
    if (r->start == r->end)
        empty_rest(r);
}

bool streams_drain(struct streams *s)
{
    bool holds = false;

    for (int which = STREAM_OUT; which <= STREAM_ERR; which++) {
        if (streams_holds_back(s, which))
            offer_rest(s, which);
        holds = holds || streams_holds_back(s, which);
    }
    return holds;
}

static bool add_rest(struct streams_rest *r, const void *bytes, size_t n)
{
    uint8_t *larger = memory_try_grow(r->bytes, &r->room, r->end + n, 1);

    if (!larger)
        return false;
    r->bytes = larger;
    memcpy(r->bytes + r->end, bytes, n);
    r->end += n;
    return true;
}

static int64_t write_or_hold(struct streams *s, enum stream which, const uint8_t *bytes, size_t n)
{
    int32_t error = take_error(s, which);

    if (error)
        return error;
    if (n > 0 && !add_rest(&s->rest[which], bytes, n))
        return -N_ENOMEM;
    streams_drain(s);
    error = take_error(s, which);
    return error ? error : (int64_t)n;
}

bool streams_ready(struct streams *s, enum stream which, size_t bytes)
{
    if (!s->keeps_going)
        return true;
    if (which != STREAM_IN)
        return !streams_drain(s) || !streams_holds_back(s, which);
    return bytes > BUFFER_BYTES || find_input(s, bytes) != -N_EAGAIN;
}

bool streams_answer_ready(struct streams *s, enum stream which, size_t bytes)
{
    int reason;

    if (recorded_calls_are_replayed(s->readiness))
        return recorded_calls_take(s->readiness, true, &reason) != 0;
    bool ready = streams_ready(s, which, bytes);
    return recorded_calls_are_written(s->readiness) ? recorded_calls_note(s->readiness, true, ready, 0) : ready;
}

/* Writes what the recorded run has written; what the host makes of it now changes nothing. A machine before this one
 * has written it already, if gdb goes back. */
static int64_t write_as_recorded(struct streams *s, enum stream which, const uint8_t *bytes, size_t n)
{
    int reason;
    int64_t put = recorded_calls_take(s->writes, (int64_t)n, &reason);

    if (put > (int64_t)n)
        put = (int64_t)n;
    if (put <= 0 || recording_is_kept(s->recording))
        return put;
    size_t shown = recorded_calls_pass(s->writes, (size_t)put), n_new = (size_t)put - shown;
    if (n_new > 0 && !s->lost)
        s->lost = write_all(s, which, bytes + shown, n_new) != (int64_t)n_new;
    return put;
}

int64_t streams_write(struct streams *s, enum stream which, const void *bytes, size_t n)
{
    if (which != STREAM_OUT && which != STREAM_ERR)
        return -N_EBADF;
    if (s->terminal[which])
        progress_yield(bytes, n);
    if (recorded_calls_are_replayed(s->writes))
        return write_as_recorded(s, which, bytes, n);
    int64_t put = s->keeps_going ? write_or_hold(s, which, bytes, n) : write_all(s, which, bytes, n);
    return recorded_calls_are_written(s->writes) ? recorded_calls_note(s->writes, (int64_t)n, put, 0) : put;
}
