/*
 * fflush on a standard stream whose line could not be written. newlib has dropped the line by then, and its fflush,
 * with nothing left to write, succeeds; other libraries keep the line, try again and fail again. So this fflush fails,
 * too, once for each failed write, unless clearerr is called before it. ncc links programs with --wrap=fflush.
 */
#include "images/lib/posix/stdio.h"

#include <errno.h>
#include <stdio.h>

#define STANDARD_STREAMS 3

static int failed[STANDARD_STREAMS]; /* errno of a write that no fflush has reported; 0: none */

int __real_fflush(FILE *stream);
int __wrap_fflush(FILE *stream);

void stdio_note_failed_write(int fd, int error)
{
    if (fd >= 0 && fd < STANDARD_STREAMS)
        failed[fd] = error;
}

/* Returns the error of an earlier write to the stream, which then counts as reported, or 0. */
static int take_error(FILE *stream)
{
    int fd = fileno(stream), error = fd >= 0 && fd < STANDARD_STREAMS ? failed[fd] : 0;

    if (error)
        failed[fd] = 0;
    return ferror(stream) ? error : 0;
}

int __wrap_fflush(FILE *stream)
{
    FILE *const standard[] = {stdin, stdout, stderr};
    int result = __real_fflush(stream), error = 0;

    for (int i = 0; i < STANDARD_STREAMS; i++)
        if (!stream || stream == standard[i])
            error = error ? error : take_error(standard[i]);
    if (result == 0 && error) {
        errno = error;
        result = EOF;
    }
    return result;
}
