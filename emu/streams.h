/*
 * The standard streams of a parallel program, as one set of host descriptors shared by all its nodes.
 *
 * What a node reads must not depend on how the host's pipe happens to deliver its bytes, so input goes through a
 * buffer and a read always ends at the same place: after the next newline, after the bytes asked for, or at the
 * end of the input. Output goes straight out, in order of arrival.
 *
 * A wait for the host (input that isn't there, a full pipe) gives up when `interrupted` says so; it is asked at
 * least every STREAMS_CHECK_MS, so that a signal that arrives just before the wait is not missed.
 *
 * The process must ignore SIGPIPE: a closed reader is then -N_EPIPE, not a death.
 */
#ifndef NCUBE_STREAMS_H
#define NCUBE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAMS_CHECK_MS 200

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAMS };

struct streams {
    int fd[STREAMS];                 /* the caller's: not closed here */
    bool (*interrupted)(void *arg);  /* NULL: never */
    void *arg;
    uint8_t *buffer;                 /* input read from the host and not yet from a node */
    size_t start, end;               /* the bytes of it that count */
    bool ended;                      /* the host has no more input: end of file, or `error` */
    int32_t error;                   /* 0, or the negative n_error that ended the input */
};

/* Sets up streams over three descriptors. 0, or -N_ENOMEM. */
int streams_init(struct streams *s, int in, int out, int err, bool (*interrupted)(void *arg), void *arg);
void streams_free(struct streams *s);

/* Reads up to and including the next newline, `bytes` bytes (at most FILE_IO_MAX_BYTES), or what is left; waits for
 * it. Returns the bytes read, 0 at the end of the input; -N_EINTR when interrupted (nothing is lost), -N_EINVAL for
 * too many bytes, the host's error once what came before it has been read. */
int64_t streams_read(struct streams *s, void *buffer, size_t bytes);

/* Writes to STREAM_OUT or STREAM_ERR. Returns the bytes written: fewer than asked only when an error or an
 * interruption came after the first; else a negative n_error: -N_EINTR, -N_EPIPE, -N_ENOSPC, -N_EBADF, ... */
int64_t streams_write(struct streams *s, enum stream which, const void *bytes, size_t n);

#endif
