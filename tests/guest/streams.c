/* The standard streams. */
#include <errno.h>
#include <fcntl.h>
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

/* Nobody reads: a write fails with EPIPE, and the program goes on. */
static void writes_to_nobody(void)
{
    char text[100] = "text\n";
    ssize_t n = 0;

    for (int i = 0; i < 10000 && n >= 0; i++)
        n = write(1, text, sizeof text);
    check_equal(n, -1);
    check_equal(errno, EPIPE);
    exit(33);
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
    {"writes to nobody", writes_to_nobody},
    {"describes streams", describes_streams},
    {"closes its output", closes_its_output},
    {"waits for input", waits_for_input},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
