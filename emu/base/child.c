#include "emu/base/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/base/memory.h"

static _Noreturn void become(char *const argv[], bool quiet)
{
    const char *path = getenv("PATH");

    setenv("PATH", memory_print("%s:/usr/sbin:/sbin", path ? path : ""), 1);
    if (!quiet || (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr)))
        execvp(argv[0], argv);
    _exit(CHILD_NOT_FOUND);
}

int child_run(char *const argv[], bool quiet)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        become(argv, quiet);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (child < 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
