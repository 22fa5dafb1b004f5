#define _GNU_SOURCE
#include "emu/link/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/machine/run.h"

/* The command: waits for a byte from the process, or for its end. */
static _Noreturn void await(pid_t process, int fd)
{
    char byte;
    ssize_t n;
    int status;

    while ((n = read(fd, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (n == 1)
        _exit(0);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : RUN_SIGNAL + WTERMSIG(status));
}

int detach_begin(void)
{
    pid_t command = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t process = fork();
    if (process < 0)
        return -1;
    if (process > 0) {
        close(ends[1]);
        await(process, ends[0]);
    }
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != command) /* it has gone already */
        _exit(RUN_FAILED);
    return ends[1];
}

void detach_done(int fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, 0);
    setsid();
    for (int stream = STDIN_FILENO; null >= 0 && stream <= STDERR_FILENO; stream++)
        dup2(null, stream);
    if (null > STDERR_FILENO)
        close(null);
    while (write(fd, "", 1) < 0 && errno == EINTR)
        ;
    close(fd);
}
