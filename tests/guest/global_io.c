/*
 * Global mode [P1 2.5]: every node makes each call, node 0 carries it out once, and all get what it gave. The first
 * argument of a case is the prefix of its paths. Built with -Nprocs 3, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <ndevices.h>
#include <nio.h>
#include <npara_prt.h>
#include <pattern.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { LONG = 100000 };

static char buf[LONG + 16], other[LONG + 16];

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s%s%d", test_argv[0], name, N_PROCID_OF(npid()));
    return path;
}

static int open_global(const char *name, int flags)
{
    nglobal();
    int fd = open(path_of(name), flags, 0644);
    nlocal();
    return fd;
}

/* The file, as each node sees it by itself. */
static void expect_file(const char *name, const void *bytes, size_t n)
{
    int fd = open(path_of(name), O_RDONLY);

    nsync(1);
    check(fd >= 0, "%s", nfailed());
    check_equal(read(fd, other, sizeof other), n);
    check(memcmp(other, bytes, n) == 0, "the file has other bytes");
    close(fd);
    nsync(2);
}

/* ---- Descriptors ---- */

static void calls(void)
{
    int fd = open_global("calls", O_RDWR | O_CREAT | O_TRUNC);
    struct stat st;

    check(fd >= 0, "%s", nfailed());
    memset(buf, own_node() == 0 ? 'a' : 'x', 10); /* node 0's bytes count */
    check_equal(write(fd, buf, 10), 10);
    expect_file("calls", "aaaaaaaaaa", 10);
    check_equal(lseek(fd, -4, SEEK_END), 6);
    check_equal(write(fd, own_node() == 0 ? "bbbb" : "yyyy", 4), 4);
    check_equal(pwrite(fd, own_node() == 0 ? "cc" : "zz", 2, 2), 2);
    check_equal(lseek(fd, 0, SEEK_CUR), 10); /* one offset, not moved n times */
    check_equal(lseek(fd, 1, SEEK_SET), 1);
    check_equal(read(fd, other, 100), 9);
    check(memcmp(other, "accaabbbb", 9) == 0, "%.9s", other);
    check_equal(read(fd, other, 100), 0);
    check_equal(pread(fd, other, 3, 5), 3);
    check(memcmp(other, "abb", 3) == 0, "%.3s", other);
    check_equal(fstat(fd, &st), 0);
    check_equal(st.st_size, 10);
    check_equal(ftruncate(fd, 3), 0);
    check_equal(fsync(fd), 0);
    check_equal(fchmod(fd, 0600), 0);
    check_equal(fstat(fd, &st), 0);
    check(st.st_size == 3 && (st.st_mode & 0777) == 0600, "%o", (unsigned)st.st_mode);
    int copy = dup(fd);
    check_equal(lseek(copy, 1, SEEK_SET), 1);
    check_equal(close(fd), 0);
    check_equal(read(copy, other, 10), 2);
    check_equal(close(copy), 0);
    check_equal(close(copy), -1);
    expect_file("calls", "aac", 3);
}

static void starts(void)
{
    int fd = open_global("starts", O_RDWR | O_CREAT | O_TRUNC);

    check_equal(writestart(fd, own_node() == 0 ? "starts" : "xxxxxx", 6), 0);
    check_equal(writeend(fd), 6);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    check_equal(readstart(fd, 100), 0);
    check_equal(readend(fd, other), 6);
    check(memcmp(other, "starts", 6) == 0, "%.6s", other);
    int server = ionode(fd);
    check(server >= 0 && imaxn(server) == server, "server %d", server);
    check_equal(close(fd), 0);
}

/* Reads of all lengths around the pieces, in one call and in many. */
static void lengths(void)
{
    static const int lengths[] = {1, 8191, 8192, 8193, 16384, 24576, 40000, LONG};
    int fd = open_global("lengths", O_RDWR | O_CREAT | O_TRUNC);

    fill_pattern(buf, LONG, 5);
    check_equal(write(fd, buf, LONG), LONG);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i], done = 0;

        check_equal(lseek(fd, 0, SEEK_SET), 0);
        for (int got; (got = (int)read(fd, other + done, (size_t)n)) > 0; done += got) {
            check(got == n || done + got == LONG, "%d of %d", got, n);
            if (n == 1 && done == 20)
                break;
        }
        check(n == 1 || done == LONG, "%d", done);
        check(find_wrong_byte(other, n == 1 ? 20 : LONG, 5) >= 20, "calls of %d bytes", n);
        if (n != 1)
            check_equal(find_wrong_byte(other, LONG, 5), LONG);
    }
    check_equal(lseek(fd, 50, SEEK_SET), 50);
    check_equal(read(fd, other, sizeof other), LONG - 50); /* the file ends in the middle of a piece */
    check(memcmp(other, buf + 50, LONG - 50) == 0, "behind 50");
    close(fd);
}

/* Node 0's bytes count in a write, the least count in a read. */
static void counts(void)
{
    int fd = open_global("counts", O_RDWR | O_CREAT | O_TRUNC), node = own_node();

    check_equal(write(fd, "0123456789", (size_t)(node == 0 ? 4 : node)), node == 0 ? 4 : node);
    expect_file("counts", "0123", 4);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    check_equal(read(fd, other, (size_t)(node == node_count() - 1 ? 2 : 100)), 2);
    check_equal(read(fd, other, 100), 2);
    check(memcmp(other, "23", 2) == 0, "%.2s", other);
    check_equal(read(fd, other, 0), 0);
    close(fd);
}

static void errors(void)
{
    nglobal();
    check_equal(open(path_of("none"), O_RDONLY), -1);
    check_equal(errno, ENOENT);
    check(strstr(nfailed(), "none") != NULL, "%s", nfailed());
    int fd = open(path_of("errors"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check_equal(write(fd, "12345678", 8), 8);
    check_equal(read(fd, other, 1), -1);
    check_equal(errno, EBADF);
    check(strncmp(nfailed(), "read ", 5) == 0, "%s", nfailed());
    check_equal(lseek(fd, -9, SEEK_END), -1);
    check_equal(errno, EINVAL);
    check_equal(ioctl(fd, 4711, NULL), -1);
    check_equal(errno, ENOTTY);
    check_equal(close(fd), 0);
    check_equal(mkdir(path_of("none/below"), 0777), -1);
    check_equal(errno, ENOENT);
    nlocal();
}

/* Nodes that do not mean the same. */
static void differing(void)
{
    int more = node_count() > 1;
    char name[20];

    nglobal();
    snprintf(name, sizeof name, "own%d", own_node());
    if (more) {
        check_equal(open(path_of(name), O_RDWR | O_CREAT, 0600), -1);
        check_equal(errno, EINVAL);
        check_equal(unlink(path_of(name)), -1);
        check_equal(errno, EINVAL);
    }
    int one = open(path_of("one"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    int two = open(path_of("two"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(one >= 0 && two >= 0, "%s", nfailed());
    if (more) {
        check_equal(write(own_node() == 1 ? one : two, "x", 1), -1);
        check_equal(errno, EINVAL);
        check_equal(read(own_node() == 1 ? one : two, other, 1), -1);
        check_equal(errno, EINVAL);
    }
    check_equal(write(one, "1", 1), 1);
    check_equal(lseek(two, 0, SEEK_END), 0);
    close(two);
    close(one);
    nlocal();
}

/* One node's buffer is no memory: it gets EFAULT, the others their bytes, and the next call works on all. */
static void bad_buffer(void)
{
    int fd = open_global("bad", O_RDWR | O_CREAT | O_TRUNC), last = node_count() - 1;
    char *nowhere = (char *)8;

    check_equal(write(fd, "abcdefgh", 8), 8);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    ssize_t got = read(fd, own_node() == last ? nowhere : other, 4);
    if (own_node() == last)
        check(got == -1 && errno == EFAULT, "%ld, errno %d", (long)got, errno);
    else
        check_equal(got, 4);
    got = read(fd, other, 4);
    if (last > 0)
        check(got == 4 && memcmp(other, "efgh", 4) == 0, "%ld: %.4s", (long)got, other);
    check_equal(close(fd), 0);
}

/* ---- Paths ---- */

static void paths(void)
{
    char first[200], second[200], text[200];
    struct stat st;

    nglobal();
    strcpy(first, path_of("dir"));
    check_equal(mkdir(first, 0755), 0);
    strcat(first, "/a");
    strcpy(second, path_of("dir"));
    strcat(second, "/b");
    check_equal(close(creat(first, 0644)), 0);
    check_equal(link(first, second), 0);
    check_equal(stat(second, &st), 0);
    check_equal(st.st_nlink, 2);
    check_equal(unlink(second), 0);
    check_equal(rename(first, second), 0);
    check_equal(access(first, F_OK), -1);
    check_equal(errno, ENOENT);
    check_equal(access(second, F_OK), 0);
    check_equal(chmod(second, 0600), 0);
    check_equal(symlink("b", first), 0);
    check_equal(readlink(first, text, sizeof text), 1);
    check_equal(text[0], 'b');
    check(lstat(first, &st) == 0 && S_ISLNK(st.st_mode), "no link");
    DIR *dir = opendir(path_of("dir")); /* a directory belongs to each node */
    check(dir != NULL, "%s", nfailed());
    int entries = 0;
    for (const struct dirent *e; (e = readdir(dir));)
        entries += e->d_name[0] != '.';
    check_equal(entries, 2);
    closedir(dir);
    nsync(3);
    check_equal(remove(first), 0);
    check_equal(remove(second), 0);
    check_equal(rmdir(path_of("dir")), 0);
    nlocal();
}

/* ---- stdio ---- */

static void stdio(void)
{
    char line[100];

    nglobal();
    FILE *f = fopen(path_of("stdio"), "w+");
    nlocal(); /* the file stays global */
    check(f != NULL, "%s", nfailed());
    for (int i = 0; i < 500; i++)
        fprintf(f, "line %d\n", i);
    check_equal(fflush(f), 0);
    rewind(f);
    for (int i = 0; i < 500; i++) {
        int number = -1;

        check(fgets(line, sizeof line, f) && sscanf(line, "line %d", &number) == 1 && number == i, "%d: %s", i, line);
    }
    check(!fgets(line, sizeof line, f) && feof(f), "no end");
    check_equal(fclose(f), 0);
    FILE *local = fopen(path_of("stdio"), "r"); /* each node has this one for itself */
    check_equal(fseek(local, own_node() * 7, SEEK_SET), 0);
    check_equal(fgetc(local), "line 0\n"[0]);
    fclose(local);
}

/* Standard input and output: the test gives the lines and looks at the output. */
static void streams(void)
{
    int number = -1, again = -1, held = -1;
    char line[100] = "";

    if (own_node() == 0)
        check(fgets(line, sizeof line, stdin) && scanf("%d", &number) == 1 && number == 7, "%s%d", line, number);
    printf("[local]");
    nglobal(); /* the rest of the line that node 0 has read is everybody's now */
    printf("size? ");
    check(scanf("%d %d %d", &held, &number, &again) == 3, "read %d, %d, %d", held, number, again);
    check(held == 8 && number == 10 && again == 20, "%d, %d and %d", held, number, again);
    printf("has %d and %d\n", number, again);
    printf("no line's end");
    nlocal();
    check_equal(getchar(), '\n'); /* as each node's stdio has it */
    nglobal();
    check(fgets(line, sizeof line, stdin) && strcmp(line, "last but one\n") == 0, "%s", line);
    check(fgets(line, sizeof line, stdin) && strcmp(line, "last\n") == 0, "%s", line);
    check(!fgets(line, sizeof line, stdin) && feof(stdin), "no end");
    fprintf(stderr, "e"); /* each node's own */
    puts("");
    nlocal();
}

/* A copy of a stream follows the mode as the stream does; a file in its place does not. */
static void redirected(void)
{
    int out = dup(1), fd = open_global("redirected", O_RDWR | O_CREAT | O_TRUNC);

    check_equal(dup2(fd, 1), 1);
    check_equal(write(1, "to the file", 11), 11);
    nglobal();
    check_equal(write(out, "once\n", 5), 5);
    nlocal();
    check_equal(dup2(out, 1), 1);
    close(fd);
    expect_file("redirected", "to the file", 11);
}

/* ---- Other drivers ---- */

static int opens;

static int twice_match(const char *path)
{
    return strncmp(path, "twice:", 6) == 0;
}

static int twice_open(const char *path, int flags, mode_t mode, void **state)
{
    int fd = open(path + 6, flags, mode);

    opens++;
    *state = (void *)(long)fd;
    return fd < 0 ? -errno : 0;
}

static ssize_t twice_read(void *state, void *to, size_t n)
{
    ssize_t got = read((int)(long)state, to, n / 2);

    if (got > 0)
        memcpy((char *)to + got, to, (size_t)got);
    return got < 0 ? -errno : 2 * got;
}

static int twice_close(void *state)
{
    return close((int)(long)state);
}

static const struct ndevice twice = {
    .name = "twice", .match = twice_match, .open = twice_open, .read = twice_read, .close = twice_close};

static void own_device(void)
{
    char name[240];
    int fd = open_global("device", O_WRONLY | O_CREAT | O_TRUNC);

    check_equal(write(fd, "abc", 3), 3);
    close(fd);
    nglobal();
    check_equal(ndevice_add(&twice), 0); /* global mode stays above it */
    snprintf(name, sizeof name, "twice:%s", path_of("device"));
    fd = open(name, O_RDONLY);
    check(fd >= 0, "%s", nfailed());
    check_equal(read(fd, other, 100), 6);
    check(memcmp(other, "abcabc", 6) == 0, "%.6s", other);
    check_equal(opens, own_node() == 0 ? 1 : 0);
    check_equal(write(fd, other, 1), -1);
    check_equal(errno, ENOTSUP);
    close(fd);
    nlocal();
}

static void mapped(void)
{
    int fd = open_global("mapped", O_RDWR | O_CREAT | O_TRUNC), node = own_node(), n = node_count();
    struct pattern *pattern;
    char text[100], byte = (char)('A' + node);

    snprintf(text, sizeof text, "cyclic 1 %d", n);
    check_equal(pattern_parse(text, &pattern, other), 0);
    check_equal(ioctl(fd, N_SETMAP, pattern), 0);
    for (int i = 0; i <= node; i++) /* each node as often as it likes */
        check_equal(pwrite(fd, &byte, 1, 0), 1);
    nsync(5);
    check_equal(ioctl(fd, N_UNMAP), 0);
    check_equal(read(fd, other, 100), n);
    for (int k = 0; k < n; k++)
        check_equal(other[k], 'A' + k);
    check_equal(ioctl(fd, N_SETMAP, pattern), 0);
    check_equal(read(fd, other, 100), 1);
    check_equal(other[0], 'A' + node);
    check_equal(close(fd), 0);
    pattern_free(pattern);
}

/* ---- What goes wrong ---- */

static void lacking(void)
{
    int fd = open_global("lacking", O_RDWR | O_CREAT | O_TRUNC);

    if (own_node() != 3)
        read(fd, other, 1);
}

static void other_call(void)
{
    int fd = open_global("lacking", O_RDWR | O_CREAT | O_TRUNC);

    if (own_node() == 1)
        write(fd, other, 1);
    else
        lseek(fd, 0, SEEK_SET);
}

static void modes(void)
{
    check(nglobal() == 0 && nglobal() == 1 && nlocal() == 1 && nlocal() == 0, "modes");
}

static void all(void);

static const struct test_case cases[] = {
    {"calls", calls},           {"starts", starts},         {"lengths", lengths},
    {"counts", counts},         {"errors", errors},         {"paths", paths},
    {"differing", differing},   {"bad buffer", bad_buffer}, {"stdio", stdio},
    {"own device", own_device}, {"modes", modes},           {"all", all}, /* those before it */
    {"mapped", mapped},         {"streams", streams},       {"redirected", redirected},
    {"lacking", lacking},       {"other call", other_call}, {NULL, NULL},
};

static void all(void)
{
    for (const struct test_case *c = cases; c->run != all; c++)
        c->run();
}

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
