/*
 * Pipes by their names.
 *
 *   fifo write PATH     copies the standard input into the pipe
 *   fifo read PATH      copies the pipe to the standard output
 *   fifo CASE           see the table
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_files.h"

static void copy(int from, int to)
{
    char buf[1000];
    ssize_t n;

    while ((n = read(from, buf, sizeof buf)) > 0)
        check_equal(write(to, buf, (size_t)n), n);
    check_equal(n, 0);
}

static void errors(void)
{
    char name[90] = "//pipe/";
    struct stat st;

    check_fails(open("//pipe/", O_RDONLY), ENOENT);
    check_fails(open("//pipe/a/b", O_RDONLY), ENOENT);
    check_fails(open("//pipe/x", O_RDWR), EINVAL);
    memset(name + 7, 'n', sizeof name - 8);
    check_fails(open(name, O_WRONLY), ENAMETOOLONG);
    check_fails(unlink("//pipe/x"), ENOTSUP);
    check_works(stat("//pipe/x", &st));
    check(S_ISFIFO(st.st_mode), "mode %o", (unsigned)st.st_mode);
}

/* A writer and a reader that open the pipe again and again. */
static void writes_thrice(void)
{
    for (int i = 0; i < 3; i++) {
        int fd = open("//pipe/again", O_WRONLY), state = -1;

        check_works(ioctl(fd, N_STATE, &state));
        check_equal(state, N_BOUND);
        check_equal(write(fd, &i, sizeof i), (long)sizeof i);
        check_works(close(fd));
    }
}

static void reads_thrice(void)
{
    for (int i = 0; i < 3; i++) {
        int fd = open("//pipe/again", O_RDONLY), got = -1;

        check_equal(read(fd, &got, sizeof got), (long)sizeof got);
        check_equal(got, i);
        check_equal(read(fd, &got, sizeof got), 0);
        check_works(close(fd));
    }
}

/* The reader has ended: the next write fails. */
static void hears_of_the_end(void)
{
    int fd = open("//pipe/short", O_WRONLY);

    signal(SIGPIPE, SIG_IGN);
    check_equal(write(fd, "text", 4), 4);
    usleep(100000);
    check_fails(write(fd, "x", 1), EPIPE);
}

static void reads_four(void)
{
    char buf[4];

    check_equal(read(open("//pipe/short", O_RDONLY), buf, 4), 4);
}

static const struct test_case cases[] = {
    {"errors", errors},
    {"writes thrice", writes_thrice},
    {"reads thrice", reads_thrice},
    {"hears of the end", hears_of_the_end},
    {"reads four", reads_four},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return run_case(cases, argc, argv);
    bool writes = strcmp(argv[1], "write") == 0;
    int fd = open(argv[2], writes ? O_WRONLY : O_RDONLY);
    check(fd >= 0, "%s: %s", argv[2], strerror(errno));
    copy(writes ? STDIN_FILENO : fd, writes ? fd : STDOUT_FILENO);
    return 0;
}
