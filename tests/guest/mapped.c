/*
 * Mapped descriptors: every node writes and reads its element of one file.
 *
 *   mapped CASE PREFIX [PATTERN BYTES]     PREFIX is the root of names: "/" or "//df00/"
 */
#include <fcntl.h>
#include <nself.h>
#include <pattern.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_files.h"

#define FILE_BYTES 40000

static char content(long x)
{
    return (char)(x * 7 + (x >> 8) * 3 + 1);
}

static struct pattern *parse(const char *text)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p = NULL;

    check(pattern_parse(text, &p, why) == 0, "%s: %s", text, why);
    return p;
}

/* ---- All nodes share a file ---- */

/* The bytes of the file that are this node's, in its order: file[y]. Returns how many. */
static long own_bytes(const struct pattern *p, long size, long *file)
{
    long n = 0;

    for (long x = p->displacement; x < size; x++) {
        int32_t element;
        int64_t offset;

        check_equal(pattern_place(p, x, &element, &offset), 0);
        if (element != own_node())
            continue;
        file[offset] = x;
        n++;
    }
    return n;
}

static void write_own(int fd, const long *file, long n, uint64_t *seed)
{
    static char buf[FILE_BYTES];

    for (long y = 0; y < n;) {
        long piece = 1 + draw(seed) % 3000;

        piece = piece < n - y ? piece : n - y;
        for (long i = 0; i < piece; i++)
            buf[i] = content(file[y + i]);
        check_equal(write(fd, buf, (size_t)piece), piece);
        y += piece;
    }
}

static void read_own(int fd, const long *file, long n, uint64_t *seed)
{
    static char buf[FILE_BYTES];

    check_equal(lseek(fd, 0, SEEK_END), n);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    for (long y = 0; y < n;) {
        long got = read(fd, buf, 1 + draw(seed) % 5000);

        check(got > 0, "read at %ld of %ld: %ld, %s", y, n, got, strerror(errno));
        for (long i = 0; i < got; i++)
            check(buf[i] == content(file[y + i]), "own byte %ld, file byte %ld", y + i, file[y + i]);
        y += got;
    }
    check_equal(read(fd, buf, 1), 0);
}

static void expect_whole(int fd, long from, long size)
{
    static char buf[FILE_BYTES];

    check_equal(pread(fd, buf, sizeof buf, 0), size);
    for (long x = 0; x < size; x++)
        check(buf[x] == (x < from ? 0 : content(x)), "file byte %ld", x);
}

static void shared_file(void)
{
    static long file[FILE_BYTES];
    struct pattern *p = parse(test_argv[1]);
    long size = strtol(test_argv[2], NULL, 10), n = own_bytes(p, size, file);
    uint64_t seed = (uint64_t)own_node() + 1;
    int fd = open(name_of("shared"), O_RDWR | O_CREAT, 0644);
    struct stat st;

    check(fd >= 0, "open: %s", strerror(errno));
    check_works(ioctl(fd, N_SETMAP, p));
    write_own(fd, file, n, &seed);
    check_equal(nsync(0), 0);
    read_own(fd, file, n, &seed);
    check_works(fstat(fd, &st));
    check_equal(st.st_size, size);
    check_works(ioctl(fd, N_UNMAP));
    expect_whole(fd, p->displacement, size);
    check_works(close(fd));
    pattern_free(p);
}

/* ---- Calls ---- */

static void calls(void)
{
    struct pattern *p = parse("cyclic 4 2"), *three = parse("cyclic 4 3"), *one = parse("cyclic 4 1");
    const struct pattern *got = NULL;
    int fd = open(name_of("calls"), O_RDWR | O_CREAT, 0644), copy, append;
    char text[10] = "";

    check_fails(ioctl(fd, N_GETMAP, &got), EINVAL);
    check_fails(ioctl(fd, N_UNMAP), EINVAL);
    check_fails(ioctl(fd, N_SETMAP, NULL), EINVAL);
    check_fails(ioctl(fd, N_SETMAP, three), EINVAL);
    check_fails(ioctl(99, N_SETMAP, p), EBADF);
    for (int stream = 0; stream < 3; stream++)
        check_fails(ioctl(stream, N_SETMAP, p), ESPIPE);
    check_equal(write(fd, "abcdefgh", 8), 8);
    copy = dup(fd);
    check_works(ioctl(fd, N_SETMAP, p));
    check_works(ioctl(copy, N_GETMAP, &got));
    check(got == p, "another pattern");
    check_equal(read(copy, text, 9), 4);
    check(memcmp(text, own_node() ? "efgh" : "abcd", 4) == 0, "read %s", text);
    check_equal(lseek(fd, 0, SEEK_CUR), 4); /* the copy's */
    check_works(ioctl(fd, N_SETMAP, p));    /* again: from the start */
    check_equal(lseek(copy, 0, SEEK_CUR), 0);
    check_works(ioctl(copy, N_UNMAP));
    check_equal(lseek(fd, 0, SEEK_CUR), 8); /* as it was before */
    check_works(ioctl(fd, N_SETMAP, one));  /* node 1 has nothing */
    check_equal(read(fd, text, 9), own_node() ? 0 : 8);
    check_equal(lseek(fd, 0, SEEK_END), own_node() ? 0 : 8);
    check_equal(pwrite(fd, text, 0, 3), 0);
    if (own_node() == 1)
        check_fails(pwrite(fd, text, 1, 0), EINVAL);
    check_works(close(fd));
    check_works(close(copy));
    append = open(name_of("calls"), O_WRONLY | O_APPEND);
    check_fails(ioctl(append, N_SETMAP, p), EINVAL);
    check_works(close(append));
}

/* stdio on a mapped descriptor. */
static void streams(void)
{
    struct pattern *p = parse("cyclic 10 4");
    FILE *f = fopen(name_of("lines"), "w+");
    char line[20];

    check(f != NULL, "fopen: %s", strerror(errno));
    check_equal(nsync(0), 0); /* all have truncated it */
    check_works(ioctl(fileno(f), N_SETMAP, p));
    for (int i = 0; i < 50; i++)
        check_equal(fprintf(f, "node %d %02d\n", own_node(), i), 10);
    check_works(fflush(f));
    check_equal(nsync(0), 0);
    rewind(f);
    for (int i = 0; i < 50; i++)
        check(fgets(line, sizeof line, f) && line[5] == '0' + own_node() && atoi(line + 7) == i, "line %d: %s", i,
              line);
    check(!fgets(line, sizeof line, f), "a line more");
    check_works(fclose(f));
}

static const struct test_case cases[] = {
    {"shared file", shared_file},
    {"calls", calls},
    {"streams", streams},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
