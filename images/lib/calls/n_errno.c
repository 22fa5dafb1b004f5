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

void nperror(const char *what)
{
    fprintf(stderr, "%s%s%s\n", what ? what : "", what && *what ? ": " : "", n_strerror(trap_last_error));
}
