/* A child that outlives its parent, and one that is left. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int fd[2];
    char c;

    pipe(fd);
    fflush(stdout);
    if (fork() == 0) {
        pid_t parent = getppid();

        if (fork() == 0) {
            close(fd[0]);
            while (getppid() == parent || getppid() == getpid())
                usleep(1000);
            _exit(0);
        }
        usleep(20000);
        _exit(4);
    }
    close(fd[1]);
    int status;
    wait(&status);
    printf("the child: %d\n", WEXITSTATUS(status));
    printf("the grandchild: %d bytes\n", (int)read(fd[0], &c, 1));
    printf("others: %d\n", (int)wait(NULL));
    fflush(stdout);
    if (fork() == 0) {
        usleep(50000);
        printf("the last\n");
        exit(7);
    }
    return 3;
}
