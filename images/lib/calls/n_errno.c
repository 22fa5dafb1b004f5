/*
 * <n_errno.h>: the errors' texts, from their one list.
 */
#include <n_errno.h>
#include <stdio.h>

#include "vertex/contract/traps.h"

const char *n_strerror(int error)
{
    switch (error < 0 ? -error : error) {
    case 0:
        return "no error";
#define ERROR_TEXT(name, number, text) \
    case number:                       \
        return text;
        ERROR_LIST(ERROR_TEXT)
#undef ERROR_TEXT
    default:
        return "unknown error";
    }
}

/* newlib's strerror asks for what it has no text for. */
char *_user_strerror(int error, int internal, int *errptr);

char *_user_strerror(int error, int internal, int *errptr)
{
    (void)internal;
    (void)errptr;
    return error == N_ESTALE ? "Stale file handle" : NULL;
}

void nperror(const char *what)
{
    fprintf(stderr, "%s%s%s\n", what ? what : "", what && *what ? ": " : "", n_strerror(trap_last_error));
}
