/*
 * The Concurrent File System from programs: <cfs.h>, and the C library's calls on /cfs/...
 *
 *   cfs calls           one line per check that fails, on a machine with three disks
 *   cfs dead            the I/O node of disk 1 dies after the file has been made: calls that need it fail, others go on
 *   cfs unnamed         the I/O node of disk 0 dies, with the name server: opens fail, open files go on
 *   cfs full            writes until the disks are full: what was written is a whole, and there is room once it is gone
 *   cfs must            a call without a result that fails
 *   cfs stop            writes one file and syncs it, then empties and writes others for ever: the machine is stopped
 *   cfs after           what that has left: the synced file is whole, others open, and are zeros or what was written
 */
#include <cfs.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <ntime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int checks, failed, own, nodes;

#define CHECK(condition) check((condition), __LINE__, #condition)

static void check(int good, int line, const char *text)
{
    checks++;
    if (good)
        return;
    failed++;
    printf("node %d, line %d: %s (errno %d, %s)\n", own, line, text, errno, strerror(errno));
}

static unsigned char byte_at(unsigned at, unsigned seed)
{
    return (unsigned char)(at * 7 + at / 4096 * 13 + seed * 31);
}

static void fill(unsigned char *buf, unsigned n, unsigned at, unsigned seed)
{
    for (unsigned i = 0; i < n; i++)
        buf[i] = byte_at(at + i, seed);
}

static int is(const unsigned char *buf, unsigned n, unsigned at, unsigned seed)
{
    for (unsigned i = 0; i < n; i++)
        if (buf[i] != byte_at(at + i, seed))
            return 0;
    return 1;
}

static unsigned char buf[100000];

static void one_node(void)
{
    struct stat st;
    int fd = open("/cfs/a", O_RDWR | O_CREAT | O_EXCL, 0640);

    CHECK(fd >= 0);
    CHECK(open("/cfs/a", O_RDWR | O_CREAT | O_EXCL, 0640) == -1 && errno == EEXIST);
    CHECK(open("/cfs/none", O_RDONLY) == -1 && errno == ENOENT);
    fill(buf, 70001, 0, 1);
    cwrite(fd, buf, 70001);
    CHECK(lseek(fd, 0, SEEK_CUR) == 70001);
    CHECK(iseof(fd) == 1);
    CHECK(fstat(fd, &st) == 0 && st.st_size == 70001 && S_ISREG(st.st_mode));
    CHECK(stat("/cfs/a", &st) == 0 && st.st_size == 70001);
    CHECK(lseek(fd, 4090, SEEK_SET) == 4090);
    memset(buf, 0, sizeof buf);
    cread(fd, buf, 20000);
    CHECK(is(buf, 20000, 4090, 1));
    CHECK(_cread(fd, buf, 90000) == 70001 - 24090 && is(buf, 70001 - 24090, 24090, 1));
    CHECK(_cread(fd, buf, 1) == 0);
    CHECK(lsize(fd, 500000, SIZE_SET) == 500000);
    CHECK(lsize(fd, 1, SIZE_SET) == 500000);
    CHECK(lsize(fd, 100, SIZE_END) == 500100);
    CHECK(pread(fd, buf, 1000, 400000) == 1000 && buf[0] == 0 && memcmp(buf, buf + 1, 999) == 0);
    CHECK(_lsize(fd, -1, SIZE_SET) == -1 && errno == EINVAL);
    CHECK(_lsize(fd, (off_t)1 << 33, SIZE_SET) == -1 && errno == EFBIG);
    CHECK(_lsize(fd, (off_t)1 << 31, SIZE_SET) == -1 && errno == ENOSPC);
    CHECK(fstat(fd, &st) == 0 && st.st_size == 500100);
    int disk = 0;
    CHECK(_restrictvol(fd, 1, &disk) == -1 && errno == EBUSY);
    CHECK(fsync(fd) == 0);
    CHECK(close(fd) == 0);
    CHECK(_cread(fd, buf, 1) == -1 && errno == EBADF);
    CHECK(_cread(1, buf, 1) == -1 && errno == ENOTSUP);
    CHECK(strcmp(strerror(ESTALE), "Stale file handle") == 0);
}

static void asynchronous(void)
{
    long id[4];
    int fd = open("/cfs/async", O_RDWR | O_CREAT | O_TRUNC, 0600);

    fill(buf, 60000, 0, 2);
    for (int i = 0; i < 4; i++)
        id[i] = iwrite(fd, buf + 15000 * i, 15000);
    iowait(id[2]);
    CHECK(_iowait(id[2]) == -1 && errno == EINVAL);
    while (!iodone(id[0]))
        ;
    CHECK(_iowait(id[3]) == 15000);
    iowait(id[1]);
    CHECK(_iodone(id[1]) == -1 && errno == EINVAL);
    memset(buf, 0, sizeof buf);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    for (int i = 0; i < 4; i++)
        id[i] = iread(fd, buf + 15000 * i, 15000);
    CHECK(lseek(fd, 0, SEEK_CUR) == 60000);
    for (int i = 3; i >= 0; i--)
        iowait(id[i]);
    CHECK(is(buf, 60000, 0, 2));
    CHECK(iread(fd, buf, 10) > 0);
    CHECK(close(fd) == 0);
}

static void names(void)
{
    struct stat st;
    DIR *dir;
    int found = 0, disks[2] = {1, 0};

    CHECK(mkdir("/cfs/d", 0755) == 0);
    FILE *f = fopen("/cfs/d/text", "w");
    CHECK(f && fprintf(f, "a line\n") == 7 && fclose(f) == 0);
    CHECK(rename("/cfs/d/text", "/cfs/d/new") == 0);
    f = fopen("/cfs/d/new", "r");
    CHECK(f && fgets((char *)buf, 100, f) && strcmp((char *)buf, "a line\n") == 0 && fclose(f) == 0);
    CHECK((dir = opendir("/cfs/d")) != NULL);
    for (struct dirent *e; dir && (e = readdir(dir));)
        found += strcmp(e->d_name, "new") == 0;
    CHECK(found == 1 && closedir(dir) == 0);
    CHECK(rmdir("/cfs/d") == -1 && errno == ENOTEMPTY);
    CHECK(rename("/cfs/a", "/cfs/d/new") == 0);
    CHECK(stat("/cfs/a", &st) == -1 && errno == ENOENT);
    CHECK(stat("/cfs/d/new", &st) == 0 && st.st_size == 500100);
    CHECK(unlink("/cfs/d/new") == 0 && rmdir("/cfs/d") == 0);
    CHECK(stat("/cfs", &st) == 0 && S_ISDIR(st.st_mode));
    CHECK(open("/cfs/.cfs/1", O_RDONLY) == -1 && errno == EACCES);
    int fd = open("/cfs/two", O_RDWR | O_CREAT, 0600);
    CHECK(restrictvol(fd, 2, disks) == 0);
    fill(buf, 80000, 0, 3);
    cwrite(fd, buf, 80000);
    CHECK(ftruncate(fd, 0) == 0 && fstat(fd, &st) == 0 && st.st_size == 0);
    CHECK(pwrite(fd, "x", 1, 9000) == 1);
    CHECK(pread(fd, buf, 9001, 0) == 9001 && buf[8999] == 0 && buf[9000] == 'x' && buf[0] == 0);
    CHECK(close(fd) == 0);
    CHECK(open("/cfs/two", O_RDONLY) >= 0);
}

/* What another descriptor has emptied ends there for this one, and what is written makes it longer again. */
static void emptied(void)
{
    struct stat st;
    int one[2] = {2, 2}, fd = open("/cfs/emptied", O_RDWR | O_CREAT, 0600), other;

    CHECK(_restrictvol(fd, 4, one) == -1 && errno == EINVAL);
    CHECK(_restrictvol(fd, 0, one) == -1 && errno == EINVAL);
    fill(buf, 90000, 0, 5);
    cwrite(fd, buf, 90000);
    CHECK(pread(fd, buf, 90000, 0) == 90000);
    CHECK((other = open("/cfs/emptied", O_RDWR | O_TRUNC)) >= 0);
    CHECK(pread(fd, buf, 50000, 100) == 0);
    CHECK(pwrite(other, buf, 5000, 0) == 5000 && pread(fd, buf, 90000, 10) == 4990 && is(buf, 4990, 10, 5));
    CHECK(ftruncate(other, 0) == 0);
    fill(buf, 20000, 30000, 6);
    CHECK(pwrite(fd, buf, 20000, 30000) == 20000);
    CHECK(fstat(other, &st) == 0 && st.st_size == 50000);
    memset(buf, 1, sizeof buf);
    CHECK(pread(other, buf, 60000, 0) == 50000 && buf[0] == 0 && memcmp(buf, buf + 1, 29999) == 0);
    CHECK(is(buf + 30000, 20000, 30000, 6));
    CHECK(ftruncate(other, 0) == 0);
    CHECK(_iowait(iread(fd, buf, 60000)) == 0);
    CHECK(close(other) == 0 && close(fd) == 0);
}

/* All nodes write one file, interleaved by odd lengths, and read what others have written. */
static void all_nodes(void)
{
    const unsigned piece = 5000;
    int fd = open("/cfs/all", O_RDWR | O_CREAT, 0600);

    CHECK(fd >= 0);
    for (unsigned i = 0; i < 6; i++) {
        const unsigned at = (i * (unsigned)nodes + (unsigned)own) * piece;

        fill(buf, piece, at, 4);
        CHECK(pwrite(fd, buf, piece, at) == (int)piece);
    }
    nsync(1);
    for (unsigned i = 0; i < 6; i++) {
        const unsigned at = (i * (unsigned)nodes + (unsigned)(own + 1) % (unsigned)nodes) * piece;

        CHECK(pread(fd, buf, piece, at) == (int)piece && is(buf, piece, at, 4));
    }
    CHECK(close(fd) == 0);
    nsync(2);
}

static int is_lost(int error)
{
    return error == EHOSTDOWN || error == EHOSTUNREACH || error == ETIMEDOUT;
}

/* The fault is at 8 s. */
static void await_fault(void)
{
    puts("made");
    fflush(stdout);
    for (double start = amicclk(); amicclk() < start + 9e6;)
        ;
}

/* Blocks go round the disks: one of the first three is on the dead one. */
static void dead(void)
{
    int fd = open("/cfs/a", O_RDWR | O_CREAT, 0600), bad = 0;

    CHECK(fd >= 0 && lsize(fd, 3 * 4096, SIZE_SET) == 3 * 4096);
    await_fault();
    for (int i = 0; i < 3; i++)
        if (pwrite(fd, "x", 1, 4096 * i) != 1) {
            CHECK(is_lost(errno));
            bad++;
        }
    CHECK(bad == 1);
    CHECK(close(fd) == 0);
}

/* The first file's home is disk 1; the other has all its blocks on that one, too. */
static void unnamed(void)
{
    int fd = open("/cfs/a", O_RDWR | O_CREAT, 0600), on_one = open("/cfs/b", O_RDWR | O_CREAT, 0600), bad = 0, one = 1;

    fill(buf, 3 * 4096, 0, 7);
    cwrite(fd, buf, 3 * 4096);
    CHECK(restrictvol(on_one, 1, &one) == 0);
    cwrite(on_one, buf, 3 * 4096);
    await_fault();
    CHECK(open("/cfs/a", O_RDONLY) == -1 && is_lost(errno));
    CHECK(open("/cfs/new", O_RDWR | O_CREAT, 0600) == -1 && is_lost(errno));
    for (unsigned i = 0; i < 3; i++)
        if (pread(fd, buf, 4096, 4096 * i) == 4096)
            CHECK(is(buf, 4096, 4096 * i, 7));
        else
            bad += is_lost(errno);
    CHECK(bad == 1);
    CHECK(fsync(fd) == -1 && is_lost(errno));
    CHECK(pwrite(on_one, buf, 50000, 0) == 50000 && fsync(on_one) == 0);
    CHECK(close(on_one) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    cread(fd, buf, 3 * 4096);
}

static void full(void)
{
    const unsigned piece = 99991;
    int fd = open("/cfs/full", O_RDWR | O_CREAT, 0600);
    unsigned size = 0, at = 0;
    ssize_t n;

    for (fill(buf, piece, 0, 8); (n = write(fd, buf, piece)) > 0; fill(buf, piece, size, 8))
        size += (unsigned)n;
    CHECK(n == -1 && errno == ENOSPC && size > 10000000);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    for (; (n = read(fd, buf, piece)) > 0; at += (unsigned)n)
        CHECK(is(buf, (unsigned)n, at, 8));
    CHECK(n == 0 && at == size);
    CHECK(fsync(fd) == 0 && close(fd) == 0 && unlink("/cfs/full") == 0);
    fd = open("/cfs/after", O_RDWR | O_CREAT, 0600);
    CHECK(pwrite(fd, buf, piece, 4097) == (ssize_t)piece && close(fd) == 0);
}

#define LONG_FILE 150000u
static const char *const others[] = {"/cfs/new", "/cfs/again", "/cfs/kept2"};

/* Blocks that were not written are zeros, and so is the rest of a block behind the end of what was. */
static int is_or_zeros(const unsigned char *bytes, unsigned n, unsigned seed)
{
    for (unsigned i = 0; i < n; i++)
        if (bytes[i] != 0 && bytes[i] != byte_at(i, seed))
            return 0;
    return 1;
}

static unsigned char long_buf[LONG_FILE];

static void write_for_ever(void)
{
    int fd = open("/cfs/kept", O_RDWR | O_CREAT | O_TRUNC, 0600);

    fill(long_buf, LONG_FILE, 0, 9);
    cwrite(fd, long_buf, LONG_FILE);
    CHECK(fsync(fd) == 0);
    puts("synced");
    fflush(stdout);
    for (unsigned i = 0;; i++) {
        fd = open(others[i % 3], O_RDWR | O_CREAT | (i % 4 == 3 ? 0 : O_TRUNC), 0600);
        fill(long_buf, LONG_FILE, 0, 9);
        CHECK(fd >= 0 && write(fd, long_buf, 20000 + i * 7919 % 100000) > 0);
        if (i % 5 == 4)
            CHECK(fsync(fd) == 0);
        close(fd);
    }
}

static void look_after_stop(void)
{
    int fd = open("/cfs/kept", O_RDONLY);

    CHECK(fd >= 0 && read(fd, long_buf, LONG_FILE) == LONG_FILE && is(long_buf, LONG_FILE, 0, 9));
    for (int i = 0; i < 3; i++) {
        fd = open(others[i], O_RDWR);
        if (fd < 0) {
            CHECK(errno == ENOENT);
            continue;
        }
        struct stat st;
        CHECK(fstat(fd, &st) == 0);
        CHECK(read(fd, long_buf, LONG_FILE) == st.st_size && is_or_zeros(long_buf, (unsigned)st.st_size, 9));
        fill(long_buf, LONG_FILE, 0, 9);
        CHECK(pwrite(fd, long_buf, LONG_FILE, 0) == LONG_FILE && fsync(fd) == 0);
        CHECK(pread(fd, long_buf, LONG_FILE, 0) == LONG_FILE && is(long_buf, LONG_FILE, 0, 9));
        close(fd);
    }
}

static const struct {
    const char *word;
    void (*run)(void);
} alone[] = {{"dead", dead}, {"unnamed", unnamed}, {"full", full}, {"after", look_after_stop}};

int main(int argc, char **argv)
{
    int process, host, dim;

    whoami(&own, &process, &host, &dim);
    nodes = 1 << dim;
    for (size_t i = 0; argc == 2 && i < sizeof alone / sizeof *alone; i++)
        if (strcmp(argv[1], alone[i].word) == 0) {
            alone[i].run();
            puts(failed ? "failed" : "passed");
            return failed != 0;
        }
    if (argc == 2 && strcmp(argv[1], "must") == 0) {
        int fd = open("/cfs/short", O_RDWR | O_CREAT, 0600);

        cwrite(fd, "abc", 3);
        lseek(fd, 0, SEEK_SET);
        cread(fd, buf, 4);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "stop") == 0)
        write_for_ever();
    CHECK(cfs_disks() == 3);
    if (own == 0) {
        one_node();
        asynchronous();
        names();
        emptied();
    }
    nsync(0);
    all_nodes();
    struct cfs_stat st;
    CHECK(cfs_stat(0, &st) == 0 && st.requests > 0 && st.blocks > 0);
    CHECK(cfs_stat(3, &st) == -1 && errno == ENODEV);
    CHECK(cfs_drop(1) == 0);
    if (own == 0 && failed == 0 && checks > 50)
        puts("passed");
    return failed != 0;
}
