/* Two processes that take turns by signals, and one that counts its children's ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t turns, ends;

static void on_turn(int number)
{
    (void)number;
    turns++;
}

static void on_end(int number)
{
    int status;

    (void)number;
    while (waitpid(-1, &status, WNOHANG) > 0)
        ends++;
}

static void await_turn(const sigset_t *open, int turn)
{
    while (turns < turn)
        sigsuspend(open);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_turn};
    sigset_t turn, before;
    pid_t parent = getpid(), pid;

    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&turn);
    sigaddset(&turn, SIGUSR1);
    sigaddset(&turn, SIGCHLD);
    sigprocmask(SIG_BLOCK, &turn, &before);
    fflush(stdout);
    pid = fork();
    for (int k = 1; k <= 5; k++) {
        if (pid == 0) {
            await_turn(&before, k);
            printf("child, turn %d\n", k);
            fflush(stdout);
            kill(parent, SIGUSR1);
        } else {
            printf("parent, turn %d\n", k);
            fflush(stdout);
            kill(pid, SIGUSR1);
            await_turn(&before, k);
        }
    }
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    action.sa_handler = on_end;
    sigaction(SIGCHLD, &action, NULL);
    for (int k = 0; k < 4; k++)
        if (fork() == 0) {
            usleep(1000 * (k + 1));
            _exit(0);
        }
    while (ends < 4)
        sigsuspend(&before);
    printf("%d children have ended\n", (int)ends);
    return 0;
}
