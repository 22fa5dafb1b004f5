/*
 * The C library on a node: its start and its end, memory, formats, signals, time, the errors of calls. Prints a line
 * for each expectation that does not hold, and "library: N of N" at the end.
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

/* Copies N bytes by COPY within one buffer and judges every byte of it. */
static int copies(void *copy(void *, const void *, size_t), int to, int from, int n)
{
    static char area[300], right[300]; /* rows of 64 bytes, too */

    for (int i = 0; i < (int)sizeof area; i++)
        area[i] = right[i] = (char)(i * 7 + i / 256);
    for (int i = 0; i < n; i++)
        right[to + i] = area[from + i];
    return copy(area + to, area + from, n) == area + to && memcmp(area, right, sizeof area) == 0;
}

static void expect_copies(void)
{
    int copied = 0, moved = 0, wrong = 0;

    for (int n = 0; n < 40; n++)
        for (int at = 0; at < 8; at++)
            for (int other = 0; other < 56; other++) {
                moved += copies(memmove, at, other, n) && copies(memmove, other, at, n);
                if (other < 8)
                    copied += copies(memcpy, at, other + 48, n) && copies(memcpy, other + 48, at, n);
                wrong += sqrt((double)n * n) != n || sqrt(at / 8.0) * 4 != sqrt(at * 2.0);
            }
    EXPECT(moved == 40 * 8 * 56);
    for (int n = 60; n < 240; n++)
        for (int by = 1; by < 24; by++)
            wrong += !copies(memmove, 3, 3 + by, n) || !copies(memmove, 3 + by, 3, n);
    EXPECT(copied == 40 * 8 * 8);
    EXPECT(wrong == 0);
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
    EXPECT(fstat(STDOUT_FILENO, &st) == 0 && S_ISCHR(st.st_mode));
    EXPECT(isatty(STDOUT_FILENO) == 0 && errno == ENOTTY); /* the test's end of a pipe */
    EXPECT(strcmp(n_strerror(-N_ENOENT), "no such file, directory or volume") == 0);
    EXPECT(strcmp(n_strerror(-9999), "unknown error") == 0);
}

/* A message may still be on its way when nwrite has returned. Repeats ntest until it succeeds, for at most 10 ms. */
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
    EXPECT(nwrite("abc", 3, 0, 5, &flag) == 0 && flag == 1);
    length = wait_for_message(&src, &type);
    EXPECT(length == 3 && src == 0 && type == 5);
    EXPECT(nread(buf, 2, &src, &type, &flag) == -N_EMSGSIZE && flag == 1);
    EXPECT(nread(buf, sizeof buf, NULL, NULL, NULL) == 3 && memcmp(buf, "abc", 3) == 0);
    EXPECT(nwrite(buf, 1, 99, 5, NULL) == -N_EINVAL);
    EXPECT(nwrite(buf, 1, 0, N_TYPE_MAX + 1, NULL) == -N_EINVAL);
    EXPECT(nwrite(buf, -1, 0, 5, NULL) == -N_EINVAL);
    EXPECT(nsync(-1) == -N_EINVAL && nsync(N_TYPE_MAX) == 0);
}

static void expect_options(void)
{
    char *words[] = {"prog", "-v", "-o", "out", "-n7", "file", NULL};
    int letter, seen = 0, n = 0;
    char *out = NULL;

    while ((letter = getopt(6, words, "vo:n:")) != -1) {
        seen += letter == 'v';
        out = letter == 'o' ? optarg : out;
        n = letter == 'n' ? atoi(optarg) : n;
    }
    EXPECT(seen == 1 && out && strcmp(out, "out") == 0 && n == 7 && optind == 5);
    optind = 1, opterr = 0;
    EXPECT(getopt(2, (char *[]){"prog", "-x", NULL}, "v") == '?');
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void expect_sorting(void)
{
    enum { N = 1000 };
    static int value[N];
    int key = 500, sorted = 1;

    for (int i = 0; i < N; i++)
        value[i] = i * 389 % N;
    qsort(value, N, sizeof *value, by_value);
    for (int i = 0; i < N; i++)
        sorted &= value[i] == i;
    EXPECT(sorted);
    EXPECT(bsearch(&key, value, N, sizeof *value, by_value) == &value[500]);
    key = N;
    EXPECT(bsearch(&key, value, N, sizeof *value, by_value) == NULL);
}

/* Identities to the last bits; the square root is one instruction, so it is exact. */
static void expect_math(void)
{
    double worst = 0;

    for (int i = 1; i < 200; i++) {
        double x = i / 16.0;

        worst = fmax(worst, fabs(sin(x) * sin(x) + cos(x) * cos(x) - 1));
        worst = fmax(worst, fabs(exp(log(x)) / x - 1));
        worst = fmax(worst, fabs(pow(x, 0.5) / sqrt(x) - 1));
        worst = fmax(worst, fabs(tan(atan(x)) / x - 1));
    }
    EXPECT(worst < 1e-14);
    EXPECT(sqrt(2.0) == 0x1.6a09e667f3bcdp0 && fma(2.0, 3.0, 4.0) == 10.0);
    EXPECT(isnan(sqrt(-1.0)) && isinf(1.0 / (double)(expected == 0)));
    EXPECT(floor(-2.5) == -3 && fmod(7.5, 2) == 1.5 && ldexp(1, 10) == 1024 && lround(2.5) == 3);
}

/* The functions with a state of the caller's own; two of each at once. */
static void expect_reentrant(void)
{
    char first[] = "a b", second[] = "c,d", *at1, *at2;
    unsigned seed1 = 1, seed2 = 1;
    struct tm tm1, tm2;
    time_t day = 86400;

    EXPECT(strcmp(strtok_r(first, " ", &at1), "a") == 0 && strcmp(strtok_r(second, ",", &at2), "c") == 0);
    EXPECT(strcmp(strtok_r(NULL, " ", &at1), "b") == 0 && strcmp(strtok_r(NULL, ",", &at2), "d") == 0);
    EXPECT(rand_r(&seed1) == rand_r(&seed2) && rand_r(&seed1) == rand_r(&seed2));
    EXPECT(gmtime_r(&(time_t){0}, &tm1)->tm_mday == 1 && gmtime_r(&day, &tm2)->tm_mday == 2 && tm1.tm_mday == 1);
}

int main(int argc, char **argv)
{
    EXPECT(constructed);
    EXPECT(argc == 2 && strcmp(argv[1], "argument") == 0 && argv[2] == NULL);
    expect_formats();
    expect_memory();
    expect_copies();
    expect_signals();
    expect_time();
    expect_errors();
    expect_messages();
    expect_options();
    expect_sorting();
    expect_math();
    expect_reentrant();
    printf("library: %d of %d\n", held, expected);
    return held != expected;
}
