/*
 * Files of Clusterfile through cache managers, which run on the last MANAGERS nodes of the job, this program on the
 * first NODES:
 *
 *   clf_cached NODES MANAGERS CASE [SEED]
 *
 *   views       columns are written and blocks read by views; what has been read once comes from the managers
 *   random      random views, layouts and blocks; individual and collective calls by every way, on the same file
 *   forward     one manager has all blocks, and others room for what it has not: they keep them for it
 *   past        what is written past the managers is seen by those who go through them, and the other way
 *   errors      bad input
 *   ends        a manager ends while others wait for it
 *   dies        the node of the only manager dies
 *   absent      there is no manager: it has ended before anybody asked it
 *   member      a member of a group ends in a collective call
 */
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <ntime.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "check_clf.h"

static int managers;
static struct group all;

static unsigned char byte_at(unsigned at, unsigned salt)
{
    return (unsigned char)(at * 7 + at / 251 * 13 + salt);
}

#define MOST 400000
static unsigned char buf[MOST], other[MOST];

/* The bytes of an element of a pattern below `size`, in order. */
static int bytes_of(const struct pattern *p, int element, int size, unsigned salt, unsigned char *to)
{
    int n = 0;

    for (int64_t x; (x = pattern_file(p, element, n)) >= 0 && x < size; n++)
        to[n] = byte_at((unsigned)x, salt);
    return n;
}

static int create(const char *name, const char *layout, int64_t stripe)
{
    struct pattern *p = parse(layout);
    int fd = own == 0 ? clf_create(name, O_RDWR, 0640, p, &(struct clf_place){NULL, 0, stripe}) : -1;

    group_barrier(&all);
    if (own != 0)
        fd = clf_open(name, O_RDWR);
    CHECK(fd >= 0);
    pattern_free(p);
    return fd;
}

static void look(int fd, struct clf_manager_counts *sum)
{
    struct clf_manager_counts c;

    memset(sum, 0, sizeof *sum);
    for (int i = 0; i < managers; i++) {
        CHECK(clf_manager_count(fd, i, &c) == 0);
        sum->hits += c.hits;
        sum->misses += c.misses;
        sum->read += c.read;
        sum->written += c.written;
        sum->forwarded += c.forwarded;
    }
}

/* ---- Views ---- */

#define SIZE (61 * 37 * 8 * 8)

static void views(void)
{
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = managers};
    char text[100];
    struct clf_manager_counts cold, warm, then;

    sprintf(text, "array 488x37x8 *,block on 1x%d", nodes);
    struct pattern *columns = parse(text);
    sprintf(text, "array 488x37x8 block,* on %dx1", nodes);
    struct pattern *rows = parse(text);
    int fd = create("/clf/views", "array 488x37x8 cyclic(3),block on 2x2", 500);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0 && clf_setpattern(fd, columns, own) == 0);
    int n = bytes_of(columns, own, SIZE, 1, buf);
    CHECK(clf_write(fd, buf, (size_t)n) == n);
    group_barrier(&all);
    CHECK(clf_lseek(fd, 0, SEEK_END) == n);
    for (int i = 0; i < 2; i++) {
        n = bytes_of(rows, own, SIZE, 1, buf);
        CHECK(clf_setpattern(fd, rows, own) == 0 && clf_read(fd, other, MOST) == n && memcmp(buf, other, n) == 0);
    }
    /* the same by the servers, who have all of it */
    const struct clf_method view = {.way = CLF_WAY_VIEW};
    group_barrier(&all);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &view) == 0);
    memset(other, 0, sizeof other);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_read(fd, other, MOST) == n && memcmp(buf, other, n) == 0);
    group_barrier(&all);
    /* nobody has it cached: what is read first comes from the servers once, and then no more */
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0);
    group_barrier(&all);
    look(fd, &cold);
    group_barrier(&all);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_read(fd, other, MOST) == n && memcmp(buf, other, n) == 0);
    group_barrier(&all);
    look(fd, &warm);
    group_barrier(&all);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_read(fd, other, MOST) == n && memcmp(buf, other, n) == 0);
    group_barrier(&all);
    look(fd, &then);
    CHECK(warm.read - cold.read == SIZE && then.read == warm.read && then.written == warm.written);
    CHECK(then.misses == warm.misses && then.hits > warm.hits);
    CHECK(clf_ftruncate(fd, SIZE) == 0 && clf_fsync(fd) == 0);
    group_barrier(&all);
    CHECK(clf_close(fd) == 0);
    pattern_free(columns);
    pattern_free(rows);
}

/* ---- Random ---- */

static uint64_t state;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)below);
}

static const char *draw_array(char text[120], int rows, int columns, int item, int parts)
{
    static const char *const kinds[] = {"block,*", "*,block", "cyclic(3),*", "*,cyclic(2)", "cyclic,*"};
    const int kind = draw(5);
    const int by_rows = kind % 2 == 0;

    sprintf(text, "array %dx%dx%d %s on %dx%d", rows, columns, item, kinds[kind], by_rows ? parts : 1,
            by_rows ? 1 : parts);
    return text;
}

static struct clf_method draw_method(int block)
{
    const int way = draw(4);

    return (struct clf_method){.way = way == 0   ? CLF_WAY_VIEW
                                      : way == 1 ? CLF_WAY_TWO_PHASE
                                                 : CLF_WAY_CACHE,
                               .holders = 0,
                               .block = block,
                               .buffer = 1 + draw(9000),
                               .managers = managers};
}

static void move_all(int fd, int writes, unsigned char *data, int n, int collective)
{
    if (collective)
        CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0);
    const int moved = (int)(writes ? clf_write(fd, data, (size_t)n) : clf_read(fd, data, (size_t)n));
    if (!CHECK(moved == n))
        printf("%d of %d\n", moved, n);
    group_barrier(&all);
}

/* What a view shows does not depend on how it was written. */
static void one_file(const char *name)
{
    char text[120];
    const int rows = 20 + draw(60), columns = 20 + draw(50), item = 1 + draw(9), size = rows * columns * item;
    const int block = 200 + draw(20000), stripe = 100 + draw(5000);
    int fd = create(name, draw_array(text, rows, columns, item, 1 + draw(5)), stripe);

    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    for (unsigned round = 0; round < 3 && failed == 0; round++) {
        struct pattern *p = parse(draw_array(text, rows, columns, item, nodes));
        struct clf_method m = draw_method(block);

        CHECK(clf_fcntl(fd, CLF_F_METHOD, &m) == 0 && clf_setpattern(fd, p, own) == 0);
        int n = bytes_of(p, own, size, round, buf);
        move_all(fd, 1, buf, n, draw(2));
        pattern_free(p);
        p = parse(draw_array(text, rows, columns, item, nodes));
        if (draw(2)) {
            m = draw_method(block);
            CHECK(clf_fcntl(fd, CLF_F_METHOD, &m) == 0);
        }
        CHECK(clf_setpattern(fd, p, own) == 0);
        n = bytes_of(p, own, size, round, buf);
        for (int i = 0; i < 2; i++) {
            memset(other, 0, sizeof other);
            move_all(fd, 0, other, n, draw(2));
            CHECK(memcmp(buf, other, (size_t)n) == 0);
        }
        pattern_free(p);
    }
    CHECK(clf_close(fd) == 0);
}

static void random_files(void)
{
    char name[40];

    for (int i = 0; i < 4 && failed == 0; i++) {
        sprintf(name, "/clf/random%d", i);
        one_file(name);
    }
}

/* ---- Forwarding ---- */

#define LONG_SIZE 390000

/* All of it is in the first block, of a manager with room for 262144 bytes. */
static void forward(void)
{
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = managers, .block = 1 << 20};
    struct clf_manager_counts before, after;
    int fd = create("/clf/forward", "cyclic 65536 1", 65536);

    for (unsigned i = 0; i < LONG_SIZE; i++)
        buf[i] = byte_at(i, 3);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0);
    if (own == 0)
        CHECK(clf_write(fd, buf, LONG_SIZE) == LONG_SIZE);
    group_barrier(&all);
    look(fd, &before);
    group_barrier(&all);
    for (int i = 0; i < 3; i++) {
        memset(other, 0, sizeof other);
        CHECK(pread(fd, other, MOST, 0) == LONG_SIZE && memcmp(buf, other, LONG_SIZE) == 0);
    }
    group_barrier(&all);
    look(fd, &after);
    if (managers > 1) {
        CHECK(before.forwarded > 0 && after.forwarded > before.forwarded);
        CHECK(after.read == before.read); /* no server was asked again */
    }
    group_barrier(&all);
    for (int round = 0; round < 20 && failed == 0; round++) { /* what is old there is not seen */
        const int at = draw(LONG_SIZE), most = LONG_SIZE - at, n = 1 + draw(most > 50000 ? 50000 : most);

        for (int i = 0; i < n; i++)
            buf[at + i] = byte_at((unsigned)i, (unsigned)round);
        if (own == round % nodes)
            CHECK(pwrite(fd, buf + at, (size_t)n, at) == n);
        group_barrier(&all);
        const int from = draw(LONG_SIZE);
        memset(other, 0, sizeof other);
        CHECK(pread(fd, other, MOST, from) == LONG_SIZE - from &&
              memcmp(buf + from, other, (size_t)(LONG_SIZE - from)) == 0);
        group_barrier(&all);
    }
    CHECK(clf_close(fd) == 0);
}

/* ---- Past the managers ---- */

/* Everybody reads what buf says, of `size` bytes. */
static void expect(int fd, int size, int line)
{
    memset(other, 0, sizeof other);
    const int n = (int)pread(fd, other, MOST, 0);
    if (!CHECK(n == size && memcmp(buf, other, (size_t)size) == 0))
        printf("line %d: %d of %d bytes\n", line, n, size);
    group_barrier(&all);
}

/* One node writes n bytes at a place, and all know which. */
static void change(int fd, int writer, int at, int n)
{
    for (int i = 0; i < n; i++)
        buf[at + i] = byte_at((unsigned)i, (unsigned)(at + n));
    if (own == writer)
        CHECK(pwrite(fd, buf + at, (size_t)n, at) == n);
    group_barrier(&all);
}

static void past(void)
{
    static const int ways[] = {CLF_WAY_VIEW, CLF_WAY_LIST, CLF_WAY_SIEVE};
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = managers, .block = 100000};
    int size = 300000, fd = create("/clf/past", "cyclic 777 2", 300), beside = clf_open("/clf/past", O_RDWR);

    CHECK(beside >= 0);
    change(beside, nodes - 1, 0, size); /* attached before any manager has the file */
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0);
    expect(fd, size, __LINE__);
    change(fd, 0, 1001, 50000);
    expect(beside, size, __LINE__);
    for (int i = 0; i < 9 && failed == 0; i++) {
        const struct clf_method m = {.way = ways[i % 3]};
        const int at = draw(size - 1), n = i % 3 == 2 ? 7000 : 1 + draw(size - at > 5000 ? 5000 : size - at);

        CHECK(clf_fcntl(beside, CLF_F_METHOD, &m) == 0);
        change(beside, i % nodes, at, n);
        size = at + n > size ? at + n : size;
        expect(fd, size, __LINE__);
        change(fd, (i + 1) % nodes, draw(size - 100), 100);
        expect(beside, size, __LINE__);
    }
    size = 77777;
    if (own == nodes - 1)
        CHECK(clf_ftruncate(beside, size) == 0);
    group_barrier(&all);
    expect(fd, size, __LINE__);
    if (managers > 1 && own == 0)
        CHECK(kill(nodes + 1 + 1, SIGTERM) == 0); /* the second manager */
    group_barrier(&all);
    change(beside, 0, 10, 90000);
    CHECK(clf_why()[0] == '\0');
    expect(beside, 90010, __LINE__);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_read(fd, other, 1000) == 1000 && memcmp(buf, other, 1000) == 0);
    group_barrier(&all);
    CHECK(clf_close(fd) == 0 && clf_close(beside) == 0);
}

/* ---- Bad input ---- */

static void refuse(int fd, struct clf_method m, const char *why)
{
    m.way = CLF_WAY_CACHE;
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &m) == -1 && errno == EINVAL && strcmp(clf_why(), why) == 0);
}

static void errors(void)
{
    const int bad[] = {nodes + managers};
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = managers};
    struct clf_manager_counts c;
    struct group alone;
    char why[80];
    int fd = clf_open("/clf/errors", O_RDWR | O_CREAT, 0640), again = clf_open("/clf/errors", O_RDWR);

    sprintf(why, "0 cache managers on the %d nodes of the job", nodes + managers);
    refuse(fd, (struct clf_method){.managers = 0}, why);
    sprintf(why, "a cache manager on node %d of %d", nodes + managers, nodes + managers);
    refuse(fd, (struct clf_method){.managers = 1, .manager = bad}, why);
    refuse(fd, (struct clf_method){.managers = 1, .block = 1ll << 40},
           "blocks of 1099511627776 bytes for cache managers");
    refuse(fd, (struct clf_method){.managers = 1, .block = -1}, "a negative number");
    CHECK(clf_manager_count(fd, 0, &c) == -1 && errno == EINVAL);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0);
    CHECK(group_make(&alone, &own, 1) == 0);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &alone) == -1 && errno == EINVAL);
    const struct clf_method in_other_blocks = {.way = CLF_WAY_CACHE, .managers = managers, .block = 77};
    CHECK(clf_fcntl(again, CLF_F_METHOD, &in_other_blocks) == -1 && errno == EINVAL);
    CHECK(clf_write(again, "abc", 3) == 3); /* by its view, as before */
    CHECK(clf_manager_count(fd, managers, &c) == -1 && errno == EINVAL);
    CHECK(clf_read(fd, other, 10) == 3); /* the managers have dropped what they had, which was nothing */
    CHECK(clf_close(fd) == 0 && clf_close(again) == 0);
    fd = clf_open("/clf/errors", O_RDWR);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0 && clf_read(fd, other, 10) == 3);
    CHECK(clf_ftruncate(fd, 1) == 0 && pread(fd, other, 10, 0) == 1);
    CHECK(pwrite(fd, "xyz", 3, 100000) == 3 && pread(fd, other, 10, 0) == 10 && other[1] == 0);
    CHECK(clf_lseek(fd, 0, SEEK_END) == 100003);
    CHECK(clf_unlink("/clf/errors") == 0 && clf_close(fd) == 0);
    group_free(&alone);
}

/* ---- Ends ---- */

/* All nodes write their views of a new file together; buf has this one's, of *n bytes. */
static int write_together(const char *name, int *n)
{
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = managers, .block = 1000};
    struct pattern *p = parse("cyclic 500 3");
    int fd = create(name, "cyclic 777 2", 300);

    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0 && clf_setpattern(fd, p, own) == 0);
    *n = bytes_of(p, own, 60000, 5, buf);
    move_all(fd, 1, buf, *n, 1);
    return fd;
}

static void manager_ends(void)
{
    char why[80];
    int n, fd = write_together("/clf/ends", &n);

    CHECK(clf_fsync(fd) == 0);
    group_barrier(&all);
    if (own == 0)
        CHECK(kill(nodes + 1 + 1, SIGTERM) == 0); /* the second manager */
    sprintf(why, "cache manager 1, on node %d, has ended", nodes + 1);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    const int got = (int)clf_read(fd, other, (size_t)n);
    CHECK(got < n && (got < 0 || memcmp(buf, other, (size_t)got) == 0));
    CHECK(clf_lseek(fd, own == 0 ? 500 : 1500, SEEK_SET) > 0 && clf_read(fd, other, 10) <= 10);
    CHECK(clf_lseek(fd, 1000, SEEK_SET) == 1000);
    memset(other, 0, sizeof other);
    for (int i = 0; i < 5 && clf_read(fd, other, 1000) > 0; i++)
        ;
    CHECK(errno == EIO && strcmp(clf_why(), why) == 0);
    group_barrier(&all);
    /* what has been reported as written is there */
    const struct clf_method view = {.way = CLF_WAY_VIEW};
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &view) == 0);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_read(fd, other, (size_t)n) == n && memcmp(buf, other, n) == 0);
    group_barrier(&all);
    CHECK(clf_close(fd) == 0);
}

/* The manager's node dies. */
static void node_dies(void)
{
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = 1}, view = {.way = CLF_WAY_VIEW};
    int fd = create("/clf/dies", "cyclic 777 2", 300), got = 0;

    for (unsigned i = 0; i < 50000; i++)
        buf[i] = byte_at(i, 4);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == 0);
    if (own == 0)
        CHECK(clf_write(fd, buf, 50000) == 50000 && clf_fsync(fd) == 0);
    group_barrier(&all);
    for (double start = amicclk(); got >= 0 && amicclk() < start + 100e6;) {
        got = (int)pread(fd, other, 50000, 0);
        CHECK(got < 0 || memcmp(buf, other, (size_t)got) == 0);
    }
    CHECK(got == -1 && errno == EIO && strstr(clf_why(), "cannot be reached"));
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &view) == 0);
    CHECK(pread(fd, other, 50000, 0) == 50000 && memcmp(buf, other, 50000) == 0);
}

/* By itself, and collectively, with a member that asks a manager that is there. */
static void manager_is_absent(void)
{
    const struct clf_method cache = {.way = CLF_WAY_CACHE, .managers = managers};
    char why[80];
    int fd = create("/clf/absent", "cyclic 777 2", 300);

    sprintf(why, "cache manager 0, on node %d, does not answer", nodes);
    if (own == 0)
        kill(nodes + 1, SIGTERM);
    group_barrier(&all);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == -1 && errno == EIO && strcmp(clf_why(), why) == 0);
    CHECK(pwrite(fd, "abc", 3, 3 * own) == 3 && pread(fd, other, 3, 3 * own) == 3 && memcmp(other, "abc", 3) == 0);
    CHECK(clf_fcntl(fd, CLF_F_COLLECTIVE, &all) == 0);
    CHECK(clf_fcntl(fd, CLF_F_METHOD, &cache) == -1 && errno == EIO);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0 && clf_lseek(fd, 0, SEEK_SET) == 0);
    CHECK(clf_read(fd, other, 3) == 3 && memcmp(other, "abc", 3) == 0);
    CHECK(clf_close(fd) == 0);
}

static void member_ends(void)
{
    char text[100];
    int n, fd = write_together("/clf/member", &n);

    if (own == nodes - 1)
        _exit(0);
    sprintf(text, "rank %d of the file's group has ended", nodes - 1);
    CHECK(clf_lseek(fd, 0, SEEK_SET) == 0 && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    CHECK(clf_read(fd, other, (size_t)n) == -1 && errno == ESRCH && strcmp(clf_why(), text) == 0);
    CHECK(clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) == 0);
    CHECK(clf_read(fd, other, (size_t)n) == -1 && errno == ESRCH && strcmp(clf_why(), text) == 0);
    CHECK(clf_read(fd, other, (size_t)n) == n && memcmp(buf, other, (size_t)n) == 0); /* by itself */
    CHECK(clf_close(fd) == 0);
    if (failed == 0)
        printf("node %d passed\n", own);
    exit(failed > 0);
}

int main(int argc, char **argv)
{
    int member[64];

    if (argc < 4)
        return 2;
    whoami(&own, &(int){0}, &(int){0}, &(int){0});
    nodes = atoi(argv[1]);
    managers = atoi(argv[2]);
    state = argc > 4 ? (uint64_t)atoi(argv[4]) : 1;
    for (int r = 0; r < nodes; r++)
        member[r] = r;
    group_make(&all, member, nodes);
    if (strcmp(argv[3], "views") == 0)
        views();
    else if (strcmp(argv[3], "random") == 0)
        random_files();
    else if (strcmp(argv[3], "forward") == 0)
        forward();
    else if (strcmp(argv[3], "past") == 0)
        past();
    else if (strcmp(argv[3], "errors") == 0)
        own == 0 ? errors() : (void)0;
    else if (strcmp(argv[3], "ends") == 0)
        manager_ends();
    else if (strcmp(argv[3], "dies") == 0)
        node_dies();
    else if (strcmp(argv[3], "absent") == 0)
        manager_is_absent();
    else if (strcmp(argv[3], "member") == 0)
        member_ends();
    group_barrier(&all);
    group_all_reduce(&all, &failed, 1, GROUP_INT, GROUP_SUM);
    if (failed == 0 && own == 0)
        printf("passed\n");
    return failed > 0;
}
