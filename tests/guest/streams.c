/* The standard streams. */
#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void formats(void)
{
    int n = 0;

    printf("%d %5d|%-5d|%05d %u %x %X %o %c %s %10s|%-10s|%.3s %%\n", -1, 42, 42, 42, 4000000000u, 0xbeef, 0xbeef, 8,
           'c', "text", "right", "left", "cut off");
    printf("%ld %lld %lu %zu %hhd %p\n", -(1l << 40), -(1ll << 62), ~0ul, sizeof n, (signed char)200, (void *)0x1234);
    printf("%.3f %e %g %g %8.2f|%n\n", 3.14159, 12345.678, 1e100, 0.0001, -2.5, &n);
    printf("%d\n", n);
}

static void copies_lines(void)
{
    char line[100];

    while (fgets(line, sizeof line, stdin))
        fputs(line, stdout);
    check(feof(stdin) && !ferror(stdin), "no end of file");
}

static void copies_bytes(void)
{
    static char buf[3000];
    ssize_t n;

    while ((n = read(0, buf, sizeof buf)) > 0)
        check_equal(write(1, buf, n), n);
    check_equal(n, 0);
    check_equal(read(0, buf, sizeof buf), 0);
}

static void copies_in_one_read(void)
{
    static char buf[1 << 20];
    size_t n = fread(buf, 1, sizeof buf, stdin);

    check_equal(fwrite(buf, 1, n, stdout), n);
}

static void scans_numbers(void)
{
    int a;
    double b;
    char word[20];

    check_equal(scanf("%d %lf %19s", &a, &b, word), 3);
    printf("%d %.2f %s\n", a, b, word);
}

/* Each node reads a line when it is its turn. */
static void shares_the_input(void)
{
    char line[100];

    setvbuf(stdin, NULL, _IONBF, 0);
    for (int turn = 0; turn < node_count(); turn++) {
        if (turn == own_node()) {
            check(fgets(line, sizeof line, stdin) != NULL, "no line");
            printf("node %d: %s", turn, line);
            fflush(stdout);
        }
        check_equal(nsync(1), 0);
    }
}

static void prints_a_lot(void)
{
    for (int i = 0; i < 16384; i++)
        printf("%07d %s\n", i, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRS");
}

static void prints_to_both(void)
{
    fprintf(stderr, "to the error stream\n");
    printf("to the output\n");
    check_equal(write(2, "no newline", 10), 10);
}

static void prints_lines_at_once(void)
{
    for (int i = 0; i < 50; i++)
        printf("node %d line %d\n", own_node(), i);
}

/* Writes until that fails with EPIPE. On a machine that does not wait, it fails only some writes later. */
static void write_to_nobody(void)
{
    char text[100] = "text\n";
    ssize_t n = 0;

    memset(text, ' ', sizeof text - 1);
    text[sizeof text - 1] = '\n';
    for (int i = 0; i < 10000 && n >= 0; i++)
        n = write(1, text, sizeof text);
    check_equal(n, -1);
    check_equal(errno, EPIPE);
}

/* Like most programs, it does not check for errors. */
static void prints_for_ever(void)
{
    for (;;)
        printf("a line of node %d\n", own_node());
}

static void writes_to_nobody(void)
{
    signal(SIGPIPE, SIG_IGN);
    write_to_nobody();
    exit(33);
}

static volatile int broken;

static void note_broken_pipe(int number)
{
    broken += number == SIGPIPE;
}

static void handles_a_broken_pipe(void)
{
    signal(SIGPIPE, note_broken_pipe);
    write_to_nobody();
    check_equal(broken, 1);
    exit(34);
}

static void blocks_a_broken_pipe(void)
{
    sigset_t set = 1u << SIGPIPE, pending;

    sigprocmask(SIG_BLOCK, &set, NULL);
    write_to_nobody();
    sigpending(&pending);
    check(pending == set, "it is not pending");
    exit(35);
}

/* writeend reports the error, and so does nread of the reply. */
static void starts_writes_to_nobody(void)
{
    signal(SIGPIPE, note_broken_pipe);
    for (int i = 0; i < 100 && !broken; i++) {
        check_equal(writestart(1, "text\n", 5), 0);
        int n = writeend(1);
        check(n == 5 || n == -EPIPE, "%d", n);
    }
    check_equal(broken, 1);
    signal(SIGPIPE, SIG_DFL);
    check_equal(writestart(1, "text\n", 5), 0);
    writeend(1);
    exit(36); /* not reached */
}

/* fflush reports that stdio could not write. */
static void prints_to_a_full_disk(void)
{
    check(printf("a line\n") < 0 && errno == ENOSPC, "printf");
    errno = 0;
    check(fflush(stdout) == EOF && errno == ENOSPC, "fflush");
    check_equal(fflush(stdout), 0);
    check(write(1, "text\n", 5) == -1 && errno == ENOSPC, "write");
    clearerr(stdout);
    setvbuf(stdout, NULL, _IOFBF, 4096);
    check(printf("a line\n") == 7, "it waits");
    check(fflush(stdout) == EOF && errno == ENOSPC, "fflush of what waited");
    exit(37);
}

/* Its node has ended when that meets the error. */
static void leaves_an_incomplete_line(void)
{
    printf("no newline");
    exit(0);
}

static void describes_streams(void)
{
    struct stat st;

    for (int fd = 0; fd < 3; fd++) {
        check_equal(fstat(fd, &st), 0);
        check(S_ISCHR(st.st_mode), "mode %o of %d", (unsigned)st.st_mode, fd);
        check_equal(lseek(fd, 0, SEEK_SET), -1);
        check_equal(errno, ESPIPE);
    }
    check_equal(write(0, "x", 1), -1);
    check_equal(errno, EBADF);
    check_equal(read(1, &st, 1), -1);
    check_equal(errno, EBADF);
    check_equal(read(3, &st, 1), -1);
    check_equal(errno, EBADF);
    check_equal(read(-1, &st, 1), -1);
    check_equal(errno, EBADF);
    check_equal(write(1, NULL, 10), -1);
    check_equal(errno, EFAULT);
    check_equal(write(1, NULL, 0), 0);
    check_equal(close(57), -1);
    check_equal(errno, EBADF);
}

static void closes_its_output(void)
{
    check_equal(close(1), 0);
    check_equal(write(1, "x", 1), -1);
    check_equal(errno, EBADF);
    exit(34);
}

static void waits_for_input(void)
{
    char c;

    read(0, &c, 1);
}

static const struct test_case cases[] = {
    {"formats", formats},
    {"copies lines", copies_lines},
    {"copies bytes", copies_bytes},
    {"copies in one read", copies_in_one_read},
    {"scans numbers", scans_numbers},
    {"shares the input", shares_the_input},
    {"prints a lot", prints_a_lot},
    {"prints to both", prints_to_both},
    {"prints lines at once", prints_lines_at_once},
    {"prints for ever", prints_for_ever},
    {"writes to nobody", writes_to_nobody},
    {"handles a broken pipe", handles_a_broken_pipe},
    {"blocks a broken pipe", blocks_a_broken_pipe},
    {"starts writes to nobody", starts_writes_to_nobody},
    {"prints to a full disk", prints_to_a_full_disk},
    {"leaves an incomplete line", leaves_an_incomplete_line},
    {"describes streams", describes_streams},
    {"closes its output", closes_its_output},
    {"waits for input", waits_for_input},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
