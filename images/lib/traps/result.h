/*
 * Converts the result of a trap into that of a POSIX call.
 */
#pragma once

#include <errno.h>

/* Sets errno to the error in a negative result, and returns -1. */
long result_set_errno(long result);

/* Returns `result` if it is >= 0; else sets errno to the error and returns -1. Inline, as most calls succeed. */
static inline long result_to_errno(long result)
{
    return result >= 0 ? result : result_set_errno(result);
}

/* The other way round, for drivers over calls of POSIX. */
static inline long result_from_errno(long result)
{
    return result >= 0 ? result : -errno;
}
