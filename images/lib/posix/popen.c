/*
 * Commands of a shell: a node has none, so there is nothing that could run one. newlib's system fails likewise, and
 * system(NULL) says that there is no shell.
 */
#include <errno.h>
#include <stdio.h>

FILE *popen(const char *command, const char *mode)
{
    (void)command;
    (void)mode;
    errno = ENOSYS;
    return NULL;
}

int pclose(FILE *f)
{
    (void)f;
    errno = ECHILD;
    return -1;
}
