#include "images/lib/traps/failure.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

/* The number of descriptors whose names are kept, in a fixed table, so that signal handlers may open files. */
#define NAMED 64

static struct failure last = {.fd = -1};
static char names[NAMED][FAILURE_NAME_BYTES]; /* of open descriptors; "": a standard stream */

static bool is_named(long fd)
{
    return fd >= 0 && fd < NAMED;
}

static void note(const char *call, const char *path, long fd, long result)
{
    last.call = call;
    last.fd = (int)fd;
    last.error = (int)-result;
    last.path[0] = '\0';
    if (path)
        strncpy(last.path, path, sizeof last.path - 1);
}

/* EFAULT means that the path is no valid string, so it is not read. */
long failure_note_path(const char *call, const char *path, long result)
{
    note(call, result == -N_EFAULT ? NULL : path, -1, result);
    return result;
}

long failure_note_fd(const char *call, long fd, long result)
{
    note(call, is_named(fd) ? names[fd] : NULL, fd, result);
    return result;
}

long failure_of_message(long error, const char *call)
{
    trap_last_error = (int)error;
    if (error != -N_EAGAIN) {
        note(call, NULL, -1, error);
        errno = (int)-error;
    }
    return error;
}

void failure_name(long fd, const char *path)
{
    if (is_named(fd))
        strncpy(names[fd], path, sizeof names[fd] - 1);
}

void failure_copy_name(long from, long to)
{
    if (is_named(to))
        memcpy(names[to], is_named(from) ? names[from] : "", is_named(from) ? sizeof names[to] : 1);
}

void failure_forget(long fd)
{
    if (is_named(fd))
        memset(names[fd], 0, sizeof names[fd]);
}

const struct failure *failure_last(void)
{
    return &last;
}
