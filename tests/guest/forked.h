/*
 * What programs of tests that fork share. A check that fails in a child ends it with status 1, which its parent sees.
 */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static inline pid_t fork_one(void)
{
    pid_t pid = fork();

    check(pid >= 0, "fork: %s", strerror(errno));
    return pid;
}

static inline int status_of(pid_t pid)
{
    int status = -1;

    check_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Runs the function in a child, which must end with status 0. */
static inline pid_t begin(void (*function)(void))
{
    pid_t pid = fork_one();

    if (pid == 0) {
        function();
        _exit(0);
    }
    return pid;
}

static inline void await(pid_t pid)
{
    int status = status_of(pid);

    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child has ended with 0x%x", status);
}

static inline void make_pipe(int fd[2])
{
    check(pipe(fd) == 0, "pipe: %s", strerror(errno));
}
