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
 * Streams that must not wait (streams_keep_going), because other programs run meanwhile, take all output and hold back
 * what the host does not take yet; their reads and the room for more output are asked for with streams_ready.
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

struct streams_rest { /* output that the host has not taken yet */
    uint8_t *bytes;
    size_t start, end, room;
    int32_t error; /* what became of it, for the next write: 0 or a negative n_error */
};

struct streams {
    int fd[STREAMS];                /* the caller's: not closed here */
    bool terminal[STREAMS];         /* it was one when the program began */
    bool (*interrupted)(void *arg); /* NULL: never */
    void *arg;
    uint8_t *buffer;   /* input read from the host and not yet from a node */
    size_t start, end; /* the bytes of it that count */
    bool ended;        /* the host has no more input: end of file, or `error` */
    int32_t error;     /* 0, or the negative n_error that ended the input */
    bool keeps_going;
    struct streams_rest rest[STREAMS]; /* of the outputs, when they keep going */
};

/* Sets up streams over three descriptors. 0, or -N_ENOMEM. */
int streams_init(struct streams *s, int in, int out, int err, bool (*interrupted)(void *arg), void *arg);
void streams_free(struct streams *s);

/* From now on nothing waits for the host. */
void streams_keep_going(struct streams *s);

/* Would a read of so many bytes, or a write, not wait? Always so for streams that may wait. */
bool streams_ready(struct streams *s, enum stream which, size_t bytes);

/* Offers the host what is held back. True if something still is. */
bool streams_drain(struct streams *s);
/* The same for one stream, without offering. */
bool streams_holds_back(const struct streams *s, enum stream which);
/* What became of output that was held back, if no write has told it: 0 or a negative n_error. It counts as told then. */
int32_t streams_take_error(struct streams *s, enum stream which);
/* Drops what is held back. */
void streams_drop(struct streams *s);

/* Reads up to and including the next newline, `bytes` bytes (at most FILE_IO_MAX_BYTES), or what is left; waits for
 * it. Returns the bytes read, 0 at the end of the input; -N_EINTR when interrupted (nothing is lost), -N_EINVAL for
 * too many bytes, -N_EAGAIN for streams that keep going and are not ready, the host's error once what came before it
 * has been read. */
int64_t streams_read(struct streams *s, void *buffer, size_t bytes);

/* Writes to STREAM_OUT or STREAM_ERR. Returns the bytes written: fewer than asked only when an error or an
 * interruption came after the first; else a negative n_error: -N_EINTR, -N_EPIPE, -N_ENOSPC, -N_EBADF, ...
 * Streams that keep going take all, or tell the error of what they held back before; -N_ENOMEM. */
int64_t streams_write(struct streams *s, enum stream which, const void *bytes, size_t n);

#endif
