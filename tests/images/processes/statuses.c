/* How children end, as <sys/wait.h> tells. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *what, int status)
{
    printf("%s: exited %d, signalled %d, status %d, signal %d\n", what, WIFEXITED(status) != 0,
           WIFSIGNALED(status) != 0, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
           WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

static void say_goodbye(void)
{
    printf("goodbye\n");
    fflush(stdout);
}

static void end(int how)
{
    switch (how) {
    case 0:
        exit(0);
    case 1:
        exit(300);
    case 2:
        _exit(-1);
    case 3:
        raise(SIGTERM);
        break;
    case 4:
        abort();
    case 5:
        signal(SIGINT, SIG_IGN);
        raise(SIGINT);
        _exit(5);
    case 6:
        kill(getpid(), SIGKILL);
        break;
    case 7:
        atexit(say_goodbye);
        exit(7);
    case 8:
        raise(SIGSEGV);
        break;
    }
    _exit(99);
}

int main(void)
{
    int status = 0;

    for (int how = 0; how < 9; how++) {
        char what[20];

        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            end(how);
        if (waitpid(pid, &status, 0) != pid)
            return 1;
        sprintf(what, "way %d", how);
        tell(what, status);
    }
    int result = (int)wait(&status);
    printf("wait: %d, ECHILD %d\n", result, errno == ECHILD);
    errno = 0;
    result = (int)waitpid(-1, &status, WNOHANG);
    printf("waitpid: %d, ECHILD %d\n", result, errno == ECHILD);
    return 9;
}
