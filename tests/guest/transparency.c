/*
 * What the drivers between a program and its data cost, in cycles, for images/measure/paper_001.py and
 * tests/machine/test_devices.c [P1 sections 1.1, 2.3]:
 *
 *   transparency switch PATH        pread of a file, against a function that has the same trap, nfailed and errno, but
 *                                   no switch
 *   transparency mapped PATH        a write of 8 bytes by the mapping that gives one node all, against a plain one: on
 *                                   a driver that does nothing, and on PATH, whose server should not use its drive
 *   transparency writes | reads     the ends of a pipe: the first 8 bytes, when both ends are set up
 *
 * Each prints lines "NAME: N cycles"; the ends of a pipe print the cycle at which the call begins, or has ended.
 */
#include <fcntl.h>
#include <ndevices.h>
#include <pattern.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check_files.h"
#include "images/lib/traps/failure.h"
#include "images/lib/traps/result.h"
#include "vertex/contract/traps.h"

#define CALLS 64
#define PAUSE 100000 /* us, in which the other end comes to wait */

/* ---- A driver that does nothing ---- */

static int nothing_match(const char *path)
{
    return strcmp(path, "nothing:") == 0;
}

static int nothing_open(const char *path, int flags, mode_t mode, void **state)
{
    (void)path, (void)flags, (void)mode;
    *state = NULL;
    return 0;
}

static ssize_t nothing_write(void *state, const void *buf, size_t n)
{
    (void)state, (void)buf;
    return (ssize_t)n;
}

static ssize_t nothing_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    (void)state, (void)buf, (void)at;
    return (ssize_t)n;
}

static ssize_t nothing_pread(void *state, void *buf, size_t n, off_t at)
{
    (void)state, (void)buf, (void)n, (void)at;
    return 0;
}

static const struct ndevice nothing = {.name = "nothing",
                                       .match = nothing_match,
                                       .open = nothing_open,
                                       .write = nothing_write,
                                       .pread = nothing_pread,
                                       .pwrite = nothing_pwrite};

/* ---- Costs ---- */

/* Returns the cycles of a statement, the mean of CALLS, when it has run so often before; the loop is included. */
#define CYCLES(statement)                        \
    ({                                           \
        long begin_ = 0;                         \
        for (int i_ = 0; i_ < 2 * CALLS; i_++) { \
            if (i_ == CALLS)                     \
                begin_ = trap_cycles();          \
            statement;                           \
        }                                        \
        (trap_cycles() - begin_) / CALLS;        \
    })

static void say(const char *name, long cycles)
{
    printf("%s: %ld cycles\n", name, cycles);
}

static int open_nothing(void)
{
    int fd = open("nothing:", O_WRONLY);

    check(fd >= 0, "nothing: %s", strerror(errno));
    return fd;
}

/* What the C library would do if there were only files. */
static __attribute__((noinline)) ssize_t pread_of_files(int fd, void *buf, size_t n, off_t at)
{
    long result = trap_pread(fd, buf, (long)(n < 1u << 30 ? n : 1u << 30), at);

    return result_to_errno(failure_of_fd("pread", fd, result));
}

static void cost_of_the_switch(void)
{
    int file = open(name_of("f"), O_RDWR | O_CREAT, 0644);
    char byte;

    check(file >= 0, "%s: %s", name_of("f"), strerror(errno));
    say("the switch", CYCLES(pread(file, &byte, 0, 0)) - CYCLES(pread_of_files(file, &byte, 0, 0)));
}

static struct pattern *all_for_one(void)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    check(pattern_parse("cyclic 65536 1", &p, why) == 0, "%s", why);
    return p;
}

static void cost_of_a_mapping(void)
{
    int fd = open_nothing(), file = open(name_of("f"), O_RDWR | O_CREAT, 0644);
    char bytes[8] = "";

    check(file >= 0, "%s: %s", name_of("f"), strerror(errno));
    check_equal(write(file, bytes, 8), 8);
    long plain = CYCLES(write(fd, bytes, 8)), plain_file = CYCLES(pwrite(file, bytes, 8, 0));
    check_works(ioctl(fd, N_SETMAP, all_for_one()));
    check_works(ioctl(file, N_SETMAP, all_for_one()));
    say("mapped write, beside a plain one", CYCLES(write(fd, bytes, 8)) - plain);
    say("mapped write of a file, beside a plain one", CYCLES(pwrite(file, bytes, 8, 0)) - plain_file);
}

/* ---- A pipe: a transfer of nothing sets its end up ---- */

static void first_bytes_written(void)
{
    char bytes[8] = "1234567";

    check_equal(write(STDOUT_FILENO, bytes, 0), 0);
    usleep(PAUSE);
    long begin = trap_cycles();
    check_equal(write(STDOUT_FILENO, bytes, 8), 8);
    fprintf(stderr, "written from: %ld cycles\n", begin);
}

static void first_bytes_read(void)
{
    char bytes[8];

    check_equal(read(STDIN_FILENO, bytes, 0), 0);
    check_equal(read(STDIN_FILENO, bytes, 8), 8);
    long end = trap_cycles();
    check(strcmp(bytes, "1234567") == 0, "other bytes");
    say("read by", end);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"switch", cost_of_the_switch},
                                             {"mapped", cost_of_a_mapping},
                                             {"writes", first_bytes_written},
                                             {"reads", first_bytes_read}};

    ndevice_add(&nothing);
    test_argc = argc - 2;
    test_argv = argv + 2;
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
