/*
 * Files of a striped volume through the calls of Unix. Arguments: case, prefix "//big/", and what the case wants.
 * The volume must be over df00, df01 ... with the map "cyclic BLOCK DISKS".
 */
#include <dirent.h>
#include <ntime.h>
#include <pio.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>

#include "check_files.h"
#include "check_messages.h"

#define FILE_BYTES 60000

static uint64_t state;
static char model[2 * FILE_BYTES], buf[2 * FILE_BYTES];
static long model_bytes; /* of the file that the model is of */

static uint64_t pick(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* ---- Like one file ---- */

static void fill(char *to, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = (char)pick(255) + 1;
}

static void put(int fd, long at, long n, int whole)
{
    fill(buf, n);
    if (whole) {
        check_equal(lseek(fd, at, SEEK_SET), at);
        check_equal(write(fd, buf, n), n);
        check_equal(lseek(fd, 0, SEEK_CUR), at + n);
    } else {
        check_equal(pwrite(fd, buf, n, at), n);
    }
    memcpy(model + at, buf, n);
    if (n > 0 && at + n > model_bytes)
        model_bytes = at + n;
}

static void get(int fd, long at, long n, int whole)
{
    long there = at >= model_bytes ? 0 : n < model_bytes - at ? n : model_bytes - at;

    memset(buf, 0x5a, n + 1);
    if (whole) {
        check_equal(lseek(fd, at, SEEK_SET), at);
        check_equal(read(fd, buf, n), there);
    } else {
        check_equal(pread(fd, buf, n, at), there);
    }
    check(memcmp(buf, model + at, there) == 0, "wrong bytes in %ld from %ld on", n, at);
    check(buf[n] == 0x5a, "too many bytes");
}

static void cut(int fd, long size)
{
    check_works(ftruncate(fd, size));
    if (size < model_bytes)
        memset(model + size, 0, model_bytes - size);
    model_bytes = size;
}

static void check_size(int fd)
{
    struct stat st;

    check_works(fstat(fd, &st));
    check_equal(st.st_size, model_bytes);
    check(S_ISREG(st.st_mode), "no file");
    check_works(stat(name_of("file"), &st));
    check_equal(st.st_size, model_bytes);
    check_equal(lseek(fd, 0, SEEK_END), model_bytes);
}

/* Random calls on two descriptors of one file, compared with a file in memory. Argument: the seed. */
static void is_like_one_file(void)
{
    state = strtoull(test_argv[1], NULL, 10);
    int fd = open(name_of("file"), O_RDWR | O_CREAT | O_TRUNC, 0644), copy = dup(fd);

    check(fd >= 0 && copy >= 0, "open: %s", strerror(errno));
    for (int i = 0; i < 60; i++) {
        int use = pick(2) ? fd : copy;
        long at = (long)pick(FILE_BYTES), n = (long)pick(pick(2) ? 3000 : FILE_BYTES);

        switch (pick(8)) {
        case 0:
            cut(use, at);
            break;
        case 1:
            check_size(use);
            break;
        case 2:
        case 3:
        case 4:
            put(use, at, n, (int)pick(2));
            break;
        default:
            get(use, at, n, (int)pick(2));
        }
    }
    get(fd, 0, 2 * FILE_BYTES - 1, 1);
    check_works(close(fd));
    get(copy, 0, 2 * FILE_BYTES - 1, 1);
    check_works(close(copy));
    check_works(unlink(name_of("file")));
    check_fails(open(name_of("file"), O_RDWR), ENOENT);
}

/* ---- libpio's own calls ---- */

/* Bytes and descriptions are those of a PIO file: each way writes what the other reads. Arguments: disks, block. */
/* As on one volume: pwrite appends nothing, and leaves the offset alone. */
static void appends(void)
{
    int fd = open(name_of("a"), O_RDWR | O_CREAT | O_APPEND, 0644);
    char got[8] = "";

    check_equal(write(fd, "abc", 3), 3);
    check_equal(lseek(fd, 1, SEEK_SET), 1);
    check_equal(pwrite(fd, "X", 1, 0), 1);
    check_equal(lseek(fd, 0, SEEK_CUR), 1);
    check_equal(pread(fd, got, 7, 2), 1);
    check_equal(lseek(fd, 0, SEEK_CUR), 1);
    check_fails(pwrite(fd, "X", 1, -1), EINVAL);
    check_equal(write(fd, "d", 1), 1);
    check_equal(close(fd), 0);
    expect_text_file(name_of("a"), "Xbcd");
}

/* The driver has a copy of libpio's code of its own; both take acknowledgements, whoever they are for. */
static void beside_libpio(void)
{
    enum { BYTES = 30000 };
    static char mine[BYTES], theirs[BYTES], out[BYTES];
    struct pio_layout layout = {.disks = 4, .block_size = 700};
    int fd = open(name_of("a"), O_RDWR | O_CREAT, 0644), file = pio_open_layout("/b", O_RDWR | O_CREAT, 0644, &layout);

    check(fd >= 0 && file >= 0, "open: %s", strerror(errno));
    fill_pattern(mine, BYTES, 1);
    fill_pattern(theirs, BYTES, 2);
    int id = pio_iwrite(file, mine, BYTES);
    check_equal(write(fd, theirs, BYTES), BYTES);
    check_equal(pio_iowait(id), BYTES);
    id = pio_ipread(file, mine, BYTES, 0);
    check_equal(pread(fd, theirs, BYTES, 0), BYTES);
    check_equal(pwrite(fd, theirs, BYTES, 0), BYTES);
    check_equal(pio_iowait(id), BYTES);
    check_equal(find_wrong_byte(mine, BYTES, 1), BYTES);
    check_equal(find_wrong_byte(theirs, BYTES, 2), BYTES);
    id = pio_ipwrite(file, mine, BYTES, 0);
    check_equal(pread(fd, out, BYTES, 0), BYTES);
    check_equal(find_wrong_byte(out, BYTES, 2), BYTES);
    check_equal(pio_iowait(id), BYTES);
    check_equal(close(fd), 0);
    check_equal(pio_pread(file, out, BYTES, 0), BYTES);
    check_equal(find_wrong_byte(out, BYTES, 1), BYTES);
    check_equal(pio_close(file), 0);
}

static void is_a_pio_file(void)
{
    const struct pio_layout layout = {.disks = atoi(test_argv[1]), .block_size = atoi(test_argv[2])};

    state = 5;
    fill(model, FILE_BYTES);
    int fd = open(name_of("unix"), O_WRONLY | O_CREAT | O_EXCL, 0644);
    check_equal(write(fd, model, FILE_BYTES), FILE_BYTES);
    check_works(close(fd));
    int pfd = pio_open_layout("/pio", O_WRONLY | O_CREAT | O_EXCL, 0644, &layout);
    check_equal(pio_write(pfd, model, FILE_BYTES), FILE_BYTES);
    check_works(pio_close(pfd));

    pfd = pio_open_layout("/unix", O_RDONLY, 0, &layout);
    check(pfd >= 0, "libpio does not open it: %s", strerror(errno));
    check_equal(pio_read(pfd, buf, sizeof buf), FILE_BYTES);
    check(memcmp(buf, model, FILE_BYTES) == 0, "libpio reads other bytes");
    check_works(pio_close(pfd));
    fd = open(name_of("pio"), O_RDONLY);
    check(fd >= 0, "a PIO file is not opened: %s", strerror(errno));
    check_equal(read(fd, buf, sizeof buf), FILE_BYTES);
    check(memcmp(buf, model, FILE_BYTES) == 0, "other bytes than libpio's");
    check_works(close(fd));
    /* A file whose blocks have another size than the machine file says now is what it is. */
    const struct pio_layout other = {.disks = layout.disks, .block_size = layout.block_size + 1};
    pfd = pio_open_layout("/other", O_WRONLY | O_CREAT, 0644, &other);
    check_equal(pio_write(pfd, model, FILE_BYTES), FILE_BYTES);
    check_works(pio_close(pfd));
    fd = open(name_of("other"), O_RDWR | O_CREAT, 0644);
    check(fd >= 0, "with other blocks: %s", strerror(errno));
    check_equal(read(fd, buf, sizeof buf), FILE_BYTES);
    check(memcmp(buf, model, FILE_BYTES) == 0, "other bytes with other blocks");
    check_works(close(fd));
}

/* ---- Names and descriptors ---- */

static int entries(const char *path, const char *sought)
{
    DIR *d = opendir(path);
    int n = 0;

    check(d, "opendir %.200s: %s", path, strerror(errno));
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        check(!strstr(e->d_name, ".pio"), "%s is listed", e->d_name);
        n += strcmp(e->d_name, sought) == 0;
    }
    check_works(closedir(d));
    return n;
}

static void has_names(void)
{
    struct stat st;

    check_works(mkdir(name_of("d"), 0755));
    check_fails(mkdir(name_of("d"), 0755), EEXIST);
    make_text_file(name_of("d/x"), "text");
    check_equal(entries(name_of("d"), "x"), 1);
    check_equal(entries(name_of(""), "d"), 1);
    check_equal(entries("//big", "d"), 1);
    check_fails(rmdir(name_of("d")), ENOTEMPTY);
    check_fails(opendir(name_of("d/x")) ? 0 : -1, ENOTDIR);
    check_fails(unlink(name_of("d")), EISDIR);
    check_fails(open(name_of("d"), O_WRONLY), EISDIR);
    check_fails(open(name_of("d"), O_RDONLY | O_CREAT, 0666), EISDIR);
    check_fails(open(name_of("none/x"), O_WRONLY | O_CREAT, 0666), ENOENT);
    check_fails(open(name_of("d/x"), O_WRONLY | O_CREAT | O_EXCL, 0666), EEXIST);
    check_fails(open(name_of("x.pio"), O_WRONLY | O_CREAT, 0666), EINVAL);
    check_fails(stat(name_of("d/y"), &st), ENOENT);
    check_fails(access(name_of("d/y"), F_OK), ENOENT);
    check_works(access(name_of("d/x"), R_OK | W_OK));
    check_works(chmod(name_of("d/x"), 0400));
    check_works(stat(name_of("d/x"), &st));
    check_equal(st.st_mode, S_IFREG | 0400);
    check_works(stat("//df01/d/x", &st));
    check_equal(st.st_mode, S_IFREG | 0400);
    check_works(stat(name_of("d"), &st));
    check(S_ISDIR(st.st_mode), "d is no folder");
    check_works(remove(name_of("d/x")));
    check_works(remove(name_of("d")));
    check_fails(remove(name_of("d")), ENOENT);
    check_equal(entries("//df00/", "d") + entries("//df01/", "d"), 0);
    check_fails(rename("//df00/", name_of("x")), EXDEV);
    make_text_file(name_of("a"), "new text");
    make_text_file(name_of("b"), "old text, which is longer");
    check_works(rename(name_of("a"), name_of("b")));
    expect_text_file(name_of("b"), "new text");
    check_fails(open(name_of("a"), O_RDONLY), ENOENT);
    check_works(mkdir(name_of("e"), 0755));
    check_works(mkdir(name_of("f"), 0755));
    check_works(rename(name_of("b"), name_of("e/b")));
    check_fails(rename(name_of("e/b"), name_of("f")), EISDIR);
    check_fails(rename(name_of("f"), name_of("e/b")), ENOTDIR);
    check_fails(rename(name_of("f"), name_of("e")), ENOTEMPTY);
    check_works(rename(name_of("e"), name_of("f")));
    expect_text_file(name_of("f/b"), "new text");
    check_fails(rename(name_of("f"), "//df00/x"), EXDEV);
    check_fails(rename(name_of("none"), name_of("x")), ENOENT);
}

/* The lowest free descriptor is given, as always: those of the parts are none of the program's. */
static void gives_the_lowest_descriptors(void)
{
    int fd = open(name_of("a"), O_RDWR | O_CREAT, 0644);

    check_equal(fd, 3);
    check_equal(open("//df00/plain", O_RDWR | O_CREAT, 0644), 4);
    check_equal(dup(fd), 5);
    check_works(close(0));
    check_equal(open(name_of("b"), O_RDWR | O_CREAT, 0644), 0);
    for (int i = 0; i < 6; i++)
        check_works(i == 1 || i == 2 ? 0 : close(i));
    check_equal(fcntl(255, F_GETFD), -1);
}

static void sums_the_volumes_up(void)
{
    struct statfs all, one;
    unsigned long blocks = 0, free = 0;
    int disks = atoi(test_argv[1]);

    check_works(statfs(name_of(""), &all));
    for (int k = 0; k < disks; k++) {
        char volume[20];

        snprintf(volume, sizeof volume, "//df%02d/", k);
        check_works(statfs(volume, &one));
        blocks += one.f_blocks;
        free += one.f_bfree;
    }
    check_equal(all.f_blocks, blocks);
    check_equal(all.f_bfree, free);
    check_equal(all.f_bsize, one.f_bsize);
}

/* ---- Many nodes ---- */

/* All nodes create the file at once, and each writes every n-th piece. */
static void is_shared(void)
{
    const long piece = 700, pieces = 40;
    int fd = open(name_of("shared"), O_RDWR | O_CREAT, 0644), n = node_count();

    check(fd >= 0, "open: %s", strerror(errno));
    for (long i = own_node(); i < pieces; i += n) {
        memset(buf, (int)i + 1, piece);
        check_equal(pwrite(fd, buf, piece, i * piece), piece);
    }
    check_equal(nsync(1), 0);
    check_equal(read(fd, buf, sizeof buf), pieces * piece);
    for (long i = 0; i < pieces * piece; i++)
        check(buf[i] == i / piece + 1, "byte %ld is %d", i, buf[i]);
    check_works(close(fd));
}

/* ---- Failures ---- */

/* Writes until the volumes are full. What was written is there, and the call behind it says why. */
static void fills_up(void)
{
    int fd = open(name_of("large"), O_RDWR | O_CREAT, 0644);
    long total = 0, got;

    state = 3;
    fill(buf, FILE_BYTES);
    while ((got = write(fd, buf, FILE_BYTES)) == FILE_BYTES)
        total += got;
    total += got > 0 ? got : 0;
    check_fails(write(fd, buf, FILE_BYTES), ENOSPC);
    struct stat st;
    check_works(fstat(fd, &st));
    check_equal(st.st_size, total);
    check_equal(lseek(fd, 0, SEEK_SET), 0);
    for (long at = 0; at < total; at += got) {
        got = read(fd, model, FILE_BYTES);
        check(got > 0 && memcmp(model, buf, got) == 0, "wrong bytes at %ld", at);
    }
    check_works(close(fd));
    check_works(unlink(name_of("large")));
}

/* The largest file of the first volume, which is like the others: the largest size that ftruncate takes. */
static long largest_part(void)
{
    int fd = open("//df00/probe", O_RDWR | O_CREAT, 0644);
    long fits = 0, beyond = 1l << 46;

    while (beyond - fits > 1) {
        long size = fits + (beyond - fits) / 2;

        if (ftruncate(fd, size) == 0) {
            fits = size;
        } else {
            check_equal(errno, EFBIG);
            beyond = size;
        }
    }
    check_works(close(fd));
    check_works(unlink("//df00/probe"));
    return fits;
}

/* A write across the largest offset writes what fits, and returns that. Arguments: the blocks' bytes, volumes. */
static void ends_at_the_largest_offset(void)
{
    long block = atol(test_argv[1]), volumes = atol(test_argv[2]), part = largest_part();
    long end = part / block * block * volumes + part % block, n = 2 * block * volumes + 77,
         before = block * volumes + 5;
    int fd = open(name_of("far"), O_RDWR | O_CREAT, 0644);
    struct stat st;

    check(fd >= 0 && part % block > 0, "open: %s; %ld", strerror(errno), part);
    fill_pattern(buf, (size_t)n, 1);
    check_equal(pwrite(fd, buf, (size_t)n, end - before), before);
    check_works(fstat(fd, &st));
    check_equal(st.st_size, end);
    check_fails(pwrite(fd, buf, 1, end), EFBIG);
    check_equal(lseek(fd, end - 1, SEEK_SET), end - 1);
    check_equal(write(fd, buf + before - 1, 2), 1);
    check_fails(write(fd, buf, 1), EFBIG);
    check_works(fstat(fd, &st));
    check_equal(st.st_size, end);
    memset(model, 0, (size_t)n);
    check_equal(pread(fd, model, (size_t)n, end - before), before);
    check_equal(find_wrong_byte(model, before, 1), before);
    check_works(close(fd));
    check_works(unlink(name_of("far")));
}

/* A volume is read-only, as its file system has errors: each call that changes names fails, and changes nothing. */
static void is_read_only(void)
{
    struct stat st;

    check_fails(open(name_of("new"), O_WRONLY | O_CREAT, 0644), EROFS);
    check_fails(open(name_of("new"), O_WRONLY | O_CREAT | O_EXCL, 0644), EROFS);
    check_fails(unlink(name_of("file")), EROFS);
    check_fails(rename(name_of("file"), name_of("new")), EROFS);
    check_fails(rename(name_of("file"), name_of("other")), EROFS);
    check_fails(mkdir(name_of("new"), 0755), EROFS);
    check_fails(rmdir(name_of("empty")), EROFS);
    check_fails(rename(name_of("full"), name_of("new")), EROFS);
    check_fails(rename(name_of("full"), name_of("empty")), EROFS);
    check_fails(stat(name_of("new"), &st), ENOENT);
    check_equal(entries(name_of(""), "new"), 0);
    expect_text_file(name_of("file"), "text");
    expect_text_file(name_of("other"), "another text");
    expect_text_file(name_of("full/file"), "in a folder");
    check_equal(entries(name_of("empty"), "file"), 0);
}

static void makes_some_names(void)
{
    make_text_file(name_of("file"), "text");
    make_text_file(name_of("other"), "another text");
    check_works(mkdir(name_of("empty"), 0755));
    check_works(mkdir(name_of("full"), 0755));
    make_text_file(name_of("full/file"), "in a folder");
}

/* One drive dies while the file is written: calls fail, and a file of another volume is still served. */
static void has_a_dead_drive(void)
{
    int fd = open(name_of("x"), O_RDWR | O_CREAT, 0644), calls = 0;

    check(fd >= 0, "open: %s", strerror(errno));
    while (calls++ < 1000 && write(fd, buf, 1000) == 1000)
        ;
    check_fails(write(fd, buf, 4000), EIO);
    check_fails(open(name_of("y"), O_RDWR | O_CREAT, 0644), EIO);
    make_text_file("//df00/plain", "still here");
    expect_text_file("//df00/plain", "still here");
}

/* ---- Locks ---- */

static void take_the_lock(void)
{
    check(open("//df00/", O_ACCMODE, 0) >= 0, "no lock: %s", strerror(errno)); /* N_O_LOCK */
}

/* The lock is a child's, which is killed half a second later. */
static void hold_it_as_a_child(void)
{
    pid_t child = fork();

    if (child == 0) {
        take_the_lock();
        for (;;)
            pause();
    }
    sleep(1);
    check_equal(nsync(3), 0);
    usleep(500000);
    check_works(kill(child, SIGKILL));
    check_equal(wait(NULL), child);
}

/* Takes the lock of all names, and ends with it, or waits until it is cut off. */
static void hold_it(const char *until)
{
    if (strcmp(until, "killed") == 0) {
        hold_it_as_a_child();
        return;
    }
    take_the_lock();
    check_equal(nsync(3), 0);
    usleep(500000);
    while (strcmp(until, "cut off") == 0)
        sleep(1);
}

/* The last node has a lock for which the others wait; where they are to fail, node 1 first keeps the server busy for
 * four seconds. Arguments: what the others' mkdir is to give, as a number, and what becomes of the one that has the
 * lock. */
static void wait_for_a_lock(void)
{
    int error = atoi(test_argv[1]), last = node_count() - 1;
    char folder[8];

    if (own_node() == last) {
        hold_it(test_argv[2]);
        return;
    }
    if (own_node() == 1)
        make_text_file("//df00/plain", "x");
    check_equal(nsync(3), 0);
    const double from = amicclk();
    while (own_node() == 1 && error && amicclk() - from < 4e6)
        expect_text_file("//df00/plain", "x");
    snprintf(folder, sizeof folder, "d%d", own_node());
    check_equal(mkdir(name_of(folder), 0755) == 0 ? 0 : errno, error);
    double waited_us = amicclk() - from;
    check(waited_us > 0.4e6 && waited_us < 9e6, "waited for %.0f us", waited_us);
}

/* A program that a program loads knows the striped volumes, too. Argument: the program's path. */
static void loads_another(void)
{
    make_text_file(name_of("left"), "for the next");
    execl(test_argv[1], "striped", "finds", test_argv[0], NULL);
    check(0, "execl: %s", strerror(errno));
}

static void finds(void)
{
    expect_text_file(name_of("left"), "for the next");
}

/* On a machine without striped volumes. */
static void is_unknown(void)
{
    struct stat st;

    check_fails(open(name_of("x"), O_RDONLY), ENOENT);
    check_fails(open(name_of("x"), O_WRONLY | O_CREAT, 0644), ENOENT);
    check_fails(stat(name_of("x"), &st), ENOENT);
    check_fails(mkdir(name_of("x"), 0755), ENOENT);
}

static const struct test_case cases[] = {
    {"like one file", is_like_one_file},
    {"appends", appends},
    {"beside libpio", beside_libpio},
    {"PIO file", is_a_pio_file},
    {"names", has_names},
    {"lowest descriptors", gives_the_lowest_descriptors},
    {"sum of volumes", sums_the_volumes_up},
    {"shared", is_shared},
    {"full", fills_up},
    {"dead drive", has_a_dead_drive},
    {"largest offset", ends_at_the_largest_offset},
    {"some names", makes_some_names},
    {"read-only", is_read_only},
    {"lock", wait_for_a_lock},
    {"loads another", loads_another},
    {"finds", finds},
    {"unknown", is_unknown},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
