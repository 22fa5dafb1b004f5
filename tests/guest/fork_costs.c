/*
 * What processes cost, for docs/unix.md: microseconds of fork with and without a larger heap, of exec, and of bytes
 * through a pipe. The program is its own successor: it lies at /fork_costs.
 *
 *   fork_costs [ended]     a line NAME=MICROSECONDS for each; "ended": ends at once
 */
#include <ntime.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TIMES = 10, TRANSFER = 1 << 20, PIECE = 4096, HEAP = 1 << 20 };

static void tell(const char *name, double start_us, int times)
{
    printf("%s=%.0f\n", name, (amicclk() - start_us) / times);
}

static void await_child(void)
{
    int status = -1;

    check(wait(&status) > 0 && status == 0, "a child has ended with 0x%x", status);
}

static void time_forks(const char *name)
{
    double start_us = amicclk();

    for (int i = 0; i < TIMES; i++) {
        pid_t pid = fork();

        check(pid >= 0, "fork fails");
        if (pid == 0)
            _exit(0);
        await_child();
    }
    tell(name, start_us, TIMES);
}

static void time_exec(void)
{
    double start_us = amicclk();

    for (int i = 0; i < TIMES; i++) {
        if (fork() == 0) {
            execl("/fork_costs", "fork_costs", "ended", NULL);
            _exit(1);
        }
        await_child();
    }
    tell("exec", start_us, TIMES);
}

/* A byte to a child, and one back. */
static void time_round_trip(void)
{
    int to[2], from[2];
    char c = 0;

    check(pipe(to) == 0 && pipe(from) == 0, "pipe fails");
    if (fork() == 0) {
        close(to[1]);
        while (read(to[0], &c, 1) == 1)
            write(from[1], &c, 1);
        _exit(0);
    }
    close(to[0]);
    check(write(to[1], &c, 1) == 1 && read(from[0], &c, 1) == 1, "the first byte");
    double start_us = amicclk();
    for (int i = 0; i < TIMES; i++)
        check(write(to[1], &c, 1) == 1 && read(from[0], &c, 1) == 1, "a byte");
    tell("trip", start_us, TIMES);
    close(to[1]);
    await_child();
}

static void time_transfer(void)
{
    static char bytes[PIECE];
    int fd[2];
    long n, all = 0;

    check(pipe(fd) == 0, "pipe fails");
    if (fork() == 0) {
        for (int i = 0; i < TRANSFER / PIECE; i++)
            write(fd[1], bytes, PIECE);
        _exit(0);
    }
    close(fd[1]);
    double start_us = amicclk();
    while ((n = read(fd[0], bytes, PIECE)) > 0)
        all += n;
    tell("megabyte", start_us, 1);
    check_equal(all, TRANSFER);
    await_child();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "ended") == 0)
        return 0;
    time_forks("fork");
    time_exec();
    volatile char *heap = malloc(HEAP);
    for (int i = 0; i < HEAP; i++)
        heap[i] = 1;
    time_forks("large");
    free((char *)heap);
    time_round_trip();
    time_transfer();
    return 0;
}
