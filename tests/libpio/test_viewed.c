/* Views of PIO files, against byte-by-byte arithmetic: each element of a pattern over the file is a file of its own. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/file/layout.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"
#include "tests/libpio/random_pattern.h"

#define FILE_BYTES 3000
#define OPEN_MAX   6

static uint64_t state;
static char model[2 * FILE_BYTES]; /* the file */
static int64_t model_bytes;

static void set_up(void)
{
    fake_reset();
    fake_answer_randomly(&state);
    memset(model, 0, sizeof model);
    model_bytes = 0;
    state = 1;
}

TestSuite(view, .init = set_up);

/* A node's descriptor with its element, or without a view. */
struct own {
    int pfd;
    const struct pattern *pattern; /* NULL: the whole file */
    int element;
};

static int set_view(int pfd, const struct pattern *p, int element)
{
    int64_t n = pattern_pack(p, element, NULL, 0);
    char *packed = malloc((size_t)n + 1);

    cr_assert_gt(n, 0);
    pattern_pack(p, element, packed, (size_t)n);
    int result = pio_setview(pfd, packed, (size_t)n);
    free(packed);
    return result;
}

/* Cuts a buffer in up to four pieces. Returns their number. */
static int cut(struct iovec iov[4], char *bytes, int64_t n)
{
    int pieces = 1 + (int)random_below(&state, 4);

    for (int i = 0; i < pieces; i++) {
        int64_t length = i == pieces - 1 ? n : random_below(&state, (uint32_t)n + 1);

        iov[i] = (struct iovec){bytes, (size_t)length};
        bytes += length;
        n -= length;
    }
    return pieces;
}

static int64_t file_place(const struct own *o, int64_t y)
{
    return o->pattern ? pattern_file(o->pattern, o->element, y) : y;
}

/* How many own bytes lie below the file's end. */
static int64_t own_end(const struct own *o)
{
    int64_t y = 0;

    while (file_place(o, y) < model_bytes)
        y++;
    return y;
}

static void write_both(const struct own *o, int64_t at, int64_t n)
{
    struct iovec iov[4];
    char from[FILE_BYTES];

    for (int64_t i = 0; i < n; i++)
        from[i] = (char)(1 + random_below(&state, 255));
    cr_assert_eq(pio_lseek(o->pfd, at, SEEK_SET), at);
    cr_assert_eq(pio_writev(o->pfd, iov, cut(iov, (char *)from, n)), n);
    for (int64_t i = 0; i < n; i++) {
        int64_t x = file_place(o, at + i);

        model[x] = from[i];
        if (x >= model_bytes)
            model_bytes = x + 1;
    }
}

static void read_both(const struct own *o, int64_t at, int64_t n)
{
    struct iovec iov[4];
    char got[FILE_BYTES + 1];
    int64_t end = own_end(o), expected = at >= end ? 0 : n < end - at ? n : end - at;

    memset(got, 0x55, sizeof got);
    cr_assert_eq(pio_lseek(o->pfd, at, SEEK_SET), at);
    cr_assert_eq(pio_readv(o->pfd, iov, cut(iov, got, n)), expected, "%ld at %ld, end %ld", (long)n, (long)at,
                 (long)end);
    for (int64_t i = 0; i < expected; i++)
        cr_assert_eq(got[i], model[file_place(o, at + i)], "own byte %ld", (long)(at + i));
    cr_assert_eq(got[expected], 0x55, "no more than was asked for");
    cr_assert_eq(pio_lseek(o->pfd, 0, SEEK_END), end);
}

static void cut_both(const struct own *o, int64_t size)
{
    cr_assert_eq(pio_ftruncate(o->pfd, size), 0);
    if (size < model_bytes)
        memset(model + size, 0, (size_t)(model_bytes - size));
    model_bytes = size;
}

/* Own offsets whose places are within the model. */
static int64_t own_room(const struct own *o)
{
    int64_t y = 0;

    while (y < FILE_BYTES && file_place(o, y) < FILE_BYTES)
        y++;
    return y;
}

static void do_random_step(struct own *o)
{
    int64_t room = own_room(o), at = random_below(&state, (uint32_t)room + 1);
    int64_t n = random_below(&state, (uint32_t)(random_below(&state, 3) ? 60 : FILE_BYTES));

    if (n > room - at)
        n = room - at;
    switch (random_below(&state, 8)) {
    case 0:
        cut_both(o, random_below(&state, FILE_BYTES));
        break;
    case 1:
    case 2:
    case 3:
        write_both(o, at, n);
        break;
    default:
        read_both(o, at, n);
    }
}

/* The layout of a new file: stripes, or a random pattern of volumes. */
static int open_random(void)
{
    static const char *const maps[] = {"array 12x10x2 block,cyclic(3) on 2x2", "array 9x11x1 *,cyclic(2) on 1x3",
                                       "(0,4,-,1)(5,19,-,1)"};
    struct pio_layout layout = {.buffers = 1 + (int)random_below(&state, 3)};

    layout.block_size = 1 + (int)random_below(&state, 90);
    if (random_below(&state, 3) == 0)
        layout.map = maps[random_below(&state, 3)];
    else
        layout.disks = 1 + (int)random_below(&state, FAKE_VOLUMES);
    return pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
}

static void open_views(struct own *own, const struct pattern *p)
{
    for (int i = 0; i < OPEN_MAX; i++) {
        int element = (int)random_below(&state, (uint32_t)p->elements);

        own[i] = (struct own){.pfd = i == 0 ? open_random() : pio_open("//df00/f", O_RDWR)};
        cr_assert_geq(own[i].pfd, 0, "%d: %s at %s", i, strerror(errno), pio_failed_path());
        if (i == 0 || p->element[element].bytes == 0)
            continue;
        cr_assert_eq(set_view(own[i].pfd, p, element), 0, "%s at %s", strerror(errno), pio_failed_path());
        own[i].pattern = p;
        own[i].element = element;
    }
}

Test(view, is_a_file_of_its_own)
{
    for (int seed = 0; seed < 300; seed++) {
        struct own own[OPEN_MAX];

        set_up();
        state = (uint64_t)seed + 1;
        struct pattern *p = random_pattern(&state, 200, true);
        open_views(own, p);
        for (int step = 0; step < 40; step++)
            do_random_step(&own[random_below(&state, OPEN_MAX)]);
        for (int i = 0; i < OPEN_MAX; i++) {
            read_both(&own[i], 0, own_room(&own[i]));
            cr_assert_eq(pio_close(own[i].pfd), 0);
        }
        pattern_free(p);
        cr_assert_eq(fake_counts()->open_files, 0);
    }
}

/* The program's pattern is the disks': each node has a volume of its own, and writes the subfile as it is. */
Test(view, of_the_disks_own_pattern_meets_one_volume)
{
    const struct pio_layout layout = {.disks = 4, .block_size = 64};
    char buf[640], subfile[640];
    struct pattern *p;

    cr_assert_eq(pattern_stripe(64, 4, &p), 0);
    int pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
    cr_assert_eq(set_view(pfd, p, 2), 0);
    memset(buf, 7, sizeof buf);
    cr_assert_eq(pio_write(pfd, buf, sizeof buf), sizeof buf);
    cr_expect_eq(fake_counts()->requests, 10);
    cr_expect_eq(fake_counts()->volume_requests[2], 10);
    cr_assert_eq(fake_get_file("//df02/f", subfile, sizeof subfile), sizeof subfile);
    cr_expect_eq(memcmp(buf, subfile, sizeof buf), 0);
    pattern_free(p);
    pio_close(pfd);
}

Test(view, is_told_to_the_servers_at_the_same_time)
{
    for (int disks = 1; disks <= FAKE_VOLUMES; disks++) {
        const struct pio_layout layout = {.disks = disks, .block_size = 7};
        char buf[1000], back[1000];
        struct pattern *p;

        set_up();
        cr_assert_eq(pattern_stripe(10, 3, &p), 0);
        int pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
        fake_counts()->rounds = 0;
        cr_assert_eq(set_view(pfd, p, 1), 0);
        cr_expect_eq(fake_counts()->rounds, 1, "%d volumes: %d rounds", disks, fake_counts()->rounds);
        memset(buf, disks, sizeof buf);
        cr_assert_eq(pio_write(pfd, buf, sizeof buf), sizeof buf);
        cr_assert_eq(pio_pread(pfd, back, sizeof back, 0), sizeof back);
        cr_expect_eq(memcmp(buf, back, sizeof buf), 0, "%d volumes", disks);
        pattern_free(p);
        pio_close(pfd);
    }
}

Test(view, many_runs_are_one_request)
{
    const struct pio_layout layout = {.disks = 4, .block_size = 1024};
    char buf[1024];
    struct pattern *p;

    cr_assert_eq(pattern_stripe(1, 4, &p), 0);
    int pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
    cr_assert_eq(set_view(pfd, p, 1), 0);
    memset(buf, 7, sizeof buf);
    cr_assert_eq(pio_write(pfd, buf, sizeof buf), sizeof buf);
    cr_expect_eq(fake_counts()->requests, 4, "%d requests", fake_counts()->requests);
    cr_assert_eq(pio_setview(pfd, NULL, 0), 0);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_END), 4094);
    pattern_free(p);
    pio_close(pfd);
}

Test(view, that_fails_leaves_the_file)
{
    const struct pio_layout layout = {.disks = 2, .block_size = 16};
    char buf[100] = "x";
    struct pattern *p;

    cr_assert_eq(pattern_stripe(10, 3, &p), 0);
    int pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
    cr_assert_eq(set_view(pfd, p, 1), 0);
    fake_refuse_views(-E2BIG);
    cr_expect_eq(set_view(pfd, p, 2), -1);
    cr_expect_eq(errno, E2BIG);
    cr_assert_eq(pio_write(pfd, buf, sizeof buf), sizeof buf);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_END), 100, "the file itself");
    cr_expect_eq(pio_setview(pfd, "nonsense", 8), -1);
    cr_expect_eq(errno, EINVAL);
    cr_expect_eq(pio_setview(77, NULL, 0), -1);
    cr_expect_eq(errno, EBADF);
    pio_close(pfd);
    pfd = pio_open("//df00/f", O_RDWR | O_APPEND);
    fake_refuse_views(0);
    cr_expect_eq(set_view(pfd, p, 0), -1);
    cr_expect_eq(errno, EINVAL);
    pio_close(pfd);
    pattern_free(p);
}

/* A failed write returns the element's bytes before the first that was not written, and cuts nothing. */
Test(view, counts_own_bytes_before_a_gap)
{
    const struct pio_layout layout = {.disks = 2, .block_size = 16, .buffers = 2};
    char buf[160];
    struct pattern *p;

    cr_assert_eq(pattern_stripe(8, 2, &p), 0);
    int pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &layout);
    cr_assert_eq(set_view(pfd, p, 1), 0);
    memset(buf, 7, sizeof buf);
    fake_fail_request(1, 1, -EIO); /* own bytes 40 .. 47, 56 .. 63 */
    cr_expect_eq(pio_write(pfd, buf, sizeof buf), 40);
    fake_fail_request(1, 0, -EIO);
    cr_expect_eq(pio_write(pfd, buf, sizeof buf), -1);
    cr_expect_eq(errno, EIO);
    pio_close(pfd);
    pattern_free(p);
}
