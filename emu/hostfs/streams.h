/*
 * The standard streams of a parallel program, as one set of host descriptors shared by all its nodes.
 *
 * The bytes that a node reads must not depend on how the host's pipe delivers them. So input goes through a buffer, and
 * a read always ends at the same place: after the next newline, after the bytes asked for, or at the end of the input.
 * Output is written at once, in the order of arrival.
 *
 * A wait for the host (no input, a full pipe) gives up when `interrupted` returns true. It is called at least every
 * STREAMS_CHECK_MS, so that a signal that arrives just before the wait is not missed.
 *
 * Streams must not wait where other programs run meanwhile (streams_keep_going). They then accept all output and keep
 * the part that the host does not take yet. streams_ready says whether a read or a write would have to wait.
 *
 * The process must ignore SIGPIPE: a write to a closed reader then returns -N_EPIPE and does not end the process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/record/recording.h"

#define STREAMS_CHECK_MS 200
#define STREAMS_OF_RUN   "program" /* their name in the recording of a run */

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAMS };

struct streams_rest { /* output that the host has not taken yet */
    uint8_t *bytes;
    size_t start, end, room;
    int32_t error; /* of writing it, for the next write to report: 0 or a negative n_error */
};

struct streams {
    int fd[STREAMS];                /* the caller's: not closed here */
    bool terminal[STREAMS];         /* it was one when the program began */
    bool (*interrupted)(void *arg); /* NULL: never */
    void *arg;
    uint8_t *buffer;   /* input read from the host and not yet from a node */
    size_t start, end; /* the bytes in use: buffer[start .. end - 1] */
    bool ended;        /* the host has no more input: end of file, or `error` */
    int32_t error;     /* 0, or the negative n_error that ended the input */
    bool keeps_going;
    struct recording *recording; /* streams_record; NULL: none */
    struct recorded_calls *reads, *writes, *readiness, *errors;
    struct recorded_input *input;
    bool lost;                         /* in a replay: the host has not taken all output */
    struct streams_rest rest[STREAMS]; /* of the outputs, when they keep going */
};

/* Sets up streams over three descriptors. 0, or -N_ENOMEM. */
int streams_init(struct streams *s, int in, int out, int err, bool (*interrupted)(void *arg), void *arg);
void streams_free(struct streams *s);

/* Lets a recording note what the host does to the streams, whose name there this is; or, in a replay, give it: then no
 * input is read, and a program is told of its output what was recorded; nothing waits for the host then, so the streams
 * must not keep going, even if the recorded ones did. Before the first read or write. */
void streams_record(struct streams *s, struct recording *r, const char *name);

/* Makes the streams never wait for the host. */
void streams_keep_going(struct streams *s);

/* True if a read of so many bytes, or a write, would not wait; always true for streams that may wait. */
bool streams_ready(struct streams *s, enum stream which, size_t bytes);
/* The same, where the answer determines what happens next in virtual time: it is recorded. */
bool streams_answer_ready(struct streams *s, enum stream which, size_t bytes);

/* Writes as much of the kept output as the host takes. True if some is still kept. */
bool streams_drain(struct streams *s);
/* True if some output of a stream is still kept. */
bool streams_holds_back(const struct streams *s, enum stream which);
/* The error of writing kept output that no write has reported yet: 0 or a negative n_error. Clears it. */
int32_t streams_take_error(struct streams *s, enum stream which);

/* Reads up to and including the next newline, `bytes` bytes (at most FILE_IO_MAX_BYTES), or the rest of the input, and
 * waits for it. Returns the number of bytes, 0 at the end of the input; -N_EINTR when interrupted (no input is lost),
 * -N_EINVAL for too many bytes, -N_EAGAIN for streams that keep going and are not ready, or the host's error after the
 * input before it has been read. */
int64_t streams_read(struct streams *s, void *buffer, size_t bytes);

/* Writes to STREAM_OUT or STREAM_ERR. Returns the number of bytes written, fewer than n only when an error or an
 * interruption came after the first byte; else a negative n_error: -N_EINTR, -N_EPIPE, -N_ENOSPC, -N_EBADF, ...
 * Streams that keep going accept all bytes, or return the error of output that they kept before, or -N_ENOMEM. */
int64_t streams_write(struct streams *s, enum stream which, const void *bytes, size_t n);
