/*
 * Of the program files (files.c), its only user: files of patterns by their names, and the cases with several nodes,
 * with transfers under way, and with runs one after the other.
 */
#pragma once

#include <n_errno.h>
#include <nio.h>
#include <sys/stat.h>

#include "check_files.h"

static int open_file(const char *name, int flags)
{
    int fd = open(name_of(name), flags, 0644);

    check(fd >= 0, "open %s: errno %d (%s)", name, errno, strerror(errno));
    return fd;
}

static void write_pattern(int fd, size_t n, uint32_t seed)
{
    write_pattern_by(write, fd, n, seed);
}

static void expect_pattern(int fd, size_t n, uint32_t seed)
{
    expect_pattern_by(read, fd, n, seed);
}

static void make_file(const char *name, size_t n, uint32_t seed)
{
    int fd = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);

    write_pattern(fd, n, seed);
    check_works(close(fd));
}

static void expect_file(const char *name, size_t n, uint32_t seed)
{
    int fd = open_file(name, O_RDONLY);
    char byte;

    expect_pattern(fd, n, seed);
    check_equal(read(fd, &byte, 1), 0);
    check_works(close(fd));
}

static off_t size_of(const char *name)
{
    struct stat st;

    check(stat(name_of(name), &st) == 0, "stat %s: %s", name, strerror(errno));
    return st.st_size;
}

/* ---- Several nodes ---- */

/* Sizes and offsets that need more than 32 bits. */
static void beyond_4_gb(void)
{
    const off_t far = 5ll << 30;
    int fd = open_file("far", O_RDWR | O_CREAT | O_TRUNC);
    char c = 0;

    check_equal(lseek(fd, far, SEEK_SET), far);
    check_equal(write(fd, "x", 1), 1);
    check_equal(size_of("far"), far + 1);
    check_equal(lseek(fd, -1, SEEK_END), far);
    check(read(fd, &c, 1) == 1 && c == 'x', "read %d", c);
    check_equal(pread(fd, &c, 1, far - 1), 1);
    check_equal(c, 0);
    check_works(ftruncate(fd, far / 2));
    check_equal(size_of("far"), far / 2);
    check_works(close(fd));
    check_works(unlink(name_of("far")));
}

static void own_files(void)
{
    char name[32];

    snprintf(name, sizeof name, "own%d", own_node());
    for (int i = 0; i < 3; i++) {
        make_file(name, 20000 + 1000 * own_node(), own_node() + 10 * i);
        expect_file(name, 20000 + 1000 * own_node(), own_node() + 10 * i);
    }
    check_equal(nsync(1), 0);
    for (int i = 0; i < node_count(); i++) {
        snprintf(name, sizeof name, "own%d", i);
        expect_file(name, 20000 + 1000 * i, i + 20);
    }
}

static void one_file(void)
{
    enum { PART = 5000 };
    int fd = open_file("shared", O_RDWR | O_CREAT), nodes = node_count();

    for (int i = 0; i < 4; i++) {
        check_equal(lseek(fd, (i * nodes + own_node()) * PART, SEEK_SET), (i * nodes + own_node()) * PART);
        write_pattern(fd, PART, i * nodes + own_node());
    }
    check_equal(nsync(1), 0);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    for (int i = 0; i < 4 * nodes; i++)
        expect_pattern(fd, PART, i);
    check_works(close(fd));
}

static void appended_records(void)
{
    enum { RECORD = 100, COUNT = 10 };
    int fd = open_file("log", O_WRONLY | O_CREAT | O_APPEND), total = COUNT * node_count();
    static int next[64];
    char record[RECORD];

    for (int i = 0; i < COUNT; i++) {
        memset(record, 'a' + own_node(), RECORD);
        record[0] = (char)i;
        check_equal(write(fd, record, RECORD), RECORD);
    }
    check_works(close(fd));
    check_equal(nsync(1), 0);
    check_equal(size_of("log"), total * RECORD);
    fd = open_file("log", O_RDONLY);
    for (int i = 0; i < total; i++) {
        check_equal(read(fd, record, RECORD), RECORD);
        int node = record[1] - 'a';
        check(node >= 0 && node < node_count() && record[0] == next[node]++, "record %d of node %d", record[0], node);
        for (int k = 1; k < RECORD; k++)
            check(record[k] == record[1], "record %d is mixed", i);
    }
    check_works(close(fd));
}

/* ---- Transfers under way ---- */

static void starts_and_ends(void)
{
    enum { PART = 3000, COUNT = 6 };
    static char buf[PART];
    int fd = open_file("async", O_RDWR | O_CREAT);

    check_equal(readend(fd, buf), -N_EINVAL);
    check_equal(writeend(fd), -N_EINVAL);
    for (int i = 0; i < COUNT; i++) {
        fill_pattern(buf, PART, i);
        check_equal(writestart(fd, buf, PART), 0);
        memset(buf, 0, PART);
    }
    for (int i = 0; i < COUNT; i++)
        check_equal(writeend(fd), PART);
    check_equal(writeend(fd), -N_EINVAL);
    check_equal(lseek(fd, 0, SEEK_CUR), PART * COUNT);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    for (int i = 0; i < COUNT; i++)
        check_equal(readstart(fd, PART), 0);
    for (int i = COUNT - 1; i >= 0; i--) { /* the most recent first [P0 section 3] */
        check_equal(readend(fd, buf), PART);
        check(find_wrong_byte(buf, PART, i) == PART, "part %d: wrong at %zu", i, find_wrong_byte(buf, PART, i));
    }
    check_equal(readend(fd, buf), -N_EINVAL);
    check_equal(readstart(fd, PART), 0);
    check_equal(readend(fd, buf), 0);
    check_equal(readstart(fd, -1), -N_EINVAL);
    check_equal(writestart(fd, NULL, 10), -N_EFAULT);
    check_equal(writestart(99, buf, 10), -N_EBADF);
    check_equal(readstart(99, 10), -N_EBADF);
    check_equal(readend(99, buf), -N_EBADF);
    check(ionode(fd) >= node_count(), "served by %d", ionode(fd));
    check_equal(readstart(fd, 10), 0); /* left under way */
    check_works(close(fd));
}

/* Starts that name their place, between starts that move the offset, on a file for appending. */
static void starts_at_places(void)
{
    enum { PART = 16384, COUNT = 4 };
    static char buf[PART];
    int fd = open_file("places", O_RDWR | O_CREAT);

    for (int i = COUNT - 1; i >= 0; i--) {
        fill_pattern(buf, PART, i);
        check_equal(pwritestart(fd, buf, PART, (off_t)i * PART), 0);
    }
    for (int i = 0; i < COUNT; i++)
        check_equal(writeend(fd), PART);
    check_equal(lseek(fd, 0, SEEK_CUR), 0);
    check_equal(preadstart(fd, PART, 0), 0);
    check_equal(readstart(fd, PART), 0);
    check_equal(preadstart(fd, PART, (off_t)PART * COUNT - 5), 0); /* comes short, but moves nothing */
    check_equal(preadstart(fd, PART, 1ll << 40), 0);
    check_equal(readend(fd, buf), 0);
    check_equal(readend(fd, buf), 5);
    for (int i = 0; i < 2; i++) {
        check_equal(readend(fd, buf), PART);
        check(find_wrong_byte(buf, PART, 0) == PART, "start %d: wrong at %zu", i, find_wrong_byte(buf, PART, 0));
    }
    check_equal(lseek(fd, 0, SEEK_CUR), PART);
    check_equal(preadstart(fd, PART, -1), -N_EINVAL);
    check_equal(pwritestart(fd, buf, 0, 0), -N_EINVAL);
    check_equal(pwritestart(fd, NULL, 10, 0), -N_EFAULT);
    check_equal(preadstart(99, 10, 0), -N_EBADF);
    check_equal(pwritestart(99, buf, 10, 0), -N_EBADF);
    check_works(close(fd));

    fd = open_file("places", O_RDWR | O_APPEND);
    fill_pattern(buf, PART, 7);
    check_equal(pwritestart(fd, buf, PART, PART), 0);
    check_equal(writeend(fd), PART);
    check_equal(lseek(fd, 0, SEEK_END), PART * COUNT);
    check_equal(pread(fd, buf, PART, PART), PART);
    check(find_wrong_byte(buf, PART, 7) == PART, "wrong at %zu", find_wrong_byte(buf, PART, 7));
    check_works(close(fd));
}

/* ---- Across runs ---- */

static void leaves_open(void)
{
    static char buf[30000];
    int fd = open_file("left", O_RDWR | O_CREAT);

    write_pattern(fd, 30000, 5);
    fill_pattern(buf, sizeof buf, 6);
    check_equal(writestart(fd, buf, sizeof buf), 0);
    open_file("left-empty", O_RDWR | O_CREAT);
}

static void finds_what_was_left(void)
{
    int fd = open_file("left", O_RDONLY);

    expect_pattern(fd, 30000, 5);
    expect_pattern(fd, 30000, 6);
    check_equal(size_of("left-empty"), 0);
}

/* Prints a line after each file that is on the drive; the power may fail at any time. */
static void syncs(void)
{
    char name[32];

    check_works(mkdir(name_of("synced"), 0755));
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "synced/%d", i);
        int fd = open_file(name, O_WRONLY | O_CREAT);
        write_pattern(fd, 100 + 997 * (i % 20), i);
        check_works(fsync(fd));
        check_works(close(fd));
        printf("%d\n", i);
        fflush(stdout);
        snprintf(name, sizeof name, "synced/unsynced%d", i % 3);
        make_file(name, 20000, i);
    }
}

/* The third argument is how many files must be there. */
static void finds_what_was_synced(void)
{
    char name[32];

    for (int i = 0; i < atoi(test_argv[1]); i++) {
        snprintf(name, sizeof name, "synced/%d", i);
        expect_file(name, 100 + 997 * (i % 20), i);
    }
}
