/* Requests for the host's files, as nodes send them: what they do, what a program sees, and that no name leads out. */
#define _GNU_SOURCE /* posix_openpt */
#include "emu/hostfs/hostfs_calls.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "emu/hostfs/hostfiles.h"
#include "emu/hostfs/openfiles.h"
#include "emu/hostfs/seen.h"
#include "emu/hostfs/tmpfiles.h"
#include "scratch.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

/*
 * The scratch folder contains files outside the served folder, which is its folder "in":
 *
 *    secret           in/file  "hello"            in/sub/deep "deep"
 *    outside/         in/good -> sub/deep         in/bad -> ../secret       in/abs -> (scratch)/secret
 *                     in/up -> ..                 in/subin -> sub           in/fifo
 */
static struct scratch dir;
static struct streams streams;
static struct lines lines;
static struct hostfs *host;
static int in_end, out_end;

static void make_tree(void)
{
    scratch_make(&dir);
    scratch_write(&dir, "secret", "secret", 6);
    cr_assert_eq(mkdir(scratch_path(&dir, "outside"), 0755), 0);
    cr_assert_eq(mkdir(scratch_path(&dir, "in"), 0755), 0);
    cr_assert_eq(mkdir(scratch_path(&dir, "in/sub"), 0755), 0);
    scratch_write(&dir, "in/file", "hello", 5);
    scratch_write(&dir, "in/sub/deep", "deep", 4);
    cr_assert_eq(symlink("sub/deep", scratch_path(&dir, "in/good")), 0);
    cr_assert_eq(symlink("../secret", scratch_path(&dir, "in/bad")), 0);
    cr_assert_eq(symlink(scratch_path(&dir, "secret"), scratch_path(&dir, "in/abs")), 0);
    cr_assert_eq(symlink("..", scratch_path(&dir, "in/up")), 0);
    cr_assert_eq(symlink("sub", scratch_path(&dir, "in/subin")), 0);
    cr_assert_eq(mkfifo(scratch_path(&dir, "in/fifo"), 0666), 0);
}

static void start_serving(const char *folder)
{
    char error[200];

    cr_assert_eq(hostfs_new(&host, folder, &lines, error, sizeof error), 0, "%s", error);
}

static unsigned descriptors; /* open before the server was made */

static void set_up(void)
{
    int in[2], out[2];

    signal(SIGPIPE, SIG_IGN);
    make_tree();
    cr_assert_eq(pipe(in), 0);
    cr_assert_eq(pipe(out), 0);
    in_end = in[1];
    out_end = out[0];
    cr_assert_eq(streams_init(&streams, in[0], out[1], out[1], NULL, NULL), 0);
    cr_assert_eq(lines_init(&lines, &streams, 0, 1, false), 0);
    descriptors = count_descriptors();
    start_serving(scratch_path(&dir, "in"));
}

static void tear_down(void)
{
    hostfs_free(host);
    streams_free(&streams);
    scratch_remove(&dir);
}

/* Called at the end of a test: Criterion does not count what fails in a suite's fini. */
static void expect_all_closed(void)
{
    hostfs_free(host);
    host = NULL;
    cr_expect_eq(count_descriptors(), descriptors, "%d descriptors stay open",
                 (int)(count_descriptors() - descriptors));
}

TestSuite(hostfs, .init = set_up, .fini = tear_down);

/* ---- Asking ---- */

struct ask {
    uint32_t type;
    const char *name, *name2;
    uint32_t flags, mode, bytes;
    uint64_t sfid, offset;
    const void *data; /* `bytes` of it */
    uint32_t node, procid;
    uint16_t drive;
};

static struct file_reply head; /* of the last reply, and its payload */
static const uint8_t *payload;
static size_t payload_bytes;

static int32_t take_reply(const void *reply, size_t n)
{
    cr_assert_geq(n, sizeof head);
    memcpy(&head, reply, sizeof head);
    payload = (const uint8_t *)reply + sizeof head;
    payload_bytes = n - sizeof head;
    return head.status;
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t n)
{
    memcpy(to, bytes, n);
    return to + n;
}

static int32_t ask(struct ask a)
{
    static uint8_t message[sizeof(struct file_request) + 2 * FILE_NAME_MAX_BYTES + FILE_IO_MAX_BYTES];
    static uint32_t seq;
    const void *reply;
    const struct file_request r = {
        .seq = ++seq,
        .drive = a.drive,
        .flags = a.flags,
        .mode = a.mode,
        .sfid = a.sfid,
        .offset = a.offset,
        .bytes = a.bytes,
        .name_bytes = a.name ? strlen(a.name) : 0,
        .name2_bytes = a.name2 ? strlen(a.name2) : 0,
    };
    uint8_t *end = message;

    end = put(end, &r, sizeof r);
    end = put(end, a.name ? a.name : "", r.name_bytes);
    end = put(end, a.name2 ? a.name2 : "", r.name2_bytes);
    if (a.data)
        end = put(end, a.data, a.bytes);
    int32_t status = take_reply(reply, hostfs_request(host, a.node, a.procid, a.type, message, end - message, &reply));
    cr_assert_eq(head.seq, seq, "the sequence number comes back");
    return status;
}

/* The SFID of a name opened by node 0, process 0. */
static uint64_t open_name(const char *name, uint32_t flags)
{
    struct file_opened opened;

    cr_assert_eq(ask((struct ask){N_FOPEN, .name = name, .flags = flags, .mode = 0644}), 0, "%s", name);
    cr_assert_eq(payload_bytes, sizeof opened);
    memcpy(&opened, payload, sizeof opened);
    return opened.sfid;
}

static bool exists(const char *name)
{
    struct stat st;

    return lstat(scratch_path(&dir, name), &st) == 0;
}

/* ---- Files ---- */

Test(hostfs, a_file_is_made_written_read_and_measured)
{
    struct file_stat st;
    uint64_t f = open_name("new", N_O_RDWR | N_O_CREAT | N_O_EXCL);

    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "abcdef", .bytes = 6}), 6);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "XY", .bytes = 2, .offset = 2}), 2);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "gh", .bytes = 2, .flags = N_O_APPEND}), 2);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 100, .offset = 1}), 7);
    cr_expect_eq(payload_bytes, 7);
    cr_expect_eq(memcmp(payload, "bXYefgh", 7), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 100, .offset = 8}), 0, "at the end");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 100, .offset = 800}), 0, "beyond the end");

    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
    cr_assert_eq(payload_bytes, sizeof st);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.size_bytes, 8);
    cr_expect_eq(st.blocks_512, 1);
    cr_expect_eq(st.dev, NODE_HOST << 8);
    cr_expect(S_ISREG(st.mode));

    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 3}), 0);
    cr_expect_eq(ask((struct ask){N_FSYNC, .sfid = f}), 0);
    cr_expect_eq(ask((struct ask){N_FVIEW, .sfid = f, .data = "a view", .bytes = 6}), -N_ENOTSUP);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "new"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.size_bytes, 3);
    cr_expect_eq(host->files.used, 0);
    expect_all_closed();
}

Test(hostfs, the_longest_read_and_write_go_through)
{
    uint8_t *data = malloc(FILE_IO_MAX_BYTES);
    uint64_t f = open_name("big", N_O_RDWR | N_O_CREAT);

    for (size_t i = 0; i < FILE_IO_MAX_BYTES; i++)
        data[i] = i * 7 % 253;
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = data, .bytes = FILE_IO_MAX_BYTES}), FILE_IO_MAX_BYTES);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = FILE_IO_MAX_BYTES}), FILE_IO_MAX_BYTES);
    cr_expect_eq(memcmp(payload, data, FILE_IO_MAX_BYTES), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = FILE_IO_MAX_BYTES + 1}), -N_EPROTO);
    free(data);
}

/* At one size on all hosts, though this one may hold less. */
Test(hostfs, the_largest_file_ends_at_the_same_byte_everywhere)
{
    uint64_t f = open_name("new", N_O_RDWR | N_O_CREAT);
    int32_t put =
        ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4, .offset = HOSTFS_FILE_MAX_BYTES - 3});

    cr_expect(put == 3 || put == -N_EFBIG, "%d", put);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "x", .bytes = 1, .offset = HOSTFS_FILE_MAX_BYTES}),
                 -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "x", .bytes = 1, .offset = INT64_MAX}), -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .offset = INT64_MAX}), 0);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = INT64_MAX}), -N_EFBIG);
}

/* N_FTRUNCATE with a number of bytes. */
Test(hostfs, a_file_is_cut_only_from_the_size_that_the_client_names)
{
    uint64_t f = open_name("new", N_O_RDWR | N_O_CREAT), reader = open_name("new", N_O_RDONLY);

    cr_assert_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "0123456789", .bytes = 10}), 10);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 4, .bytes = 5}), -N_EAGAIN, "from 9 bytes");
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = reader, .offset = 4, .bytes = 6}), -N_EINVAL, "only read");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 20}), 10);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 4, .bytes = 6}), 0, "from 10 bytes");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 20}), 4);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 0, .bytes = 10}), -N_EAGAIN, "it has been cut");
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = reader}), 0);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
}

Test(hostfs, open_flags_mean_what_they_say)
{
    static const struct {
        const char *name;
        const char *file;
        uint32_t flags;
        int32_t expected;
    } cases[] = {
        {"missing", "none", N_O_RDONLY, -N_ENOENT},
        {"exclusive, but there", "file", N_O_WRONLY | N_O_CREAT | N_O_EXCL, -N_EEXIST},
        {"a folder to write", "sub", N_O_WRONLY, -N_EISDIR},
        {"a folder to read", "sub", N_O_RDONLY, 0},
        {"a folder wanted", "sub", N_O_DIRECTORY, 0},
        {"a folder wanted, a file found", "file", N_O_DIRECTORY, -N_ENOTDIR},
        {"a file as a folder", "file/x", N_O_RDONLY, -N_ENOTDIR},
        {"access mode 3", "file", N_O_ACCMODE, -N_EINVAL},
        {"cut, but only read", "file", N_O_RDONLY | N_O_TRUNC, -N_EINVAL},
        {"an unknown flag", "file", 0x10000000, -N_EINVAL},
        {"a folder made by open", "newdir", N_O_CREAT | N_O_DIRECTORY, -N_EINVAL},
        {"appending", "file", N_O_WRONLY | N_O_APPEND, 0},
        {"cut", "file", N_O_WRONLY | N_O_TRUNC, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = cases[i].file, .flags = cases[i].flags, .mode = 0600}),
                     cases[i].expected, "%s: %d", cases[i].name, head.status);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    cr_expect_eq(((const struct file_stat *)payload)->size_bytes, 0, "it was cut");
    cr_expect_not(exists("in/newdir"));
    expect_all_closed();
}

Test(hostfs, access_follows_the_way_a_file_was_opened)
{
    uint64_t r = open_name("file", N_O_RDONLY), w = open_name("file", N_O_WRONLY), d = open_name("sub", 0);

    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = r, .data = "x", .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = w, .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = d, .bytes = 1}), -N_EISDIR);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = r, .bytes = 100}), -N_ENOTDIR);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = r, .bytes = 1, .offset = UINT64_MAX}), -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, no_time_from_after_the_start_of_the_machine_is_told)
{
    static const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
    struct file_stat st;

    cr_assert_eq(utimensat(AT_FDCWD, scratch_path(&dir, "in/file"), old, 0), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.mtime_s, 2000, "input keeps its time");
    cr_expect_eq(st.atime_s, 2000);

    static const struct timespec late[2] = {{.tv_sec = 1ll << 33}, {.tv_sec = 1ll << 33}};
    cr_assert_eq(utimensat(AT_FDCWD, scratch_path(&dir, "in/file"), late, 0), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.mtime_s, 0);
    cr_expect_eq(st.atime_s, 0);
}

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

/* ---- Containment ---- */

/* The folder is the root of all names, and its own parent. Files outside do not exist. */
Test(hostfs, no_name_leads_out_of_the_folder)
{
    const struct {
        const char *how;
        const char *name;
    } names[] = {
        {"parent", "../secret"},
        {"parent within", "sub/../../secret"},
        {"deep parent", "sub/../../in/../secret"},
        {"link out", "bad"},
        {"absolute link", "abs"},
        {"through a link up", "up/secret"},
        {"absolute", "/etc/passwd"},
        {"procfs", "/proc/self/fd/0"},
        {"absolute parent", "/../secret"},
        {"the folder by its host name", scratch_path(&dir, "in/file")},
        {"a folder outside", "../outside"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *how = names[i].how, *name = names[i].name;
        static const uint32_t types[] = {N_FOPEN, N_FSTATNAME, N_FACCESS, N_FSETATTRNAME};
        const struct file_attr attr = {.what = FILE_ATTR_MODE, .mode = 0777};

        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            bool sets = types[t] == N_FSETATTRNAME;
            struct ask a = {types[t], .name = name, .data = sets ? &attr : NULL, .bytes = sets ? sizeof attr : 0};

            cr_expect_eq(ask(a), -N_ENOENT, "0x%x, %s: %d", types[t], how, head.status);
        }
    }
    expect_all_closed();
}

Test(hostfs, above_the_root_is_the_root)
{
    static const char *const names[] = {"/", "//", ".", "..", "/..", "up", "up/up", "sub/../..", "/../..", "up/.."};
    struct file_stat st;
    uint64_t root_ino;

    cr_assert_eq(ask((struct ask){N_FSTATNAME, .name = "sub/.."}), 0);
    root_ino = ((const struct file_stat *)payload)->ino;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = names[i]}), 0, "%s: %d", names[i], head.status);
        memcpy(&st, payload, sizeof st);
        cr_expect(S_ISDIR(st.mode) && st.ino == root_ino, "%s", names[i]);
        cr_expect_eq(ask((struct ask){N_FRMDIR, .name = names[i]}),
                     !strcmp(names[i], "up")      ? -N_ENOTDIR
                     : !strcmp(names[i], "up/up") ? -N_ENOTDIR
                     : !strcmp(names[i], ".")     ? -N_EINVAL
                                                  : -N_EBUSY,
                     "rmdir %s: %d", names[i], head.status);
    }
}

Test(hostfs, what_is_made_is_inside)
{
    static const struct {
        const char *name, *where;
    } names[] = {{"../new", "new"},
                 {"up/new", "new"},
                 {"/new", "new"},
                 {"sub/../../new", "new"},
                 {"/sub/../../sub/new", "sub/new"},
                 {"up/sub/new", "sub/new"},
                 {"/subin/new", "sub/new"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i].name;
        char inside[60];

        snprintf(inside, sizeof inside, "in/%s", names[i].where);
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = name, .flags = N_O_CREAT | N_O_RDWR, .mode = 0644}), 0);
        cr_expect(exists(inside), "%s", name);
        cr_expect_eq(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FMKDIR, .name = name, .mode = 0755}), 0, "%s", name);
        cr_expect(exists(inside), "%s", name);
        cr_expect_eq(ask((struct ask){N_FRMDIR, .name = name}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FLINK, .name = "file", .name2 = name}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FRENAME, .name = name, .name2 = "file"}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s: a rename to another link does nothing", name);
        cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = name, .data = "text", .bytes = 4}), 0, "%s", name);
        cr_expect_eq(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s", name);
        cr_expect_not(exists(inside), "%s", name);
        cr_expect_not(exists("new"), "%s", name);
    }
    cr_expect(exists("outside"));
    cr_expect(exists("in/file"));
    cr_expect(exists("secret"));
    expect_all_closed();
}

Test(hostfs, symbolic_links_are_made_read_and_begin_at_the_root)
{
    char text[20];

    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "sub/s", .data = "/sub/deep", .bytes = 9}), 0);
    cr_expect_eq(readlink(scratch_path(&dir, "in/sub/s"), text, sizeof text), 9);
    uint64_t f = open_name("sub/s", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 10}), 4, "an absolute link begins at the root");
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "sub/s", .bytes = 100}), 9);
    cr_expect_eq(memcmp(payload, "/sub/deep", 9), 0);
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "sub/s", .bytes = 4}), 4);
    cr_expect_eq(payload_bytes, 4);
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "file", .bytes = 100}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FREADLINK, .name = "none", .bytes = 100}), -N_ENOENT);
    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "sub/s", .data = "x", .bytes = 1}), -N_EEXIST);
    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "t/", .data = "x", .bytes = 1}), -N_ENOENT);
    cr_expect_eq(ask((struct ask){N_FSYMLINK, .name = "t", .data = "x\0y", .bytes = 3}), -N_EPROTO);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "good"}), 0);
    cr_expect(S_ISREG(((const struct file_stat *)payload)->mode));
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "good", .flags = N_O_NOFOLLOW}), 0);
    cr_expect(S_ISLNK(((const struct file_stat *)payload)->mode));
    expect_all_closed();
}

Test(hostfs, attributes_are_set_of_files_and_of_names)
{
    static const struct {
        const char *how;
        struct file_attr attr;
        int32_t expected;
    } cases[] = {
        {"mode", {.what = FILE_ATTR_MODE, .mode = 0640}, 0},
        {"times", {.what = FILE_ATTR_ATIME | FILE_ATTR_MTIME, .atime_s = 1000, .mtime_s = 2000}, 0},
        {"one time", {.what = FILE_ATTR_MTIME, .mtime_s = 3000}, 0},
        {"the other time", {.what = FILE_ATTR_ATIME, .atime_s = 4000, .mtime_s = 5000}, 0},
        {"a time to come", {.what = FILE_ATTR_MTIME, .mtime_s = 4102444800}, 0},
        {"more than a mode", {.what = FILE_ATTR_MODE, .mode = 07600}, 0},
        {"nothing", {0}, 0},
        {"owner", {.what = FILE_ATTR_UID, .uid = 1}, -N_EPERM},
        {"what there is not", {.what = 1u << 20}, -N_EINVAL},
    };
    uint64_t f = open_name("file", N_O_RDONLY);
    uint32_t mode = 0644;
    int64_t mtime_s = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int by_name = 0; by_name < 2; by_name++) {
            const struct file_attr *a = &cases[i].attr;
            struct ask q = {N_FSETATTR, .sfid = f, .data = a, .bytes = sizeof *a};

            if (by_name)
                q = (struct ask){N_FSETATTRNAME, .name = "/up/file", .data = a, .bytes = sizeof *a};
            cr_expect_eq(ask(q), cases[i].expected, "%s: %d", cases[i].how, head.status);
            cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
            const struct file_stat *st = (const void *)payload;
            mode = a->what & FILE_ATTR_MODE ? a->mode & 0777 : mode;
            mtime_s = a->what & FILE_ATTR_MTIME ? a->mtime_s : mtime_s;
            cr_expect_eq(st->mode & 07777, mode, "%s: %o", cases[i].how, (unsigned)st->mode);
            cr_expect(mtime_s == 0 || st->mtime_s == mtime_s, "%s", cases[i].how);
        }
    cr_expect_eq(ask((struct ask){N_FSETATTR, .sfid = f, .data = "short", .bytes = 5}), -N_EPROTO);
    uint64_t written = open_name("file", N_O_WRONLY);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = written, .data = "x", .bytes = 1}), 1);
    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = f}), 0);
    cr_expect_eq(((const struct file_stat *)payload)->mtime_s, 0, "a write ends the time that was set");
    cr_expect_eq(
        ask((struct ask){N_FSETATTR, .sfid = SFID_STDOUT, .data = &cases[0].attr, .bytes = sizeof cases[0].attr}),
        -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, links_inside_work_and_are_removed_as_links)
{
    uint64_t f = open_name("good", N_O_RDONLY);

    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 10}), 4);
    cr_expect_eq(memcmp(payload, "deep", 4), 0);
    open_name("subin/deep", N_O_RDONLY);
    open_name("sub/../file", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FUNLINK, .name = "bad"}), 0);
    cr_expect_not(exists("in/bad"));
    cr_expect(exists("secret"));
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "up", .name2 = "sub/up"}), 0, "a link is moved, not its goal");
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "sub/up"}), 0);
}

Test(hostfs, an_absolute_name_begins_at_the_folder)
{
    static const char *const names[] = {"/file", "//file", "/sub/deep", "/sub/../file", "/subin//deep", "/up/file"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        open_name(names[i], N_O_RDONLY);
    open_name("/", N_O_DIRECTORY);
}

static void make_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(a.sun_path, path);
    cr_assert_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    close(fd);
}

Test(hostfs, pipes_sockets_and_devices_are_refused)
{
    make_socket(scratch_path(&dir, "in/socket"));
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "fifo"}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "fifo", .flags = N_O_RDWR | N_O_CREAT}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "socket"}), -N_EACCES);
    if (mknod(scratch_path(&dir, "in/null"), S_IFCHR | 0666, makedev(1, 3)) == 0)
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = "null"}), -N_EACCES);
    expect_all_closed();
}

/* Whatever is served; the host's own are not changed, and nothing of them is told. */
Test(hostfs, null_zero_and_full_are_devices_of_every_program)
{
    static const struct {
        const char *name;
        int32_t read, written;
    } rows[] = {{"/dev/null", 0, 4}, {"dev/zero", 9, 4}, {"./dev/full", 9, -N_ENOSPC}};
    const struct file_attr attr = {.what = FILE_ATTR_MODE, .mode = 0600};
    struct file_stat st;

    for (int served = 1; served >= 0; served--) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const char *name = rows[i].name;
            uint64_t f = open_name(name, N_O_RDWR | N_O_CREAT | N_O_TRUNC);

            cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 9}), rows[i].read, "%s: %d", name, head.status);
            cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4}), rows[i].written, "%s",
                         name);
            cr_expect_eq(ask((struct ask){N_FSETATTR, .sfid = f, .data = &attr, .bytes = sizeof attr}), -N_EPERM);
            cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
            cr_assert_eq(ask((struct ask){N_FSTATNAME, .name = name}), 0, "%s", name);
            memcpy(&st, payload, sizeof st);
            cr_expect_eq(st.mode, S_IFCHR | 0666, "%s", name);
            cr_expect_eq(st.mtime_s, 0);
            cr_expect_eq(ask((struct ask){N_FACCESS, .name = name, .mode = R_OK | W_OK}), 0, "%s", name);
            cr_expect_eq(ask((struct ask){N_FSETATTRNAME, .name = name, .data = &attr, .bytes = sizeof attr}),
                         -N_EPERM);
            cr_expect_lt(ask((struct ask){N_FUNLINK, .name = name}), 0, "%s", name);
        }
        cr_expect_eq(ask((struct ask){N_FOPEN, .name = "/dev/nul", .flags = N_O_RDONLY}),
                     served ? -N_ENOENT : -N_EACCES);
        hostfs_free(host);
        start_serving(NULL);
    }
}

Test(hostfs, without_a_folder_every_name_is_refused_and_streams_work)
{
    static const uint32_t types[] = {N_FOPEN, N_FSTATNAME, N_FUNLINK, N_FMKDIR, N_FRMDIR, N_FACCESS};

    hostfs_free(host);
    start_serving(NULL);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        cr_expect_eq(ask((struct ask){types[i], .name = "file"}), -N_EACCES, "type 0x%x", types[i]);
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "a", .name2 = "b"}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FLINK, .name = "a", .name2 = "b"}), -N_EACCES);
    cr_expect_eq(ask((struct ask){.type = N_FSTATFS}), -N_EACCES);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDOUT, .data = "hi", .bytes = 2}), 2);
    char text[500] = "";
    cr_assert_gt(read(out_end, text, sizeof text - 1), 0);
    cr_expect_str_eq(text, "ncube: file is a file of the host, but no folder is served; give --serve DIR\nhi",
                     "the first name is told, once: %s", text);
}

Test(hostfs, a_folder_that_cannot_be_served_is_named)
{
    static const struct {
        const char *folder, *expected;
    } cases[] = {{"none", "does not exist"}, {"secret", "not a folder"}, {"itself", "Too many levels"}};
    struct hostfs *s;
    char error[300];

    cr_assert_eq(symlink("itself", scratch_path(&dir, "itself")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = scratch_path(&dir, cases[i].folder);

        cr_expect_eq(hostfs_new(&s, path, &lines, error, sizeof error), -1);
        cr_expect_not_null(strstr(error, cases[i].expected), "%s", error);
        cr_expect_not_null(strstr(error, path), "%s", error);
    }
}

/* ---- Names ---- */

Test(hostfs, names_are_made_moved_linked_and_removed)
{
    struct stat st;

    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = "d/", .mode = 0755}), 0);
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = "d", .mode = 0755}), -N_EEXIST);
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = "sticky", .mode = 07711}), 0);
    cr_assert_eq(stat(scratch_path(&dir, "in/sticky"), &st), 0);
    cr_expect_eq(st.st_mode & 07777, 0711, "%o", (unsigned)st.st_mode);
    cr_expect_eq(ask((struct ask){.type = N_FSYNCALL}), 0);
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "file", .name2 = "d/moved"}), 0);
    cr_expect(exists("in/d/moved"));
    cr_expect_eq(ask((struct ask){N_FLINK, .name = "d/moved", .name2 = "file"}), 0);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "file"}), 0);
    cr_expect_eq(((const struct file_stat *)payload)->nlink, 2);
    cr_expect_eq(ask((struct ask){N_FRMDIR, .name = "d"}), -N_ENOTEMPTY);
    cr_expect_eq(ask((struct ask){N_FUNLINK, .name = "d/moved"}), 0);
    cr_expect_eq(ask((struct ask){N_FRENAME, .name = "d/", .name2 = "e/"}), 0);
    cr_expect_eq(ask((struct ask){N_FRMDIR, .name = "e/"}), 0);
    cr_expect_eq(ask((struct ask){N_FACCESS, .name = "file", .mode = 4}), 0);
    cr_expect_eq(ask((struct ask){N_FACCESS, .name = "none", .mode = 4}), -N_ENOENT);
    cr_expect_eq(ask((struct ask){N_FACCESS, .name = "file", .mode = 8}), -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, odd_names_get_the_right_error)
{
    char long_name[301], long_path[FILE_NAME_MAX_BYTES + 2];

    static const struct {
        const char *how;
        uint32_t type;
        const char *name;
        int32_t expected;
    } cases[] = {
        {"unlink a file with a slash", N_FUNLINK, "file/", -N_ENOTDIR},
        {"rmdir a link with a slash", N_FRMDIR, "subin/", -N_ENOTDIR},
        {"rmdir a file", N_FRMDIR, "file", -N_ENOTDIR},
        {"unlink a folder", N_FUNLINK, "sub", -N_EISDIR},
        {"rmdir itself", N_FRMDIR, ".", -N_EINVAL},
        {"rmdir a parent inside", N_FRMDIR, "sub/..", -N_EBUSY},
        {"rmdir the root", N_FRMDIR, "/", -N_EBUSY},
        {"mkdir itself", N_FMKDIR, ".", -N_EEXIST},
        {"mkdir in nothing", N_FMKDIR, "none/x", -N_ENOENT},
        {"mkdir of nothing's dot", N_FMKDIR, "none/.", -N_ENOENT},
        {"unlink the root", N_FUNLINK, "///", -N_EISDIR},
        {"unlink itself", N_FUNLINK, "sub/.", -N_EISDIR},
        {"no name", N_FUNLINK, NULL, -N_EPROTO},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(ask((struct ask){cases[i].type, .name = cases[i].name}), cases[i].expected, "%s: %d", cases[i].how,
                     head.status);
    memset(long_name, 'n', 300);
    long_name[300] = '\0';
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = long_name}), -N_ENAMETOOLONG);
    memset(long_path, 'n', FILE_NAME_MAX_BYTES + 1);
    long_path[FILE_NAME_MAX_BYTES + 1] = '\0';
    cr_expect_eq(ask((struct ask){N_FMKDIR, .name = long_path}), -N_EPROTO);
    expect_all_closed();
}

/* ---- Folders ---- */

/* Reads the whole folder with replies of so many bytes; names joined by spaces. Returns the number of replies. */
static int read_folder(uint64_t sfid, uint32_t bytes, char *names)
{
    uint64_t offset = 0;
    int replies = 0;

    names[0] = '\0';
    while (ask((struct ask){N_FREADDIR, .sfid = sfid, .offset = offset, .bytes = bytes}) > 0) {
        cr_assert_eq(head.status, (int32_t)payload_bytes);
        cr_assert_leq(payload_bytes, bytes);
        for (size_t at = 0; at < payload_bytes;) {
            struct file_dirent d;

            memcpy(&d, payload + at, sizeof d);
            cr_assert_eq(d.record_bytes % 8, 0);
            snprintf(names + strlen(names), 500 - strlen(names), "%.*s:%u ", d.name_bytes,
                     (const char *)payload + at + sizeof d, d.type);
            at += d.record_bytes;
            offset = d.next;
        }
        replies++;
    }
    cr_assert_eq(head.status, 0);
    return replies;
}

Test(hostfs, a_folder_is_read_in_the_order_of_names)
{
    static const char expected[] = ".:2 ..:2 abs:7 bad:7 fifo:0 file:1 good:7 sub:2 subin:7 up:7 ";
    char names[500];
    uint64_t d = open_name(".", N_O_DIRECTORY);

    cr_expect_eq(read_folder(d, 4096, names), 1);
    cr_expect_str_eq(names, expected);
    cr_expect_eq(read_folder(d, 32, names), 10, "one record at a time");
    cr_expect_str_eq(names, expected);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 31}), -N_EINVAL, "no record fits");
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 4096, .offset = 11}), -N_EINVAL);
    expect_all_closed();
}

Test(hostfs, a_folders_listing_stays_while_it_is_read_and_is_new_from_the_start)
{
    char names[500];
    uint64_t d = open_name("sub", N_O_DIRECTORY);

    cr_assert_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 64}), 64);
    scratch_write(&dir, "in/sub/aaa", "", 0);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 64, .offset = 2}), 32);
    cr_expect_eq(memcmp(payload + sizeof(struct file_dirent), "deep", 4), 0);
    read_folder(d, 4096, names);
    cr_expect_str_eq(names, ".:2 ..:2 aaa:1 deep:1 ");
    expect_all_closed();
}

Test(hostfs, the_folders_parent_is_not_told)
{
    struct file_dirent dot, up;
    uint64_t d = open_name(".", N_O_DIRECTORY);

    cr_assert_eq(ask((struct ask){N_FREADDIR, .sfid = d, .bytes = 64}), 64);
    memcpy(&dot, payload, sizeof dot);
    memcpy(&up, payload + 32, sizeof up);
    cr_expect_eq(dot.ino, up.ino);
}

/* ---- Clients ---- */

Test(hostfs, a_closed_file_is_stale_even_when_its_entry_is_used_again)
{
    uint64_t old = open_name("file", N_O_RDONLY);

    cr_assert_eq(ask((struct ask){N_FCLOSE, .sfid = old}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = old, .bytes = 1}), -N_ESTALE);
    uint64_t new = open_name("file", N_O_RDONLY);
    cr_expect_neq(new, old);
    cr_expect_eq((uint32_t) new, (uint32_t)old, "the same entry");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = old, .bytes = 1}), -N_ESTALE);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = old}), -N_ESTALE);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = new, .bytes = 1}), 1);
}

Test(hostfs, a_client_has_no_use_for_another_clients_files)
{
    uint64_t f = open_name("file", N_O_RDONLY);
    static const uint64_t invented[] = {3, 0xffffffff, 0x100000000ull << 20, 0x1000000ffull, UINT64_MAX};

    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .node = 1}), -N_EBADF, "another node");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 1}), -N_EBADF, "another process");
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f, .node = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FEXIT, .node = 1}), 0);
    for (size_t i = 0; i < sizeof invented / sizeof *invented; i++)
        cr_expect_lt(ask((struct ask){N_FREAD, .sfid = invented[i], .bytes = 1}), 0, "%lx", (long)invented[i]);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1}), 1, "it is still open");
    cr_expect_eq(ask((struct ask){.type = N_FEXIT}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1}), -N_ESTALE);
    cr_expect_eq(host->files.used, 0);
}

Test(hostfs, a_file_is_open_until_all_that_share_it_have_closed_it)
{
    uint64_t f = open_name("file", N_O_RDONLY), g = open_name("file", N_O_RDONLY);

    cr_expect_eq(ask((struct ask){N_FFORK, .mode = PROCS_MAX}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FFORK, .mode = 3}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3}), 1);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3, .node = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1}), -N_EBADF, "who has closed it has it no more");
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3}), 1);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = f, .procid = 3}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = f, .bytes = 1, .procid = 3}), -N_ESTALE);
    cr_expect_eq(ask((struct ask){.type = N_FEXIT}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = g, .bytes = 1, .procid = 3}), 1, "its opener has ended");
    cr_expect_eq(ask((struct ask){N_FEXIT, .procid = 3}), 0);
    cr_expect_eq(host->files.used, 0);
    cr_expect_eq(host->files.host.count, 0);
}

Test(hostfs, one_client_cannot_take_all_the_files)
{
    for (uint32_t i = 0; i < OPEN_FILES_CLIENT; i++)
        open_name("file", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "file"}), -N_EMFILE);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "file", .node = 1}), 0, "others still can");
    hostfs_drop_node(host, 0);
    cr_expect_eq(host->files.used, 1);
    open_name("file", N_O_RDONLY);
}

/* Two clients of each of 8192 nodes; descriptors are scarce, SFIDs are not. */
Test(hostfs, a_file_that_all_nodes_have_open_takes_one_descriptor)
{
    static uint64_t sfid[8192][2];
    const uint32_t nodes = 8192;

    for (uint32_t node = 0; node < nodes; node++)
        for (uint32_t procid = 0; procid < 2; procid++) {
            struct file_opened opened;

            cr_assert_eq(ask((struct ask){N_FOPEN, .name = "file", .node = node, .procid = procid}), 0);
            memcpy(&opened, payload, sizeof opened);
            sfid[node][procid] = opened.sfid;
        }
    cr_expect_eq(host->files.used, 2 * nodes);
    cr_expect_eq(host->files.host.count, 1, "%u descriptors", host->files.host.count);
    for (uint32_t node = 0; node < nodes; node += 1000) {
        cr_expect_eq(
            ask((struct ask){N_FREAD, .sfid = sfid[node][1], .bytes = 9, .offset = 1, .node = node, .procid = 1}), 4);
        cr_expect_arr_eq(payload, "ello", 4);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        hostfs_drop_node(host, node);
        cr_assert_eq(host->files.used, 2 * (nodes - 1 - node));
        cr_assert_eq(host->files.host.count, node + 1 < nodes);
    }
}

Test(hostfs, descriptors_are_shared_by_those_who_open_alike)
{
    static const struct {
        const char *name;
        uint32_t flags;
        uint32_t descriptors; /* after this one, too */
    } opens[] = {
        {"file", N_O_RDONLY, 1}, {"./sub/../file", N_O_RDONLY, 1},
        {"file", N_O_WRONLY, 2}, {"file", N_O_WRONLY | N_O_APPEND, 2},
        {"file", N_O_RDONLY, 3}, /* the old one could show what was before: hostfiles.h */
        {"file", N_O_RDONLY, 3}, {"file", N_O_RDWR, 4},
        {"sub", N_O_RDONLY, 5},  {"sub", N_O_RDONLY | N_O_DIRECTORY, 5},
        {"good", N_O_RDONLY, 6}, {"sub/deep", N_O_RDONLY, 6},
    };

    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        open_name(opens[i].name, opens[i].flags);
        cr_expect_eq(host->files.host.count, opens[i].descriptors, "open %zu: %u", i, host->files.host.count);
    }
    hostfs_drop_node(host, 0);
    cr_expect_eq(host->files.host.count, 0);
}

/* Two files whose numbers fall into one chain of the table of open files; any HOST_FILES_CHAINS + 1 have such a
 * pair. */
static void make_pair(char first[32], char second[32])
{
    static uint32_t made_by[HOST_FILES_CHAINS]; /* the number of the file + 1 */

    for (uint32_t i = 1;; i++) {
        struct stat st;

        snprintf(second, 32, "pair%u", i);
        char *path = (char *)scratch_path(&dir, "in/");
        strcat(path, second);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        cr_assert(fd >= 0 && fstat(fd, &st) == 0);
        cr_assert_eq(write(fd, &i, sizeof i), (ssize_t)sizeof i);
        close(fd);
        uint32_t *other = &made_by[(st.st_ino ^ st.st_dev) % HOST_FILES_CHAINS];
        if (*other > 0) {
            snprintf(first, 32, "pair%u", *other);
            return;
        }
        *other = i;
    }
}

Test(hostfs, files_in_one_chain_of_the_table_are_two_files)
{
    char name[2][32];
    uint64_t sfid[2];
    uint32_t number, written;

    make_pair(name[0], name[1]);
    for (int i = 0; i < 2; i++)
        sfid[i] = open_name(name[i], N_O_RDONLY);
    cr_expect_eq(host->files.host.count, 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(ask((struct ask){N_FREAD, .sfid = sfid[i], .bytes = sizeof number}), sizeof number);
        memcpy(&number, payload, sizeof number);
        sscanf(name[i], "pair%u", &written);
        cr_expect_eq(number, written, "%s has %u", name[i], number);
    }
}

Test(hostfs, a_file_that_others_have_open_is_closed_without_error)
{
    uint64_t first = open_name("file", N_O_RDONLY), second = open_name("file", N_O_RDONLY);

    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = first}), 0);
    cr_expect_eq(host->files.host.count, 1);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = second, .bytes = 5}), 5);
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = second}), 0);
    cr_expect_eq(host->files.host.count, 0);
}

/* ---- "/tmp" in memory ---- */

Test(hostfs, a_folder_tmp_is_served_like_any_other)
{
    hostfs_free(host);
    cr_assert_eq(mkdir(scratch_path(&dir, "in/tmp"), 0755), 0);
    start_serving(scratch_path(&dir, "in"));
    open_name("/tmp/made", N_O_RDWR | N_O_CREAT);
    cr_expect(exists("in/tmp/made"));
}

Test(hostfs, without_a_folder_tmp_its_files_are_in_memory)
{
    static const struct {
        const char *how;
        uint32_t type;
        const char *name, *name2;
        uint32_t flags;
        int32_t expected;
    } steps[] = {
        {"open itself", N_FOPEN, "/tmp", NULL, N_O_RDONLY, -N_EACCES},
        {"write itself", N_FOPEN, "/tmp/", NULL, N_O_WRONLY, -N_EISDIR},
        {"open none", N_FOPEN, "/tmp/a", NULL, N_O_RDONLY, -N_ENOENT},
        {"make", N_FOPEN, "/tmp/a", NULL, N_O_RDWR | N_O_CREAT | N_O_EXCL, 0},
        {"make again", N_FOPEN, "tmp/a", NULL, N_O_RDWR | N_O_CREAT | N_O_EXCL, -N_EEXIST},
        {"stat", N_FSTATNAME, "//./tmp//a", NULL, 0, 0},
        {"access", N_FACCESS, "/tmp/a", NULL, 0, 0},
        {"access none", N_FACCESS, "/tmp/b", NULL, 0, -N_ENOENT},
        {"rename", N_FRENAME, "/tmp/a", "/tmp/b", 0, 0},
        {"rename none", N_FRENAME, "/tmp/a", "/tmp/b", 0, -N_ENOENT},
        {"rename to itself", N_FRENAME, "/tmp/b", "/tmp/b", 0, 0},
        {"rename below", N_FRENAME, "/tmp/b", "/tmp/c/d", 0, -N_ENOENT},
        {"link text of a file", N_FREADLINK, "/tmp/b", NULL, 0, -N_EINVAL},
        {"link text of none", N_FREADLINK, "/tmp/c", NULL, 0, -N_ENOENT},
        {"link text of itself", N_FREADLINK, "/tmp", NULL, 0, -N_EINVAL},
        {"rename out", N_FRENAME, "/tmp/b", "/b", 0, -N_EXDEV},
        {"rename in", N_FRENAME, "/file", "/tmp/file", 0, -N_EXDEV},
        {"link", N_FLINK, "/tmp/b", "/tmp/c", 0, -N_EPERM},
        {"mkdir", N_FMKDIR, "/tmp/d", NULL, 0, -N_EPERM},
        {"mkdir of itself", N_FMKDIR, "/tmp", NULL, 0, -N_EEXIST},
        {"stat of itself", N_FSTATNAME, "/tmp/", NULL, 0, 0},
        {"below a file", N_FOPEN, "/tmp/b/c", NULL, N_O_RDWR | N_O_CREAT, -N_ENOTDIR},
        {"unlink", N_FUNLINK, "/tmp/b", NULL, 0, 0},
        {"unlink none", N_FUNLINK, "/tmp/b", NULL, 0, -N_ENOENT},
        {"unlink itself", N_FUNLINK, "/tmp", NULL, 0, -N_EISDIR},
        {"rmdir itself", N_FRMDIR, "/tmp", NULL, 0, -N_EPERM},
        {"another name", N_FOPEN, "/tmpfile", NULL, N_O_RDONLY, -N_ENOENT},
    };

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        cr_expect_eq(ask((struct ask){steps[i].type, .name = steps[i].name, .name2 = steps[i].name2,
                                      .flags = steps[i].flags, .mode = steps[i].type == N_FOPEN ? 0600 : 0}),
                     steps[i].expected, "%s: %d", steps[i].how, head.status);
    cr_expect_not(exists("in/tmp"));
    expect_all_closed();
}

Test(hostfs, files_in_memory_are_bounded_numbered_and_outlive_their_names)
{
    char name[20];
    uint64_t f = open_name("/tmp/f", N_O_RDWR | N_O_CREAT);
    struct file_stat st;

    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4}), 4);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "x", .bytes = 1, .offset = TMP_FILE_MAX_BYTES}),
                 -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = f, .data = "text", .bytes = 4, .offset = TMP_FILE_MAX_BYTES - 3}),
                 3);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = TMP_FILE_MAX_BYTES + 1}), -N_EFBIG);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = f, .offset = 4}), 0);
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "/tmp/f/g", .flags = N_O_RDWR | N_O_CREAT}), -N_ENOTDIR);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "/tmp/none/g"}), -N_ENOENT);
    uint64_t r = open_name("/tmp/f", N_O_RDONLY);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = r, .data = "text", .bytes = 4}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FUNLINK, .name = "/tmp/f"}), 0);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = r, .bytes = 10}), 4);
    cr_expect_eq(memcmp(payload, "text", 4), 0);
    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = r}), 0);
    memcpy(&st, payload, sizeof st);
    uint64_t ino = st.ino;
    open_name("/tmp/g", N_O_RDWR | N_O_CREAT);
    cr_expect_eq(ask((struct ask){N_FSTATNAME, .name = "/tmp/g"}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect_eq(st.ino, ino + 1, "numbers are the order's, not the host's");
    for (unsigned i = 1; i < TMP_FILES_MAX; i++) {
        snprintf(name, sizeof name, "/tmp/%u", i);
        uint64_t one = open_name(name, N_O_RDWR | N_O_CREAT);
        cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = one}), 0);
    }
    cr_expect_eq(ask((struct ask){N_FOPEN, .name = "/tmp/more", .flags = N_O_RDWR | N_O_CREAT}), -N_ENOSPC);
}

/* ---- Streams ---- */

Test(hostfs, streams_are_read_and_written_by_every_client)
{
    char seen[20] = "";
    struct file_stat st;

    cr_assert_eq(write(in_end, "line\nmore", 9), 9);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = SFID_STDIN, .bytes = 100, .node = 3}), 5);
    cr_expect_eq(memcmp(payload, "line\n", 5), 0);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDOUT, .data = "out", .bytes = 3, .node = 5}), 3);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDERR, .data = "err", .bytes = 3}), 3);
    cr_expect_eq(read(out_end, seen, sizeof seen), 6);
    cr_expect_str_eq(seen, "outerr");

    cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = SFID_STDOUT}), 0);
    memcpy(&st, payload, sizeof st);
    cr_expect(S_ISCHR(st.mode));
    cr_expect_eq(ask((struct ask){N_FCLOSE, .sfid = SFID_STDOUT}), 0);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDIN, .data = "x", .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FREAD, .sfid = SFID_STDOUT, .bytes = 1}), -N_EBADF);
    cr_expect_eq(ask((struct ask){N_FTRUNCATE, .sfid = SFID_STDOUT}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FSYNC, .sfid = SFID_STDOUT}), -N_EINVAL);
    cr_expect_eq(ask((struct ask){N_FREADDIR, .sfid = SFID_STDIN, .bytes = 100}), -N_ENOTDIR);
    close(out_end);
    cr_expect_eq(ask((struct ask){N_FWRITE, .sfid = SFID_STDOUT, .data = "x", .bytes = 1}), -N_EPIPE);
}

Test(hostfs, a_terminal_among_the_streams_is_told_from_the_others)
{
    static const struct {
        uint64_t sfid;
        uint32_t mode;
    } expected[] = {{SFID_STDIN, FILE_STREAM_MODE}, {SFID_STDOUT, FILE_TERMINAL_MODE}, {SFID_STDERR, FILE_STREAM_MODE}};
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_RDWR);
    struct file_stat st;

    cr_assert(null >= 0);
    if (terminal < 0)
        cr_skip_test("no terminal can be made here: %s (is /dev/pts mounted?)", strerror(errno));
    streams_free(&streams);
    cr_assert_eq(streams_init(&streams, null, terminal, in_end, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        cr_expect_eq(ask((struct ask){N_FSTAT, .sfid = expected[i].sfid}), 0);
        memcpy(&st, payload, sizeof st);
        cr_expect_eq(st.mode, expected[i].mode, "stream %zu: mode %o", i, st.mode);
    }
    close(terminal);
    close(null);
}

/* ---- Malformed messages ---- */

static int32_t send_raw(uint32_t type, const void *bytes, size_t n)
{
    const void *reply;
    size_t reply_bytes = hostfs_request(host, 0, 0, type, bytes, n, &reply);

    return reply_bytes ? take_reply(reply, reply_bytes) : 1;
}

Test(hostfs, malformed_requests_change_nothing)
{
    struct {
        struct file_request r;
        char tail[24];
    } m = {.tail = "newdir/and some more"};

    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r - 1), 1, "no header, no reply");
    m.r.name_bytes = 6;
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 5), -N_EPROTO, "shorter than it says");
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 7), -N_EPROTO, "longer than it says");
    m.r.name2_bytes = 3;
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 9), -N_EPROTO, "a second name where none belongs");
    m.r.name2_bytes = 0;
    m.tail[3] = '\0';
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 6), -N_EPROTO, "a NUL in the name");
    m.tail[3] = 'd';
    m.r.drive = 1;
    cr_expect_eq(send_raw(N_FMKDIR, &m, sizeof m.r + 6), -N_ENODEV, "a second drive");
    m.r.drive = 0;
    cr_expect_eq(send_raw(0x803f, &m, sizeof m.r + 6), -N_ENOSYS, "an unknown request");
    m.r.bytes = UINT32_MAX;
    m.r.name_bytes = 0;
    m.r.sfid = SFID_STDOUT;
    cr_expect_eq(send_raw(N_FWRITE, &m, sizeof m), -N_EPROTO, "more data than there is");
    cr_expect_not(exists("in/newdir"));
    cr_expect_eq(send_raw(N_FMKDIR, &(struct file_request){0}, sizeof m.r), -N_EPROTO, "no name at all");
    expect_all_closed();
}

Test(hostfs, random_requests_do_no_harm)
{
    static const char *const names[] = {"file", "../secret", "sub/x", "up/outside", "/", "good", "."};
    unsigned seed = 1;
    uint8_t data[64] = {0};

    for (int i = 0; i < 20000; i++) {
        uint32_t type = N_FOPEN + rand_r(&seed) % 23;
        bool two = type == N_FRENAME || type == N_FLINK, wild = rand_r(&seed) % 4 == 0;
        uint32_t bytes = rand_r(&seed) % sizeof data;
        uint64_t sfid = (uint64_t)(rand_r(&seed) % 4 + 1) << 32 | rand_r(&seed) % 20;
        bool named = type == N_FOPEN || (type >= N_FSTATNAME && type <= N_FRMDIR) || type == N_FACCESS;

        ask((struct ask){
            .type = type,
            .name = named || wild ? names[rand_r(&seed) % 7] : NULL,
            .name2 = two || wild ? names[rand_r(&seed) % 7] : NULL,
            .flags = rand_r(&seed) % 3 ? rand_r(&seed) % 4 | (rand_r(&seed) & 0xe08) : rand_r(&seed),
            .mode = rand_r(&seed) % 8 | 0600,
            .sfid = sfid,
            .offset = rand_r(&seed) % 100,
            .bytes = bytes,
            .data = type == N_FWRITE || wild ? data : NULL,
            .node = rand_r(&seed) % 3,
            .procid = rand_r(&seed) % 2,
        });
    }
    char secret[10];
    cr_expect_eq(scratch_read(&dir, "secret", secret, sizeof secret), 6);
    cr_expect(exists("outside"));
    cr_expect_not(exists("x"));
    expect_all_closed();
}
