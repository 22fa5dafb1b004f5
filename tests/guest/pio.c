/*
 * Parallel files. Volumes are df00, df01, ...; the arguments behind a case's name are the number of disks, the block
 * size, the buffers, a seed and a map, as far as a case has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <pio.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_files.h"

static long argument(int i, long otherwise)
{
    return test_argc > i ? strtol(test_argv[i], NULL, 10) : otherwise;
}

static struct pio_layout chosen_layout(void)
{
    return (struct pio_layout){.disks = argument(0, 4),
                               .block_size = argument(1, 4096),
                               .buffers = argument(2, 2),
                               .map = test_argc > 4 ? test_argv[4] : NULL};
}

static int open_pio(const char *name, int flags)
{
    struct pio_layout layout = chosen_layout();
    int pfd = pio_open_layout(name, flags, 0644, &layout);

    check(pfd >= 0, "%s: errno %d (%s) at %s", name, errno, strerror(errno), pio_failed_path());
    return pfd;
}

static void write_pattern(int pfd, size_t n, uint32_t seed)
{
    write_pattern_by(pio_write, pfd, n, seed);
}

static void expect_pattern(int pfd, size_t n, uint32_t seed)
{
    expect_pattern_by(pio_read, pfd, n, seed);
}

static off_t size_of(int pfd)
{
    struct stat st;

    check(pio_fstat(pfd, &st) == 0, "pio_fstat: %s", strerror(errno));
    return st.st_size;
}

/* ---- Against a shadow ---- */

enum { SHADOW_BYTES = 150000, OPERATIONS = 60 };

static char shadow[SHADOW_BYTES], buf[SHADOW_BYTES];
static off_t shadow_size, offset;

/* Moves n bytes at the offset in one of three ways, and the file's offset with them. */
static ssize_t move(int pfd, bool writes, size_t n, uint64_t *state)
{
    size_t first = n ? draw(state) % n : 0, second = (n - first) / 3;
    struct iovec iov[] = {{buf, first}, {NULL, 0}, {buf + first, second}, {buf + first + second, n - first - second}};
    uint32_t way = draw(state) % 3;

    if (way == 0)
        return writes ? pio_write(pfd, buf, n) : pio_read(pfd, buf, n);
    if (way == 1)
        return writes ? pio_writev(pfd, iov, 4) : pio_readv(pfd, iov, 4);
    ssize_t done = writes ? pio_pwrite(pfd, buf, n, offset) : pio_pread(pfd, buf, n, offset);
    check_equal(pio_lseek(pfd, 0, SEEK_CUR), offset);
    check_equal(pio_lseek(pfd, done, SEEK_CUR), offset + done);
    return done;
}

static void shadow_write(int pfd, uint64_t *state)
{
    size_t n = draw(state) % (draw(state) % 3 ? 3000 : 40000);

    if (offset + (off_t)n > SHADOW_BYTES)
        n = SHADOW_BYTES - offset;
    fill_pattern(buf, n, draw(state));
    check_equal(move(pfd, true, n, state), n);
    memcpy(shadow + offset, buf, n);
    offset += n;
    shadow_size = n > 0 && offset > shadow_size ? offset : shadow_size;
}

static void shadow_read(int pfd, uint64_t *state)
{
    size_t n = draw(state) % (draw(state) % 3 ? 3000 : 60000);
    off_t left = shadow_size > offset ? shadow_size - offset : 0;
    ssize_t expected = (off_t)n < left ? (off_t)n : left;

    memset(buf, 0x5a, sizeof buf);
    check_equal(move(pfd, false, n, state), expected);
    for (ssize_t i = 0; i < expected; i++)
        check(buf[i] == shadow[offset + i], "byte %ld is %d, not %d", (long)offset + i, buf[i], shadow[offset + i]);
    check(buf[expected] == 0x5a, "written behind the %ld bytes read", (long)expected);
    offset += expected;
}

static void shadow_seek(int pfd, uint64_t *state)
{
    off_t to = draw(state) % SHADOW_BYTES;

    switch (draw(state) % 3) {
    case 0:
        check_equal(pio_lseek(pfd, to, SEEK_SET), to);
        break;
    case 1:
        check_equal(pio_lseek(pfd, to - offset, SEEK_CUR), to);
        break;
    default:
        check_equal(pio_lseek(pfd, to - shadow_size, SEEK_END), to);
    }
    offset = to;
}

static void shadow_truncate(int pfd, uint64_t *state)
{
    off_t size = draw(state) % SHADOW_BYTES;

    check_equal(pio_ftruncate(pfd, size), 0);
    if (size < shadow_size)
        memset(shadow + size, 0, shadow_size - size);
    shadow_size = size;
}

static void expect_shadow(int pfd)
{
    check_equal(size_of(pfd), shadow_size);
    check_equal(pio_lseek(pfd, 0, SEEK_SET), 0);
    check_equal(pio_read(pfd, buf, SHADOW_BYTES), shadow_size);
    for (off_t i = 0; i < shadow_size; i++)
        check(buf[i] == shadow[i], "byte %ld is %d, not %d", (long)i, buf[i], shadow[i]);
}

static void like_one_file(void)
{
    uint64_t state = argument(3, 1);
    int pfd = open_pio("/shadow", O_RDWR | O_CREAT | O_EXCL);

    for (int i = 0; i < OPERATIONS; i++) {
        uint32_t kind = draw(&state) % 10;

        if (kind < 4)
            shadow_write(pfd, &state);
        else if (kind < 7)
            shadow_read(pfd, &state);
        else if (kind < 9)
            shadow_seek(pfd, &state);
        else
            shadow_truncate(pfd, &state);
    }
    expect_shadow(pfd);
    check_equal(pio_fsync(pfd), 0);
    check_equal(pio_close(pfd), 0);
    pfd = pio_open("//df00/shadow", O_RDONLY);
    check(pfd >= 0, "again: errno %d at %s", errno, pio_failed_path());
    expect_shadow(pfd);
    check_equal(pio_close(pfd), 0);
}

/* ---- Borders ---- */

static void sizes_around_blocks(void)
{
    struct pio_layout layout = chosen_layout();
    int pfd = open_pio("/sizes", O_RDWR | O_CREAT), b = layout.block_size, stripe = layout.disks * b;
    int sizes[] = {0, 1, b - 1, b, b + 1, 2 * b - 1, stripe - 1, stripe, stripe + 1, 3 * stripe + b / 2, 5 * stripe};
    int n = sizeof sizes / sizeof *sizes;
    char byte;

    for (int i = 0; i < n; i++)
        write_pattern(pfd, sizes[i], i);
    check_equal(pio_lseek(pfd, 0, SEEK_SET), 0);
    for (int i = 0; i < n; i++)
        expect_pattern(pfd, sizes[i], i);
    check_equal(pio_read(pfd, &byte, 1), 0);
    check_equal(pio_close(pfd), 0);
}

static void holes_and_ends(void)
{
    struct pio_layout layout = chosen_layout();
    int pfd = open_pio("/holes", O_RDWR | O_CREAT), stripe = layout.disks * layout.block_size;
    off_t far = 100l * stripe + layout.block_size + 7;
    static char bytes[64];

    check_equal(pio_lseek(pfd, far, SEEK_SET), far);
    check_equal(pio_read(pfd, bytes, sizeof bytes), 0);
    check_equal(pio_write(pfd, "end", 3), 3);
    check_equal(size_of(pfd), far + 3);
    for (off_t at = 0; at < far; at += stripe * 9 + 1) {
        check_equal(pio_lseek(pfd, at, SEEK_SET), at);
        memset(bytes, 1, sizeof bytes);
        check_equal(pio_read(pfd, bytes, 50), 50);
        for (int i = 0; i < 50; i++)
            check(bytes[i] == 0, "byte %ld is %d", (long)at + i, bytes[i]);
    }
    check_equal(pio_lseek(pfd, -5, SEEK_END), far - 2);
    check_equal(pio_read(pfd, bytes, sizeof bytes), 5);
    check(memcmp(bytes, "\0\0end", 5) == 0, "the end");
    check_fails(pio_lseek(pfd, -1, SEEK_SET), EINVAL);
    check_fails(pio_lseek(pfd, 0, 77), EINVAL);
    check_equal(pio_close(pfd), 0);
}

static void appends(void)
{
    int pfd = open_pio("/append", O_RDWR | O_CREAT);

    write_pattern(pfd, 10001, 1);
    check_equal(pio_close(pfd), 0);
    pfd = open_pio("/append", O_RDWR | O_APPEND);
    write_pattern(pfd, 20003, 2);
    check_equal(pio_lseek(pfd, 0, SEEK_SET), 0);
    expect_pattern(pfd, 10001, 1);
    write_pattern(pfd, 5, 3);
    check_equal(pio_lseek(pfd, 0, SEEK_CUR), 30009);
    check_equal(pio_lseek(pfd, 10001, SEEK_SET), 10001);
    expect_pattern(pfd, 20003, 2);
    expect_pattern(pfd, 5, 3);
    check_equal(size_of(pfd), 30009);
    check_equal(pio_close(pfd), 0);
    pfd = open_pio("/append", O_WRONLY | O_TRUNC);
    check_equal(size_of(pfd), 0);
    check_equal(pio_close(pfd), 0);
}

/* ---- Errors ---- */

static void make_plain_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0644);

    check(fd >= 0 && write(fd, "plain", 5) == 5 && close(fd) == 0, "%s: %s", name, strerror(errno));
}

static void check_told(const char *expected)
{
    check(strcmp(nfailed(), expected) == 0, "nfailed says \"%s\", not \"%s\"", nfailed(), expected);
}

static void open_errors(void)
{
    struct pio_layout layout = chosen_layout(), other = layout, wrong = {.disks = -1};
    int pfd = open_pio("/file", O_RDWR | O_CREAT);

    check_equal(pio_close(pfd), 0);
    check_fails(pio_open("/none", O_RDWR), ENOENT);
    check(strstr(pio_failed_path(), "none") != NULL, "the failed path is '%s'", pio_failed_path());
    check_fails(pio_open("/no/folder", O_RDWR | O_CREAT, 0644), ENOENT);
    check_fails(pio_open_layout("/file", O_RDWR | O_CREAT | O_EXCL, 0644, &layout), EEXIST);
    other.block_size *= 2;
    check_fails(pio_open_layout("/file", O_RDWR, 0, &other), EINVAL);
    other = layout;
    other.disks--;
    check_fails(pio_open_layout("/file", O_RDWR, 0, &other), EINVAL);
    check_fails(pio_open_layout("/new", O_RDWR | O_CREAT, 0644, &wrong), EINVAL);
    check_fails(pio_open_layout("/new", O_RDWR | O_CREAT, 0644,
                                &(struct pio_layout){.disks = 2, .volumes = (const char *[]){"df00", "nosuch"}}),
                ENOENT);
    check(strstr(pio_failed_path(), "nosuch") != NULL, "the failed path is '%s'", pio_failed_path());
    check_told("pio_open_layout //nosuch/: there is no volume nosuch in this machine");
    check_fails(pio_open("/name.pio", O_RDWR | O_CREAT, 0644), EINVAL);
    check_fails(pio_open("/name/", O_RDWR | O_CREAT, 0644), EISDIR);
    make_plain_file("//df00/plain");
    check_fails(pio_open_layout("/plain", O_RDWR | O_CREAT, 0644, &layout), EPROTO);
    make_plain_file("//df00/lie.pio");
    check_fails(pio_open_layout("/lie", O_RDWR, 0, &layout), EPROTO);
}

static void descriptor_errors(void)
{
    char byte = 1;
    struct stat st;
    int pfd = open_pio("/file", O_WRONLY | O_CREAT);

    check_fails(pio_read(pfd, &byte, 1), EBADF);
    check_equal(pio_write(pfd, &byte, 1), 1);
    check_equal(pio_close(pfd), 0);
    check_fails(pio_close(pfd), EBADF);
    check_fails(pio_read(pfd, &byte, 1), EBADF);
    check_told("pio_read: bad file descriptor");
    check_fails(pio_write(-1, &byte, 1), EBADF);
    check_told("pio_write: bad file descriptor");
    check_fails(pio_lseek(1000, 0, SEEK_SET), EBADF);
    check_fails(pio_fstat(pfd, &st), EBADF);
    check_fails(pio_ftruncate(pfd, 0), EBADF);
    check_fails(pio_fsync(pfd), EBADF);
    pfd = open_pio("/file", O_RDONLY);
    check_fails(pio_write(pfd, &byte, 1), EBADF);
    check_equal(pio_read(pfd, &byte, 1), 1);
    check_equal(pio_close(pfd), 0);
}

static void unlinks(void)
{
    int pfd = open_pio("/file", O_RDWR | O_CREAT);

    write_pattern(pfd, 50000, 1);
    check_equal(pio_close(pfd), 0);
    check_equal(pio_unlink("//df00/file"), 0);
    check_fails(pio_open("//df00/file", O_RDWR), ENOENT);
    check_fails(pio_unlink("//df00/file"), ENOENT);
    check_fails(access("//df00/file", F_OK), ENOENT);
    check_fails(access("//df01/file", F_OK), ENOENT);
    check_fails(access("//df01/file.pio", F_OK), ENOENT);
}

static void renames(void)
{
    int pfd = open_pio("/file", O_RDWR | O_CREAT);

    write_pattern(pfd, 50000, 1);
    check_equal(pio_rename("//df00/file", "//df00/other"), 0);
    check_equal(pio_lseek(pfd, 0, SEEK_SET), 0);
    expect_pattern(pfd, 50000, 1);
    check_equal(pio_close(pfd), 0);
    check_fails(pio_open("//df00/file", O_RDWR), ENOENT);
    check_fails(access("//df01/file.pio", F_OK), ENOENT);
    pfd = open_pio("/file", O_RDWR | O_CREAT | O_EXCL);
    check_equal(pio_preallocate(pfd, 0, 70000), 0);
    check_equal(size_of(pfd), 70000);
    write_pattern(pfd, 60000, 2);
    check_equal(pio_close(pfd), 0);
    check_equal(pio_rename("//df00/file", "//df00/other"), 0);
    pfd = open_pio("/other", O_RDONLY);
    check_equal(size_of(pfd), 70000);
    expect_pattern(pfd, 60000, 2);
    check_equal(pio_close(pfd), 0);
    check_fails(pio_rename("//df00/file", "//df00/other"), ENOENT);
    check_equal(mkdir("//df00/folder", 0777), 0);
    check_fails(pio_rename("//df00/other", "//df00/folder"), EISDIR);
    check_equal(pio_unlink("//df00/other"), 0);
}

static void a_full_volume(void)
{
    enum { PIECE = 30000 };
    static char piece[PIECE];
    int pfd = open_pio("/full", O_RDWR | O_CREAT);
    off_t total = 0;
    ssize_t n = PIECE;

    for (uint32_t seed = 0; n == PIECE; seed++, total += n > 0 ? n : 0) {
        fill_pattern(piece, PIECE, seed);
        n = pio_write(pfd, piece, PIECE);
        check(n > 0 || errno == ENOSPC, "pio_write: %ld, errno %d", (long)n, errno);
    }
    check_fails(pio_write(pfd, piece, PIECE), ENOSPC);
    check_equal(size_of(pfd), total);
    check(total > PIECE, "only %ld bytes fit", (long)total);
    check_equal(pio_lseek(pfd, 0, SEEK_SET), 0);
    for (off_t at = 0; at < total; at += PIECE)
        expect_pattern(pfd, total - at < PIECE ? total - at : PIECE, at / PIECE);
    check_equal(pio_close(pfd), 0);
    check_equal(pio_unlink("//df00/full"), 0);
    pfd = open_pio("/after", O_RDWR | O_CREAT);
    write_pattern(pfd, PIECE, 9);
    check_equal(pio_close(pfd), 0);
}

/* ---- Several nodes, several runs ---- */

static void all_nodes_one_file(void)
{
    enum { PART = 7001, ROUNDS = 3 };
    int pfd = open_pio("/common", O_RDWR | O_CREAT), nodes = node_count();

    for (int i = 0; i < ROUNDS; i++) {
        off_t at = (off_t)(i * nodes + own_node()) * PART;

        check_equal(pio_lseek(pfd, at, SEEK_SET), at);
        write_pattern(pfd, PART, i * nodes + own_node());
    }
    check_equal(nsync(1), 0);
    check_equal(pio_lseek(pfd, 0, SEEK_SET), 0);
    for (int i = 0; i < ROUNDS * nodes; i++)
        expect_pattern(pfd, PART, i);
    check_equal(pio_close(pfd), 0);
}

static void leaves(void)
{
    int pfd = open_pio("/kept", O_RDWR | O_CREAT);

    write_pattern(pfd, 123457, 4);
    int left_open = open_pio("/left-open", O_RDWR | O_CREAT);
    write_pattern(left_open, 50001, 5);
    check_equal(pio_close(pfd), 0);
}

static void finds(void)
{
    int pfd = pio_open("//df01/kept", O_RDONLY);

    check(pfd >= 0, "errno %d at %s", errno, pio_failed_path());
    expect_pattern(pfd, 123457, 4);
    check_equal(size_of(pfd), 123457);
    check_equal(pio_close(pfd), 0);
    pfd = open_pio("/left-open", O_RDONLY);
    expect_pattern(pfd, 50001, 5);
}

static void volumes_were_exchanged(void)
{
    check_fails(pio_open("//df00/kept", O_RDONLY), EPROTO);
}

static const struct test_case cases[] = {
    {"like one file", like_one_file},
    {"sizes around blocks", sizes_around_blocks},
    {"holes and ends", holes_and_ends},
    {"appends", appends},
    {"open errors", open_errors},
    {"descriptor errors", descriptor_errors},
    {"unlinks", unlinks},
    {"renames", renames},
    {"a full volume", a_full_volume},
    {"all nodes, one file", all_nodes_one_file},
    {"leaves", leaves},
    {"finds", finds},
    {"volumes were exchanged", volumes_were_exchanged},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
