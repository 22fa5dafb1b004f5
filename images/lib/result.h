/*
 * From what a trap returns to what a POSIX call returns.
 */
#ifndef NCUBE_LIB_RESULT_H
#define NCUBE_LIB_RESULT_H

/* result when it is >= 0; else -1, with errno set to the error. */
long result_to_errno(long result);

#endif
