/* How the examples end when a call has failed. */
#pragma once

#include <errno.h>
#include <n_errno.h>
#include <pio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if the result is an error of the nCUBE's calls. */
static inline void must(const char *what, int result)
{
    if (result < 0) {
        nperror(what);
        exit(1);
    }
}

/* Prints errno and, after a call of PIO, the volume's file at which it failed. */
static inline void pio_complain(const char *program, const char *what)
{
    int error = errno;
    const char *where = pio_failed_path();

    fprintf(stderr, "%s: %s: %s%s%s\n", program, what, strerror(error), where[0] ? ": " : "", where);
}
