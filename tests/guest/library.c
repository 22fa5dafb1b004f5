/*
 * The C library on a node: its start and its end, memory, formats, signals, time, the errors of calls. Prints a line for
 * each expectation that does not hold, and "library: N of N" at the end.
 */
#include <errno.h>
#include <math.h>
#include <n_errno.h>
#include <nself.h>
#include <ntime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int expected, held, constructed, signalled;

#define EXPECT(condition)                                  \
    do {                                                   \
        expected++;                                        \
        if (condition)                                     \
            held++;                                        \
        else                                               \
            printf("line %d: %s\n", __LINE__, #condition); \
    } while (0)

__attribute__((constructor)) static void construct(void)
{
    constructed = 1;
}

__attribute__((destructor)) static void destruct(void)
{
    puts("destructed");
}

static void on_signal(int number)
{
    signalled = number;
}

static void expect_formats(void)
{
    char text[64];

    snprintf(text, sizeof text, "%.6f %g %lld %zu", sin(1.0), 1e300, 1LL << 40, sizeof text);
    EXPECT(strcmp(text, "0.841471 1e+300 1099511627776 64") == 0);
    EXPECT(strtod("2.5e-3", NULL) == 0.0025);
}

static void expect_memory(void)
{
    char *block = malloc(2 << 20);

    EXPECT(block != NULL);
    memset(block, 7, 2 << 20);
    free(block);
    errno = 0;
    EXPECT(malloc(100u << 20) == NULL && errno == ENOMEM);
}

static void expect_signals(void)
{
    EXPECT(signal(SIGUSR1, on_signal) == SIG_DFL);
    EXPECT(kill(getpid(), SIGUSR1) == 0 && signalled == SIGUSR1);
    EXPECT(kill(getpid(), 0) == 0);
    EXPECT(kill(getpid() + 1, 0) == -1 && errno == ESRCH);
    EXPECT(kill(getpid(), NSIG) == -1 && errno == EINVAL);
    EXPECT(raise(SIGCHLD) == 0);
}

static void expect_time(void)
{
    int us;
    double before_us = amicclk();
    struct timeval now;
    long s = n_time(&us);
    double between_us = s * 1e6 + us;

    EXPECT(between_us + 1 > before_us && between_us <= amicclk());
    EXPECT(ntime() >= (long)(before_us / NTIME_TICK_US));
    EXPECT(gettimeofday(&now, NULL) == 0 && now.tv_sec == NTIME_EPOCH_S + s);
    EXPECT(clock() >= (clock_t)between_us);
    EXPECT(time(NULL) == now.tv_sec);
}

static void expect_errors(void)
{
    struct stat st;

    EXPECT(close(77) == -1 && errno == EBADF);
    EXPECT(fstat(77, &st) == -1 && errno == EBADF);
    EXPECT(isatty(77) == 0 && errno == EBADF);
    EXPECT(access("//none/x", R_OK) == -1 && errno == ENOENT);
    EXPECT(fstat(STDOUT_FILENO, &st) == 0 && S_ISCHR(st.st_mode) && isatty(STDOUT_FILENO));
    EXPECT(strcmp(n_strerror(-N_ENOENT), "no such file, directory or volume") == 0);
    EXPECT(strcmp(n_strerror(-9999), "unknown error") == 0);
}

/* A message may still be on its way when nwrite is back. What ntest returns at last; gives up after 10 ms. */
static int wait_for_message(int *src, int *type)
{
    double end_us = amicclk() + 10000;
    int length;

    do
        length = ntest(src, type);
    while (length == -N_EAGAIN && amicclk() < end_us);
    return length;
}

static void expect_messages(void)
{
    char buf[4];
    int length, flag = 1, src = N_ANY, type = N_ANY;

    EXPECT(ntest(&src, &type) == -N_EAGAIN);
    EXPECT(nwrite("abc", 3, 0, 5, &flag) == 0 && flag == 0);
    length = wait_for_message(&src, &type);
    EXPECT(length == 3 && src == 0 && type == 5);
    EXPECT(nread(buf, 2, &src, &type, &flag) == -N_EMSGSIZE && flag == -N_EMSGSIZE);
    EXPECT(nread(buf, sizeof buf, NULL, NULL, NULL) == 3 && memcmp(buf, "abc", 3) == 0);
    EXPECT(nwrite(buf, 1, 99, 5, NULL) == -N_EINVAL);
    EXPECT(nwrite(buf, 1, 0, N_TYPE_MAX + 1, NULL) == -N_EINVAL);
    EXPECT(nwrite(buf, -1, 0, 5, NULL) == -N_EINVAL);
    EXPECT(nsync(-1) == -N_EINVAL && nsync(N_TYPE_MAX) == 0);
}

int main(int argc, char **argv)
{
    EXPECT(constructed);
    EXPECT(argc == 2 && strcmp(argv[1], "argument") == 0 && argv[2] == NULL);
    expect_formats();
    expect_memory();
    expect_signals();
    expect_time();
    expect_errors();
    expect_messages();
    printf("library: %d of %d\n", held, expected);
    return held != expected;
}
