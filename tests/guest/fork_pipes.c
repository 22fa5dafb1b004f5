/* Pipes between the processes that a program makes by fork, as on Unix. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysn.h>
#include <unistd.h>

#include "forked.h"

enum { PIPE_HOLDS = 8192, ATOMIC = 4096 };

static void ends_when_all_have_closed(void)
{
    int fd[2];
    char text[100];

    make_pipe(fd);
    for (int i = 0; i < 3; i++)
        if (fork_one() == 0) {
            usleep((unsigned)i * 10000);
            write(fd[1], "12345", 5);
            _exit(0);
        }
    close(fd[1]);
    int total = 0, n;
    while ((n = (int)read(fd[0], text, 2)) > 0)
        total += n;
    check_equal(n, 0);
    check_equal(total, 15);
    check_equal(read(fd[0], text, 2), 0);
}

static void has_no_reader(void)
{
    int fd[2];

    make_pipe(fd);
    close(fd[0]);
    signal(SIGPIPE, SIG_IGN);
    check(write(fd[1], "x", 1) == -1 && errno == EPIPE, "write: %d", errno);
    check_equal(write(fd[1], "x", 0), 0);
    signal(SIGPIPE, SIG_DFL);
    pid_t pid = fork_one();
    if (pid == 0) {
        write(fd[1], "x", 1);
        _exit(0);
    }
    int status = status_of(pid);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE, "status 0x%x", status);
}

/* The reader goes while a writer waits for room. */
static void loses_its_reader(void)
{
    static char bytes[3 * PIPE_HOLDS];
    int fd[2];

    make_pipe(fd);
    pid_t pid = fork_one();
    if (pid == 0) {
        signal(SIGPIPE, SIG_IGN);
        close(fd[0]);
        check_equal(write(fd[1], bytes, sizeof bytes), PIPE_HOLDS + 100);
        check(write(fd[1], bytes, 1) == -1 && errno == EPIPE, "write: %d", errno);
        _exit(0);
    }
    close(fd[1]);
    usleep(20000);
    check_equal(read(fd[0], bytes, 100), 100);
    usleep(20000);
    close(fd[0]);
    await(pid);
}

static void does_not_wait(void)
{
    static char bytes[PIPE_HOLDS];
    int fd[2];

    check_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
    check(fcntl(fd[0], F_GETFL, 0) == (O_RDONLY | O_NONBLOCK) && fcntl(fd[1], F_GETFD, 0) == FD_CLOEXEC, "flags");
    check(read(fd[0], bytes, 1) == -1 && errno == EAGAIN, "empty: %d", errno);
    check_equal(write(fd[1], bytes, ATOMIC + 100), ATOMIC + 100);
    check(write(fd[1], bytes, ATOMIC) == -1 && errno == EAGAIN, "no room for all: %d", errno);
    check_equal(write(fd[1], bytes, ATOMIC + 1), PIPE_HOLDS - ATOMIC - 100);
    check(write(fd[1], bytes, 1) == -1 && errno == EAGAIN, "full: %d", errno);
    check_equal(fcntl(fd[0], F_SETFL, 0), 0);
    check_equal(fcntl(fd[0], F_GETFL, 0) & O_NONBLOCK, 0);
    check_equal(fcntl(fd[1], F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
    check_equal(read(fd[0], bytes, sizeof bytes), PIPE_HOLDS);
    check_equal(pipe2(fd, 0x10) == -1 && errno == EINVAL, 1);
}

static void does_not_mix(void)
{
    static char bytes[ATOMIC];
    enum { WRITERS = 4, TIMES = 20 };
    int fd[2], of[WRITERS] = {0};

    make_pipe(fd);
    for (int i = 0; i < WRITERS; i++)
        if (fork_one() == 0) {
            memset(bytes, 'a' + i, sizeof bytes);
            for (int k = 0; k < TIMES; k++)
                check_equal(write(fd[1], bytes, (size_t)ATOMIC - k * 13), ATOMIC - k * 13);
            _exit(0);
        }
    close(fd[1]);
    int total = 0, n, run = 0, last = 0;
    while ((n = (int)read(fd[0], bytes, 1000)) > 0) {
        for (int i = 0; i < n; i++) {
            int c = bytes[i] - 'a';
            check(c == last || run == 0 || run >= ATOMIC - TIMES * 13, "a write is broken off after %d bytes", run);
            run = c == last ? run + 1 : 1;
            last = c;
            of[c]++;
        }
        total += n;
    }
    for (int i = 1; i < WRITERS; i++)
        check_equal(of[i], of[0]);
    for (int i = 0; i < WRITERS; i++)
        check(wait(&n) > 0 && n == 0, "a writer has ended with 0x%x", n);
}

enum { PASSED = 400000, LONGEST = 3 * PIPE_HOLDS };

/* Short and long, and what is left at the end. */
static long draw_length(uint64_t *state, long at)
{
    uint32_t most = draw(state) % 2 ? LONGEST : 300;
    long n = draw(state) % most + 1;

    return n < PASSED - at ? n : PASSED - at;
}

static char byte_at(long at)
{
    return (char)(at * 31 >> 3);
}

/* Random lengths on both sides, longer and shorter than the pipe. */
static void passes_all_bytes(void)
{
    static char bytes[LONGEST];
    uint64_t state = 12345 + (uint64_t)own_node();
    int fd[2];

    make_pipe(fd);
    pid_t pid = fork_one();
    if (pid == 0) {
        for (long at = 0, n; at < PASSED; at += n) {
            n = draw_length(&state, at);
            for (long i = 0; i < n; i++)
                bytes[i] = byte_at(at + i);
            check_equal(write(fd[1], bytes, (size_t)n), n);
        }
        _exit(0);
    }
    close(fd[1]);
    draw(&state);
    long at = 0, n;
    while ((n = read(fd[0], bytes, (size_t)draw_length(&state, -1))) > 0) {
        for (long i = 0; i < n; i++)
            check(bytes[i] == byte_at(at + i), "byte %ld is wrong", at + i);
        at += n;
    }
    check_equal(at, PASSED);
    await(pid);
}

static void is_a_descriptor(void)
{
    struct stat st;
    int fd[2], copy, before = open("/tmp/a", O_CREAT | O_RDWR, 0666);
    char *volatile nowhere = (char *)8;
    char c;

    make_pipe(fd);
    check(fstat(fd[0], &st) == 0 && S_ISFIFO(st.st_mode), "mode %o", (unsigned)st.st_mode);
    check(isatty(fd[1]) == 0 && lseek(fd[0], 0, SEEK_SET) == -1 && errno == ESPIPE, "lseek: %d", errno);
    check(pread(fd[0], &c, 1, 0) == -1 && errno == ESPIPE, "pread: %d", errno);
    check(read(fd[1], &c, 1) == -1 && errno == EBADF, "read of the other end: %d", errno);
    check(write(fd[0], &c, 1) == -1 && errno == EBADF, "write to the other end: %d", errno);
    check(read(fd[0], nowhere, 0) == 0, "read of nothing: %d", errno);
    check(ftruncate(fd[1], 0) == -1 && errno == EINVAL, "ftruncate: %d", errno);
    copy = dup(fd[1]);
    check_equal(close(fd[1]), 0);
    check_equal(write(copy, "z", 1), 1);
    check(read(fd[0], nowhere, 1) == -1 && errno == EFAULT, "a bad address: %d", errno);
    check_equal(close(copy), 0);
    check(read(fd[0], &c, 1) == 1 && c == 'z' && read(fd[0], &c, 1) == 0, "the byte is lost");
    check_equal(close(fd[0]), 0);
    check(close(fd[0]) == -1 && errno == EBADF, "closed twice: %d", errno);
    check_equal(close(before), 0);
}

static void there_are_too_many(void)
{
    int fd[2], n = 0;

    while (pipe(fd) == 0)
        n++;
    check(n == 64 && errno == EMFILE, "%d pipes: %d", n, errno);
    check_equal(close(fd[0]), 0);
    check_equal(close(fd[1]), 0);
    make_pipe(fd);
    check_equal(write(fd[1], "x", 1), 1);
}

static const struct test_case cases[] = {
    {"a pipe ends", ends_when_all_have_closed},
    {"a pipe without a reader", has_no_reader},
    {"a pipe loses its reader", loses_its_reader},
    {"a pipe does not wait", does_not_wait},
    {"a pipe does not mix", does_not_mix},
    {"a pipe passes all bytes", passes_all_bytes},
    {"a pipe is a descriptor", is_a_descriptor},
    {"too many pipes", there_are_too_many},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
