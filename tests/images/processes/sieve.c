/* Primes by a chain of processes: each takes the first number that it gets, and passes on what that does not divide. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAGES = 5, MOST = 300 };

static void write_number(int fd, int x)
{
    if (write(fd, &x, sizeof x) != sizeof x)
        _exit(1);
}

static int read_number(int fd)
{
    int x;

    return read(fd, &x, sizeof x) == sizeof x ? x : 0;
}

static void stage(int in, int left)
{
    int prime = read_number(in), out[2], x, status = 0;

    printf("%d\n", prime);
    fflush(stdout);
    if (left == 1) {
        while ((x = read_number(in)))
            if (x % prime)
                printf("left: %d\n", x);
        fflush(stdout);
        _exit(0);
    }
    if (pipe(out) < 0)
        _exit(2);
    pid_t pid = fork();
    if (pid == 0) {
        close(in);
        close(out[1]);
        stage(out[0], left - 1);
    }
    close(out[0]);
    while ((x = read_number(in)))
        if (x % prime)
            write_number(out[1], x);
    close(out[1]);
    waitpid(pid, &status, 0);
    _exit(status ? 3 : 0);
}

int main(void)
{
    int fd[2], status;

    pipe(fd);
    fflush(stdout);
    if (fork() == 0) {
        close(fd[1]);
        stage(fd[0], STAGES);
    }
    close(fd[0]);
    for (int x = 2; x <= MOST; x++)
        write_number(fd[1], x);
    close(fd[1]);
    wait(&status);
    printf("status %d\n", WEXITSTATUS(status));
    return 0;
}
