/*
 * Commands of a shell: a node has none, so there is nothing that could run one, and system(NULL) says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "images/lib/traps/result.h"

FILE *popen(const char *command, const char *mode)
{
    (void)command;
    (void)mode;
    result_set_errno(-ENOSYS);
    return NULL;
}

int pclose(FILE *f)
{
    (void)f;
    return (int)result_set_errno(-ECHILD);
}

int system(const char *command)
{
    return command ? (int)result_set_errno(-ENOSYS) : 0;
}
