/*
 * The errors that the calls of Vertex return, as negative numbers: -N_EINVAL and so on. N_EINVAL equals EINVAL.
 */
#ifndef _N_ERRNO_H
#define _N_ERRNO_H

#include <ncube/errors.h> /* enum n_error */

/* Returns the text of an error, which may be given as a call returned it (negative) or as its positive number; for
 * other numbers "unknown error". */
const char *n_strerror(int error);

/* Prints "what: text" and a newline on the standard error: the text of this process's last failed call, or "no error".
 * If `what` is "" or NULL, prints the text alone. */
void nperror(const char *what);

#endif
