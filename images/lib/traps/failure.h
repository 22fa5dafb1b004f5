/*
 * Records which call failed last, and on which file, for nfailed of <nio.h>. Part of libvertex.
 */
#pragma once

#define FAILURE_PATH_BYTES 256 /* longer paths are cut */
#define FAILURE_NAME_BYTES 96  /* longer names of open descriptors are cut */

struct failure {
    const char *call;              /* NULL: no call has failed */
    char path[FAILURE_PATH_BYTES]; /* "": the call's descriptor has no name */
    int fd;                        /* -1: the call was given a path */
    int error;
};

/* Both record a negative n_error, and return it. */
long failure_note_path(const char *call, const char *path, long result);
long failure_note_fd(const char *call, long fd, long result);

/* Both return `result`, and record it if it is negative. Inline, as most calls succeed. */
static inline long failure_of_path(const char *call, const char *path, long result)
{
    return result >= 0 ? result : failure_note_path(call, path, result);
}

static inline long failure_of_fd(const char *call, long fd, long result)
{
    return result >= 0 ? result : failure_note_fd(call, fd, result);
}

/* Records the error of a call for messages, for nperror and errno, too; returns it. N_EAGAIN is for nperror alone, as a
 * poll that finds nothing has not failed. The error comes first, so that a trap's own can be passed on. */
long failure_of_message(long error, const char *call);

/* Record the path by which a descriptor was opened, that `to` is a copy of `from`, and that a descriptor was closed. */
void failure_name(long fd, const char *path);
void failure_copy_name(long from, long to);
void failure_forget(long fd);

const struct failure *failure_last(void);
