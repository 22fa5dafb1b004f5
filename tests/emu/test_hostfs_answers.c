/* What programs are told of the host's files is the same on every host, in every run. */
#include "tests/emu/served.h"

#include <criterion/criterion.h>

HOSTFS_SUITE;

/* ---- Answers that must not depend on the host ---- */

struct step {
    const char *how;
    struct ask ask; /* sfid 1: that of the last open */
};

static const struct file_attr set_mode = {.what = FILE_ATTR_MODE, .mode = 0600};
static const struct file_attr set_times = {
    .what = FILE_ATTR_ATIME | FILE_ATTR_MTIME, .atime_s = 8, .mtime_s = 1ll << 33};

#define MAKES (N_O_RDWR | N_O_CREAT)

/* Each request that describes something, before and after each that changes something. */
static const struct step steps[] = {
    {"stat", {N_FSTATNAME, .name = "old"}},
    {"stat of the root", {N_FSTATNAME, .name = "/"}},
    {"stat of a folder", {N_FSTATNAME, .name = "sub"}},
    {"lstat", {N_FSTATNAME, .name = "link", .flags = N_O_NOFOLLOW}},
    {"open", {N_FOPEN, .name = "old", .flags = N_O_RDWR}},
    {"fstat", {N_FSTAT, .sfid = 1}},
    {"write nothing", {N_FWRITE, .sfid = 1, .data = ""}},
    {"fstat after nothing", {N_FSTAT, .sfid = 1}},
    {"write", {N_FWRITE, .sfid = 1, .data = "x", .bytes = 1}},
    {"fstat after a write", {N_FSTAT, .sfid = 1}},
    {"open to cut", {N_FOPEN, .name = "cut", .flags = N_O_RDWR | N_O_TRUNC}},
    {"open to truncate", {N_FOPEN, .name = "cut2", .flags = N_O_RDWR}},
    {"truncate", {N_FTRUNCATE, .sfid = 1, .offset = 2}},
    {"fstat after truncate", {N_FSTAT, .sfid = 1}},
    {"open to make", {N_FOPEN, .name = "made", .flags = MAKES, .mode = 0666}},
    {"open a dangling link", {N_FOPEN, .name = "dangling", .flags = MAKES, .mode = 0640}},
    {"unlink", {N_FUNLINK, .name = "made"}},
    {"make another", {N_FOPEN, .name = "made2", .flags = MAKES, .mode = 0777}},
    {"mkdir", {N_FMKDIR, .name = "sub/d", .mode = 0777}},
    {"stat of a made folder", {N_FSTATNAME, .name = "sub/d"}},
    {"symlink", {N_FSYMLINK, .name = "sub/l", .data = "old", .bytes = 3}},
    {"lstat of a made link", {N_FSTATNAME, .name = "sub/l", .flags = N_O_NOFOLLOW}},
    {"link", {N_FLINK, .name = "old", .name2 = "sub/old"}},
    {"stat of two names", {N_FSTATNAME, .name = "sub/old"}},
    {"rename", {N_FRENAME, .name = "sub/old", .name2 = "sub/new"}},
    {"chmod", {N_FSETATTRNAME, .name = "cut", .data = &set_mode, .bytes = sizeof set_mode}},
    {"stat after chmod", {N_FSTATNAME, .name = "cut"}},
    {"utime", {N_FSETATTRNAME, .name = "cut", .data = &set_times, .bytes = sizeof set_times}},
    {"stat after utime", {N_FSTATNAME, .name = "cut"}},
    {"access: read", {N_FACCESS, .name = "none_may", .mode = 4}},
    {"access: write", {N_FACCESS, .name = "all_read", .mode = 2}},
    {"access: execute", {N_FACCESS, .name = "sub", .mode = 1}},
    {"open the root", {N_FOPEN, .name = "."}},
    {"readdir", {N_FREADDIR, .sfid = 1, .bytes = 4096}},
    {"open a folder", {N_FOPEN, .name = "sub"}},
    {"readdir below", {N_FREADDIR, .sfid = 1, .bytes = 4096}},
    {"statfs", {.type = N_FSTATFS}},
    {"open in /tmp", {N_FOPEN, .name = "/tmp/f", .flags = MAKES, .mode = 0666}},
    {"fstat in /tmp", {N_FSTAT, .sfid = 1}},
    {"stat of /tmp", {N_FSTATNAME, .name = "/tmp"}},
    {"access in /tmp", {N_FACCESS, .name = "/tmp/f", .mode = 1}},
};

#define STEPS (sizeof steps / sizeof *steps)

struct answer {
    int32_t status;
    size_t bytes;
    uint8_t payload[4096];
};

static void set_old_times(const char *name)
{
    static const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};

    cr_assert_eq(utimensat(AT_FDCWD, scratch_path(&dir, name), times, AT_SYMLINK_NOFOLLOW), 0);
}

static void make_input(const char *name, mode_t mode)
{
    scratch_write(&dir, name, name, strlen(name));
    cr_assert_eq(chmod(scratch_path(&dir, name), mode), 0);
    set_old_times(name);
}

/* Serves the same files from a folder of `base` to a user with that umask, and records the answers to the steps. */
static void take_answers(const char *base, mode_t mask, struct answer *answer)
{
    static const char *const names[] = {"old", "cut", "cut2"};
    struct scratch first = dir;
    uint64_t last = 0;

    snprintf(dir.path, sizeof dir.path, "%s/ncube-test-XXXXXX", base);
    cr_assert_not_null(mkdtemp(dir.path));
    for (int i = 0; i < 3; i++) /* in another order on the other host */
        make_input(names[mask == 0 ? i : 2 - i], 0644);
    make_input("none_may", 0);
    make_input("all_read", 0444);
    cr_assert_eq(mkdir(scratch_path(&dir, "sub"), 0755), 0);
    cr_assert_eq(symlink("old", scratch_path(&dir, "link")), 0);
    set_old_times("link");
    cr_assert_eq(symlink("sub/made", scratch_path(&dir, "dangling")), 0);
    umask(mask);
    hostfs_free(host);
    start_serving(dir.path);
    for (size_t i = 0; i < STEPS; i++) {
        struct ask a = steps[i].ask;

        a.sfid = a.sfid ? last : 0;
        answer[i].status = ask(a);
        answer[i].bytes = payload_bytes;
        cr_assert_leq(payload_bytes, sizeof answer[i].payload);
        memcpy(answer[i].payload, payload, payload_bytes);
        if (a.type == N_FOPEN && head.status == 0)
            memcpy(&last, payload, sizeof last);
    }
    umask(022);
    scratch_remove(&dir);
    dir = first;
}

Test(hostfs, every_byte_of_every_reply_is_the_same_on_all_hosts)
{
    static struct answer one[STEPS], other[STEPS];

    take_answers("/tmp", 0, one);
    take_answers("/dev/shm", 077, other);
    for (size_t i = 0; i < STEPS; i++) {
        bool fails = strstr(steps[i].how, "access: read") || strstr(steps[i].how, "access: write") ||
                     strcmp(steps[i].how, "access in /tmp") == 0;

        cr_expect_eq(one[i].status < 0, fails, "%s: %d", steps[i].how, one[i].status);
        cr_expect_eq(one[i].status, other[i].status, "%s: %d and %d", steps[i].how, one[i].status, other[i].status);
        cr_expect_eq(one[i].bytes, other[i].bytes, "%s: %zu and %zu bytes", steps[i].how, one[i].bytes, other[i].bytes);
        for (size_t at = 0; at < one[i].bytes; at++)
            if (one[i].payload[at] != other[i].payload[at]) {
                cr_expect(false, "%s: byte %zu of the reply differs", steps[i].how, at);
                break;
            }
    }
}

/* The answers must be equal for any two file systems of the testing host. */
Test(hostfs, a_description_has_nothing_of_the_hosts_file_system)
{
    static const mode_t types[] = {S_IFREG, S_IFDIR, S_IFLNK};

    for (size_t i = 0; i < 3; i++) {
        struct stat st[2] = {
            {.st_mode = types[i] | 0644, .st_nlink = types[i] == S_IFDIR ? 7 : 1, .st_size = 4096},
            {.st_mode = types[i] | 0644 | S_ISGID,
             .st_nlink = types[i] == S_IFDIR ? 2 : 1,
             .st_size = types[i] == S_IFDIR ? 60 : 4096,
             .st_dev = 9,
             .st_ino = 9,
             .st_uid = 9,
             .st_gid = 9,
             .st_blksize = 1 << 20,
             .st_blocks = 9,
             .st_atim = {.tv_sec = 9},
             .st_ctim = {.tv_sec = 9}},
        };
        struct file_stat out[2];

        for (int which = 0; which < 2; which++) {
            struct seen seen = {0};

            seen_start(&seen);
            cr_assert(seen_reserve(&seen));
            seen_describe(&seen, &st[which], &out[which]);
            seen_free(&seen);
        }
        cr_expect_eq(memcmp(&out[0], &out[1], sizeof out[0]), 0, "type %o", types[i]);
        cr_expect_eq(out[1].block_bytes, 4096);
    }
}

/* Files are stamped by a coarse clock, and the machine starts at once. */
Test(hostfs, a_file_written_just_before_the_start_has_its_time_and_one_made_after_it_has_none)
{
    for (int i = 0; i < 200; i++) {
        struct stat before;
        struct file_stat st;
        uint64_t f;

        unlink(scratch_path(&dir, "in/made"));
        scratch_write(&dir, "in/file", "hello", 5);
        hostfs_free(host);
        start_serving(scratch_path(&dir, "in"));
        cr_assert_eq(stat(scratch_path(&dir, "in/file"), &before), 0);
        cr_assert_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
        memcpy(&st, payload, sizeof st);
        cr_assert_eq(st.mtime_s, before.st_mtime, "run %d: %ld", i, (long)st.mtime_s);
        f = open_name("made", MAKES);
        cr_assert_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
        memcpy(&st, payload, sizeof st);
        cr_assert_eq(st.mtime_s, 0, "run %d: %ld", i, (long)st.mtime_s);
    }
}

/* Hosts give the inodes of removed files to new ones, some at once and some never. */
Test(hostfs, a_made_file_has_a_number_that_no_other_had)
{
    uint64_t before = 0;

    for (int i = 0; i < 100; i++) {
        uint64_t f = open_name("made", MAKES | N_O_EXCL);

        cr_assert_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
        uint64_t ino = ((const struct file_stat *)payload)->ino;
        cr_expect_eq(ino, before ? before + 1 : 16, "file %d: %lu", i, (unsigned long)ino);
        before = ino;
        cr_assert_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
        cr_assert_eq(ask((struct ask){N_FUNLINK, .name = "made"}), 0);
    }
}
