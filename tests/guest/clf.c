/*
 * Clusterfile from programs: <clf.h>, and the C library's calls on /clf/...
 *
 *   clf calls           one line per check that fails
 *                       and all nodes write columns of a matrix, and read blocks of it
 *   clf costs           what a piece costs server and client, with a data cache
 *   clf dead            the I/O node of the first volume dies after the file has been made
 *   clf together        the same by collective calls
 *   clf phases          the same by two phases
 *   clf ends            a member ends while the others wait for it in a collective call
 *   clf refused         a member is refused in what all members do, and nobody waits for it
 *   clf none            the machine has no Clusterfile
 */
#include <dirent.h>
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <ntime.h>
#include <stdlib.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_clf.h"

static unsigned char byte_at(unsigned at)
{
    return (unsigned char)(at * 7 + at / 251 * 13);
}

static unsigned char buf[100000], other[100000];

static void fill(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        buf[i] = byte_at(i);
}

/* ---- One node ---- */

static void names(void)
{
    struct stat st;
    int fd = clf_open("/clf/a", O_RDWR | O_CREAT | O_EXCL, 0640);

    CHECK(fd >= 0);
    CHECK(clf_open("/clf/a", O_RDWR | O_CREAT | O_EXCL, 0640) == -1 && errno == EEXIST);
    CHECK(clf_open("/clf/none", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(clf_open("a", O_RDONLY) == -1 && errno == EINVAL && strstr(clf_why(), "/clf/"));
    CHECK(open("/clf/.clf/x", O_RDWR | O_CREAT, 0600) == -1 && errno == EACCES);
    CHECK(mkdir("/clf/folder", 0755) == 0 && rename("/clf/a", "/clf/folder/b") == 0);
    CHECK(stat("/clf/a", &st) == -1 && errno == ENOENT);
    CHECK(stat("/clf/folder/b", &st) == 0 && st.st_size == 0 && S_ISREG(st.st_mode));
    CHECK(rmdir("/clf/folder") == -1 && errno == ENOTEMPTY);
    CHECK(clf_unlink("/clf/folder/b") == 0 && rmdir("/clf/folder") == 0);
    CHECK(clf_write(fd, "x", 1) == -1 && errno == ESTALE); /* it has been removed */
    CHECK(clf_close(fd) == 0 && clf_close(fd) == -1 && errno == EBADF);
    CHECK(clf_read(1, buf, 1) == -1 && errno == ENOTSUP);
    DIR *d = opendir("/clf");
    int seen = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        seen |= strcmp(e->d_name, ".clf") == 0 ? 2 : strcmp(e->d_name, "lost+found") == 0;
    CHECK(d && seen == 1 && closedir(d) == 0);
}

static void data(void)
{
    const struct iovec iov[] = {{other, 100}, {other + 100, 5000}};
    struct stat st;
    int fd = clf_open("/clf/d", O_RDWR | O_CREAT, 0640);

    fill(70001);
    CHECK(clf_write(fd, buf, 70001) == 70001 && clf_lseek(fd, 0, SEEK_CUR) == 70001);
    CHECK(clf_fstat(fd, &st) == 0 && st.st_size == 70001);
    CHECK(pread(fd, other, 90000, 60000) == 10001 && memcmp(other, buf + 60000, 10001) == 0);
    CHECK(clf_read(fd, other, 1) == 0 && clf_lseek(fd, 10, SEEK_SET) == 10);
    CHECK(clf_readv(fd, iov, 2) == 5100 && memcmp(other, buf + 10, 5100) == 0);
    CHECK(clf_lseek(fd, 1000, SEEK_END) == 71001 && clf_write(fd, "end", 3) == 3);
    CHECK(pread(fd, other, 1003, 70001) == 1003 && other[0] == 0 && memcmp(other + 1000, "end", 3) == 0);
    CHECK(clf_ftruncate(fd, 65537) == 0 && clf_lseek(fd, 0, SEEK_END) == 65537);
    CHECK(clf_ftruncate(fd, 300000) == 0 && clf_lseek(fd, 0, SEEK_END) == 300000);
    CHECK(pread(fd, other, 100000, 65530) == 100000 && other[6] == byte_at(65536) && other[7] == 0);
    CHECK(clf_ftruncate(fd, -1) == -1 && errno == EINVAL);
    CHECK(clf_lseek(fd, -1, SEEK_SET) == -1 && errno == EINVAL);
    CHECK(clf_fsync(fd) == 0 && clf_close(fd) == 0);
    CHECK(open("//df00/.clf", O_RDONLY) == -1 && errno == EPERM);
    fd = clf_open("/clf/d", O_RDONLY);
    CHECK(clf_write(fd, buf, 1) == -1 && errno == EBADF);
    CHECK(clf_close(fd) == 0);
    fd = clf_open("/clf/d", O_WRONLY | O_APPEND);
    CHECK(clf_write(fd, "more", 4) == 4 && clf_lseek(fd, 0, SEEK_CUR) == 300004);
    CHECK(clf_setview(fd, CLF_BYTE, 0, 2) == -1 && errno == EINVAL && strstr(clf_why(), "O_APPEND"));
    CHECK(clf_close(fd) == 0);
    fd = clf_open("/clf/d", O_RDWR | O_TRUNC);
    CHECK(clf_lseek(fd, 0, SEEK_END) == 0 && clf_close(fd) == 0 && clf_unlink("/clf/d") == 0);
}

/* A selection of a selection: every second pair of bytes of every third ten. */
static void types(void)
{
    const int64_t length[] = {1, 2}, displ[] = {0, 3};
    clf_type pairs = clf_vector(0, 1, 4, 2, CLF_BYTE), tens = clf_vector(0, 0, 3, 2, pairs);
    const clf_type of[] = {pairs, CLF_BYTE};
    clf_type both = clf_struct(2, length, displ, of);
    int fd = clf_open("/clf/t", O_RDWR | O_CREAT, 0640);

    CHECK(clf_type_extent(pairs) == 6 && clf_type_extent(tens) == 24);
    CHECK(both == -1 && errno == EINVAL); /* byte 3 lies within the pairs */
    CHECK(clf_vector(0, 3, 2, 2, CLF_BYTE) == -1 && errno == EINVAL);
    CHECK(clf_vector(0, 0, 1, 1, 77) == -1 && errno == EINVAL && strcmp(clf_why(), "no type 77") == 0);
    const clf_type empty = clf_struct(0, NULL, NULL, NULL);
    CHECK(empty > 0 && clf_type_extent(empty) == 0);
    fill(1000);
    CHECK(clf_write(fd, buf, 1000) == 1000);
    CHECK(clf_setview(fd, empty, 0, 0) == -1 && errno == EINVAL);
    CHECK(clf_setview(fd, pairs, 0, 5) == -1 && errno == EINVAL);
    CHECK(clf_lseek(fd, 0, SEEK_CUR) == 1000); /* the old view stays */
    CHECK(clf_setview(fd, tens, 5, 30) == 0 && clf_lseek(fd, 0, SEEK_CUR) == 0);
    CHECK(clf_read(fd, other, 10) == 10);
    for (int i = 0; i < 10; i++) {
        const int at = 5 + i / 8 * 30 + i % 8 / 4 * 18 + i % 4 / 2 * 4 + i % 2;

        CHECK(other[i] == byte_at((unsigned)at));
    }
    CHECK(clf_lseek(fd, 0, SEEK_END) == 33 * 8 + 3); /* the last ones are 995, 996 and 999 */
    struct clf_view view = {CLF_BYTE, 1, 2};
    CHECK(clf_fcntl(fd, CLF_F_SETVIEW, &view) == 0 && clf_lseek(fd, 0, SEEK_END) == 500);
    CHECK(clf_fcntl(fd, 4711, &view) == -1 && errno == EINVAL);
    CHECK(clf_setpattern(fd, NULL, 0) == 0 && clf_lseek(fd, 0, SEEK_END) == 1000);
    CHECK(clf_type_free(tens) == 0 && clf_type_free(tens) == -1 && clf_type_free(CLF_BYTE) == -1);
    CHECK(clf_close(fd) == 0 && clf_unlink("/clf/t") == 0);
}

static void layouts(void)
{
    struct pattern *hole = parse("view 4 (0,1,-,1)"), *bits = parse("bits o2- o0-0 p0-0 o1-1");
    struct pattern *late = parse("cyclic 8 2 +16");
    const char *const twice[] = {"df01", "df01"}, *const none[] = {"df09"};
    struct stat st;

    CHECK(clf_create("/clf/l", O_RDWR, 0640, hole, NULL) == -1 && errno == EINVAL);
    CHECK(clf_create("/clf/l", O_RDWR, 0640, bits, NULL) == -1 && errno == EINVAL && strstr(clf_why(), "ascend"));
    CHECK(clf_create("/clf/l", O_RDWR, 0640, late, &(struct clf_place){twice, 2, 0}) == -1 && errno == EINVAL);
    CHECK(clf_create("/clf/l", O_RDWR, 0640, late, &(struct clf_place){none, 1, 0}) == -1 && errno == ENODEV);
    CHECK(clf_create("/clf/l", O_RDWR, 0640, late, &(struct clf_place){NULL, 9, 0}) == -1 && errno == EINVAL);
    int fd = clf_create("/clf/l", O_RDWR, 0640, late, NULL);
    CHECK(fd >= 0 && clf_write(fd, "0123456789", 10) == 10);
    CHECK(clf_fstat(fd, &st) == 0 && st.st_size == 26);
    CHECK(clf_setview(fd, CLF_BYTE, 15, 0) == -1 && errno == EINVAL && strstr(clf_why(), "first is 16"));
    CHECK(clf_setview(fd, CLF_BYTE, 17, 2) == 0 && clf_read(fd, other, 10) == 5 && memcmp(other, "13579", 5) == 0);
    CHECK(clf_ftruncate(fd, 16) == 0 && clf_lseek(fd, 0, SEEK_END) == 0);
    CHECK(clf_close(fd) == 0 && clf_unlink("/clf/l") == 0);
    pattern_free(hole);
    pattern_free(bits);
    pattern_free(late);
}

static void redistributes(void)
{
    struct pattern *rows = parse("array 61x37x8 cyclic(3),* on 3x1"), *late = parse("cyclic 8 2 +16");
    int fd = clf_open("/clf/g", O_RDWR | O_CREAT, 0600);
    struct stat st;

    fill(50001);
    CHECK(clf_write(fd, buf, 50001) == 50001);
    CHECK(clf_redistribute("/clf/g", late, NULL) == -1 && errno == EINVAL && strstr(clf_why(), "begins at byte 16"));
    CHECK(clf_redistribute("/clf/none", rows, NULL) == -1 && errno == ENOENT);
    CHECK(clf_redistribute("/clf", rows, NULL) == -1);
    CHECK(clf_redistribute("/clf/g", rows, NULL) == 0);
    CHECK(stat("/clf/g.new", &st) == -1 && errno == ENOENT);
    CHECK(clf_close(fd) == 0 && (fd = clf_open("/clf/g", O_RDONLY)) >= 0);
    CHECK(clf_fstat(fd, &st) == 0 && st.st_size == 50001 && (st.st_mode & 0777) == 0600);
    CHECK(clf_read(fd, other, 90000) == 50001 && memcmp(buf, other, 50001) == 0);
    CHECK(clf_setpattern(fd, rows, 1) == 0 && clf_read(fd, other, 100) == 100);
    CHECK(memcmp(other, buf + 3 * 37 * 8, 100) == 0);
    CHECK(clf_close(fd) == 0 && clf_unlink("/clf/g") == 0);
    pattern_free(rows);
    pattern_free(late);
}

/* The servers know nothing of a child: it attaches anew. */
static void forks(void)
{
    int fd = clf_open("/clf/f", O_RDWR | O_CREAT, 0640), status = -1;

    CHECK(clf_write(fd, "abcdef", 6) == 6 && clf_setview(fd, CLF_BYTE, 1, 2) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(pwrite(fd, "BDF", 3, 0) == 3 ? 0 : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(clf_read(fd, other, 3) == 3 && memcmp(other, "BDF", 3) == 0);
    CHECK(clf_close(fd) == 0 && clf_unlink("/clf/f") == 0);
}

/* ---- All nodes ---- */

#define ROWS    61
#define COLUMNS 37
#define ITEM    8
#define BYTES   (ROWS * COLUMNS * ITEM)

static const char *const layouts_of_all[][2] = {{"cyclic 65536 1", "/clf/plain"},
                                                {"array 61x37x8 cyclic(3),block on 2x2", "/clf/mixed"},
                                                {"array 61x37x8 block,* on 2x1", "/clf/rows"},
                                                {"array 61x37x8 *,cyclic on 1x5", "/clf/columns"}};

/* Returns the bytes of the element, as the definition of the distributions says. */
static int part_of(int (*owner)(int row, int column), int element, unsigned char *to)
{
    int n = 0;

    for (int at = 0; at < ROWS * COLUMNS; at++)
        for (int i = 0; i < ITEM && owner(at / COLUMNS, at % COLUMNS) == element; i++)
            to[n++] = byte_at((unsigned)(at * ITEM + i));
    return n;
}

static int column_owner(int row, int column)
{
    (void)row;
    return column / ((COLUMNS + nodes - 1) / nodes);
}

static int block_owner(int row, int column)
{
    const int rows = nodes > 1 ? 2 : 1, columns = nodes / rows;

    return row / ((ROWS + rows - 1) / rows) * columns + column / ((COLUMNS + columns - 1) / columns);
}

static struct pattern *array(const char *kinds, int rows, int columns)
{
    char text[100];

    sprintf(text, "array %dx%dx%d %s on %dx%d", ROWS, COLUMNS, ITEM, kinds, rows, columns);
    return parse(text);
}

static void all_nodes(const char *layout, const char *name)
{
    struct pattern *of_file = parse(layout), *columns = array("*,block", 1, nodes);
    struct pattern *blocks = array("block,block", nodes > 1 ? 2 : 1, nodes > 1 ? nodes / 2 : 1);
    int fd = own == 0 ? clf_create(name, O_RDWR, 0640, of_file, &(struct clf_place){NULL, 0, 500}) : -1;

    nsync(1);
    if (own != 0)
        fd = clf_open(name, O_RDWR);
    CHECK(fd >= 0);
    int n = part_of(column_owner, own, buf);
    CHECK(n == 0 || clf_setpattern(fd, columns, own) == 0);
    CHECK(n == 0 || clf_write(fd, buf, (size_t)n) == n);
    nsync(1);
    n = part_of(block_owner, own, buf);
    memset(other, 0, sizeof other);
    CHECK(clf_setpattern(fd, blocks, own) == 0);
    CHECK(clf_lseek(fd, 0, SEEK_END) == n);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_read(fd, other, sizeof other) == n && memcmp(buf, other, n) == 0);
    if (own == nodes - 1) { /* the same through a mapping of the descriptor */
        CHECK(ioctl(fd, N_SETMAP, columns) == 0);
        n = part_of(column_owner, own, buf);
        CHECK(n == 0 || (read(fd, other, sizeof other) == n && memcmp(buf, other, n) == 0));
    }
    nsync(1);
    CHECK(close(fd) == 0);
    pattern_free(of_file);
    pattern_free(columns);
    pattern_free(blocks);
}

static void all_layouts(void)
{
    for (int i = 0; i < 4; i++)
        all_nodes(layouts_of_all[i][0], layouts_of_all[i][1]);
}

/* ---- Collective calls ---- */

static struct group all;

/* Columns are written and blocks read by all nodes together; the last node has nothing to write at one time. */
static void collective(const char *layout, const char *name, const struct clf_method *method)
{
    struct pattern *of_file = parse(layout), *columns = array("*,block", 1, nodes);
    struct pattern *blocks = array("block,block", nodes > 1 ? 2 : 1, nodes > 1 ? nodes / 2 : 1);
    struct clf_counts before, after;
    int fd = own == 0 ? clf_create(name, O_RDWR, 0640, of_file, &(struct clf_place){NULL, 0, 500}) : -1;

    nsync(1);
    if (own != 0)
        fd = clf_open(name, O_RDWR);
    CHECK(fd >= 0);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == -1 && errno == EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == -1 && errno == EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, method) == 0);
    int n = part_of(column_owner, own, buf);
    CHECK(clf_setpattern(fd, columns, own) == 0);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0 && clf_write(fd, buf, (size_t)n) == n);
    nsync(1);
    n = part_of(block_owner, own, buf);
    CHECK(clf_setpattern(fd, blocks, own) == 0);
    memset(other, 0, sizeof other);
    clf_count(&before);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0 && clf_read(fd, other, sizeof other) == n);
    CHECK(memcmp(buf, other, n) == 0);
    clf_count(&after);
    CHECK(method->way == CLF_WAY_TWO_PHASE || after.requests - before.requests <= 12);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    const int some = own == nodes - 1 ? 0 : n / 2;
    CHECK(clf_read(fd, other, (size_t)some) == some && memcmp(buf, other, some) == 0);
    CHECK(clf_read(fd, other, 10) == 10 && memcmp(buf + some, other, 10) == 0); /* by itself */
    CHECK(clf_close(fd) == 0);
    pattern_free(of_file);
    pattern_free(columns);
    pattern_free(blocks);
}

/* By disk-directed I/O, or by two phases, through some members, in windows that do not divide the blocks. */
static void all_collective(bool two_phase)
{
    static const int64_t block[] = {0, 1000, 4515, 7}, buffer[] = {0, 300, 10000, 700};

    group_make(&all, NULL, nodes);
    for (int i = 0; i < 4; i++) {
        const struct clf_method m = {.way = two_phase ? CLF_WAY_TWO_PHASE : CLF_WAY_VIEW,
                                     .holders = i < nodes ? i : 1,
                                     .block = block[i],
                                     .buffer = buffer[i]};

        collective(layouts_of_all[i][0], layouts_of_all[i][1], &m);
    }
    group_free(&all);
}

/* ---- Members that are refused ---- */

/* Takes all memory. Returns the last piece, from which those before it can be reached. */
static void **take_memory(void)
{
    void **last = NULL, **piece;

    for (size_t bytes = 1 << 20; bytes >= 64; bytes /= 2)
        while ((piece = malloc(bytes))) {
            *piece = last;
            last = piece;
        }
    return last;
}

static void give_memory(void **last)
{
    while (last) {
        void **before = *last;

        free(last);
        last = before;
    }
}

/* Node 1 is refused for `error` in a collective read; the others get what they ask for. */
static void refused_read(int fd, int error)
{
    errno = 0;
    const ssize_t n = clf_read(fd, other, 300);
    if (own == 1)
        CHECK(n == -1 && errno == error);
    else
        CHECK(n == 300 && memcmp(buf, other, 300) == 0);
    nsync(2);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0);
}

/* What a member passes that is refused; for the others it is sound. */
static void refuse_settings(int fd, const struct pattern *blocks)
{
    const struct clf_method bad = {.way = CLF_WAY_TWO_PHASE, .holders = own == 1 ? -1 : 2};
    const struct clf_method way = {.way = own == 1 ? CLF_WAY_VIEW : CLF_WAY_TWO_PHASE};
    const int folder = own == 1 ? open("/clf", O_RDONLY) : fd;

    CHECK(clf_fcntl(folder, CLF_F_COLLECTIVE, &all) == -1 && errno == EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    CHECK(clf_setpattern(fd, blocks, own == 1 ? 99 : own) == -1 && errno == EINVAL);
    CHECK(clf_setview(fd, own == 1 ? 4711 : CLF_BYTE, 0, 0) == -1 && errno == EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &bad) == -1 && errno == EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &way) == -1 && errno == EINVAL && strstr(clf_why(), "different"));
    if (own == 1)
        close(folder);
}

static void refuse(void)
{
    const struct clf_method two_phase = {.way = CLF_WAY_TWO_PHASE, .holders = 2}, views = {.way = CLF_WAY_VIEW};
    struct pattern *blocks = parse("cyclic 3 4");
    void **taken = NULL;

    group_make(&all, NULL, nodes);
    int made = own == 0 ? clf_create("/clf/r", O_RDWR, 0666, NULL, &(struct clf_place){NULL, 0, 100}) : 0;
    nsync(2);
    int fd = clf_open("/clf/r", own == 1 ? O_WRONLY : O_RDWR);
    CHECK(made >= 0 && fd >= 0);
    refuse_settings(fd, blocks);
    CHECK(clf_setpattern(fd, blocks, own) == 0);
    fill(300);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0 && clf_write(fd, buf, 300) == 300);
    for (int i = 0; i < 2; i++) {
        CHECK(clf_fcntl(fd, CLF_F_METHOD, i == 0 ? &views : &two_phase) == 0);
        CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
        refused_read(fd, EBADF); /* it is open for writing only */
    }
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &views) == 0 && clf_close(fd) == 0);
    fd = clf_open("/clf/r", O_RDWR);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0 && clf_setpattern(fd, blocks, own) == 0);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0 && clf_lseek(fd, own == 1 ? INT64_MAX - 5 : 0, SEEK_SET) >= 0);
    refused_read(fd, EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    if (own == 1)
        taken = take_memory();
    refused_read(fd, ENOMEM);
    give_memory(taken);
    CHECK(clf_read(fd, other, 300) == 300 && memcmp(buf, other, 300) == 0);
    CHECK(clf_close(fd) == 0);
    pattern_free(blocks);
    group_free(&all);
}

/* The last node ends in the middle of a call: the servers do not wait for it, and who waits for it himself is told. */
static void member_ends(void)
{
    struct pattern *blocks = parse("cyclic 1000 4");
    char text[100];

    group_make(&all, NULL, nodes);
    int fd = clf_open("/clf/ends", O_RDWR | O_CREAT, 0640);
    CHECK(fd >= 0 && clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    CHECK(clf_setpattern(fd, blocks, own) == 0);
    fill(5000);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0 && clf_write(fd, buf, 5000) == 5000);
    if (own == nodes - 1)
        _exit(0);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    CHECK(clf_read(fd, other, 5000) == 5000 && memcmp(buf, other, 5000) == 0);
    sprintf(text, "rank %d of the file's group has ended", nodes - 1);
    CHECK(clf_setpattern(fd, blocks, own) == -1 && errno == ESRCH && strcmp(clf_why(), text) == 0);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    CHECK(clf_read(fd, other, 5000) == 5000);
    CHECK(clf_close(fd) == 0);
    if (failed == 0)
        printf("node %d passed\n", own);
    exit(failed > 0);
}

/* ---- What a piece costs ---- */

#define COST_BYTES   32768
#define PIECE_CYCLES 60   /* at most: the aim */
#define BLOCK_CYCLES 3500 /* at most, of a block of 4096 bytes that a view meets */

/* The cycles of an access, the second of its kind: the blocks are in the cache. */
static double access_cycles(int fd, bool writes)
{
    double start = 0;

    for (int i = 0; i < 2; i++) {
        CHECK(clf_lseek(fd, 0, SEEK_SET) == 0);
        start = amicclk();
        CHECK((writes ? clf_write(fd, buf, COST_BYTES) : clf_read(fd, buf, COST_BYTES)) == COST_BYTES);
    }
    return (amicclk() - start) * 20;
}

static void both(int fd, double cycles[2])
{
    cycles[1] = access_cycles(fd, true);
    cycles[0] = access_cycles(fd, false);
}

/* What `n` of something cost that is in one access and not in the other. */
static void expect_few(const char *what, const double with[2], const double without[2], int n, double most)
{
    for (int writes = 0; writes < 2; writes++) {
        const double cycles = (with[writes] - without[writes]) / n;

        CHECK(cycles <= most);
        if (cycles > most)
            printf("%s: %.1f cycles, %s\n", what, cycles, writes ? "written" : "read");
    }
}

/* A view of pieces, of which the file has four times as many bytes. */
static void view_of_pieces(int fd, int bytes, double cycles[2])
{
    clf_type piece = clf_vector(0, bytes - 1, bytes, 1, CLF_BYTE);

    CHECK(clf_setview(fd, piece, 0, 4 * bytes) == 0);
    both(fd, cycles);
    CHECK(clf_type_free(piece) == 0);
}

/* At a server: the bytes of a message are those of the program, in the file they are pieces in all of its blocks. At a
 * client: the program's bytes are pieces in turn of two files, in which they lie together. */
static void costs(void)
{
    static const int pieces[] = {8, 16};
    int fd = clf_create("/clf/costs", O_RDWR | O_CREAT, 0640, NULL, &(struct clf_place){NULL, 1, 0});
    double whole[2], blocks[2], with[2];
    char text[30];

    fill(COST_BYTES);
    for (int i = 0; i < 4; i++)
        CHECK(clf_write(fd, buf, COST_BYTES) == COST_BYTES);
    both(fd, whole);
    view_of_pieces(fd, 1024, blocks);
    expect_few("a block at a server", blocks, whole, COST_BYTES / 1024, BLOCK_CYCLES);
    for (int i = 0; i < 2; i++) {
        view_of_pieces(fd, pieces[i], with);
        expect_few("a piece at a server", with, blocks, COST_BYTES / pieces[i], PIECE_CYCLES);
        sprintf(text, "cyclic %d 2", pieces[i]);
        struct pattern *turns = parse(text);
        int two = clf_create("/clf/two", O_RDWR | O_CREAT, 0640, turns, &(struct clf_place){NULL, 1, 0});
        both(two, with);
        expect_few("a piece at a client", with, whole, COST_BYTES / pieces[i], PIECE_CYCLES);
        CHECK(clf_close(two) == 0 && clf_unlink("/clf/two") == 0);
        pattern_free(turns);
    }
    CHECK(clf_close(fd) == 0);
}

/* ---- A dead I/O node ---- */

static void dead(void)
{
    struct pattern *halves = parse("cyclic 1000 2");
    int fd = clf_create("/clf/x", O_RDWR, 0640, halves, &(struct clf_place){NULL, 2, 0});

    fill(10000);
    CHECK(fd >= 0 && clf_write(fd, buf, 10000) == 10000);
    for (double start = amicclk(); amicclk() < start + 9e6;)
        ;
    CHECK(clf_setpattern(fd, halves, 1) == 0 && clf_read(fd, other, 1000) == 1000);
    CHECK(memcmp(buf + 1000, other, 1000) == 0);
    CHECK(clf_setpattern(fd, halves, 0) == 0 && clf_read(fd, other, 1000) == -1 && errno == EHOSTUNREACH);
    CHECK(clf_setview(fd, CLF_BYTE, 1000, 0) == 0);
    CHECK(clf_read(fd, other, 3000) == 1000); /* up to the first byte that is not there */
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_write(fd, buf, 3000) == 1000);
    CHECK(clf_fsync(fd) == -1 && errno == EHOSTUNREACH);
    close(fd);
}

static void none(void)
{
    CHECK(clf_open("/clf/a", O_RDWR | O_CREAT, 0600) == -1 && errno == ENODEV && strstr(clf_why(), "metadata"));
    CHECK(clf_create("/clf/a", O_RDWR, 0600, NULL, NULL) == -1 && errno == ENODEV);
}

int main(int argc, char **argv)
{
    whoami(&own, &(int){0}, &(int){0}, &(int){0});
    nodes = ncubesize();
    if (argc > 1 && strcmp(argv[1], "dead") == 0) {
        dead();
    } else if (argc > 1 && strcmp(argv[1], "refused") == 0) {
        refuse();
    } else if (argc > 1 && strcmp(argv[1], "costs") == 0) {
        costs();
    } else if (argc > 1 && strcmp(argv[1], "none") == 0) {
        none();
    } else if (argc > 1 && strcmp(argv[1], "ends") == 0) {
        member_ends();
    } else if (argc > 1 && strcmp(argv[1], "together") == 0) {
        all_collective(false);
    } else if (argc > 1 && strcmp(argv[1], "phases") == 0) {
        all_collective(true);
    } else {
        if (own == 0) {
            names();
            data();
            types();
            layouts();
            redistributes();
            forks();
        }
        nsync(1);
        all_layouts();
    }
    nsync(1);
    if (failed == 0 && own == 0)
        printf("passed\n");
    return failed > 0;
}
