/*
 * Converts the result of a trap into that of a POSIX call.
 */
#ifndef NCUBE_LIB_RESULT_H
#define NCUBE_LIB_RESULT_H

/* Returns `result` if it is >= 0; else sets errno to the error and returns -1. */
long result_to_errno(long result);

#endif
