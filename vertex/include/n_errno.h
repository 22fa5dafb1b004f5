/*
 * The errors that the calls of Vertex return, negative: -N_EINVAL and so on. Each is the errno of the same name.
 */
#ifndef _N_ERRNO_H
#define _N_ERRNO_H

#include <ncube/errors.h> /* enum n_error */

/* The text of an error, given as returned (negative) or as its number; "unknown error" for others. */
const char *n_strerror(int error);

/* Prints "what: text" and a new line on the standard error, with the text of the last error that a call of this process
 * had; "no error" if there was none. Without "what: " if that is "" or NULL. */
void nperror(const char *what);

#endif
