/* Reading and writing PIO files: any order of answers, and limits of what is under way. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/map.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"
#include "tests/libpio/random_pattern.h"
#include "tests/libpio/rw_files.h"

TestSuite(rw, .init = set_up);

static uint64_t random_state;

/* ---- Figure 5 --------------------------------------------------------------------------------------- */

struct transfer_case {
    const char *name;
    int disks, block, buffers;
    int offset, bytes;
};

static const struct transfer_case transfer_cases[] = {
    {"one block", 3, 4, 2, 0, 4},
    {"less than a block", 3, 4, 2, 0, 3},
    {"one byte at a block's end", 3, 4, 1, 3, 1},
    {"two bytes over a block's end", 3, 4, 1, 3, 2},
    {"unaligned start and end, one buffer", 3, 4, 1, 2, 27},
    {"unaligned start and end, two buffers", 3, 4, 2, 2, 27},
    {"unaligned start on the last volume", 3, 4, 2, 11, 20},
    {"exactly one stripe", 3, 4, 1, 0, 12},
    {"exactly C stripes", 2, 4, 2, 0, 16},
    {"a stripe and a byte", 2, 4, 1, 0, 9},
    {"more buffers than blocks", 2, 4, 9, 1, 20},
    {"one volume", 1, 4, 2, 5, 30},
    {"blocks of one byte", 3, 1, 1, 1, 8},
};

static void write_in_every_order(const struct transfer_case *c)
{
    char got[MODEL_BYTES], expected[MODEL_BYTES] = {0};

    memcpy(expected + c->offset, pattern, c->bytes);
    first_order();
    do {
        fake_reset();
        fake_set_chooser(choose_counting);
        int pfd = open_file(O_RDWR | O_CREAT, c->disks, c->block, c->buffers);
        pio_lseek(pfd, c->offset, SEEK_SET);
        cr_assert_eq(pio_write(pfd, pattern, c->bytes), c->bytes, "%s", c->name);
        cr_assert_eq(pio_lseek(pfd, 0, SEEK_CUR), c->offset + c->bytes, "%s: offset", c->name);
        cr_assert_eq(collect(c->disks, c->block, got, sizeof got), c->offset + c->bytes, "%s: size", c->name);
        cr_assert_arr_eq(got, expected, sizeof got, "%s: bytes on the volumes", c->name);
        cr_assert_eq(fake_counts()->in_flight, 0, "%s", c->name);
        pio_close(pfd);
    } while (next_order());
}

static void read_in_every_order(const struct transfer_case *c)
{
    char got[MODEL_BYTES];

    fake_reset();
    int pfd = open_file(O_RDWR | O_CREAT, c->disks, c->block, c->buffers);
    cr_assert_eq(pio_write(pfd, pattern, 200), 200);
    first_order();
    do {
        fake_set_chooser(choose_counting);
        memset(got, 0, sizeof got);
        pio_lseek(pfd, c->offset, SEEK_SET);
        cr_assert_eq(pio_read(pfd, got, c->bytes), c->bytes, "%s", c->name);
        cr_assert_arr_eq(got, pattern + c->offset, c->bytes, "%s: bytes read", c->name);
        cr_assert_eq(got[c->bytes], 0, "%s: nothing after them", c->name);
        cr_assert_eq(pio_lseek(pfd, 0, SEEK_CUR), c->offset + c->bytes, "%s: offset", c->name);
    } while (next_order());
    pio_close(pfd);
}

Test(rw, moves_the_bytes_whatever_the_order_of_acknowledgements)
{
    for (size_t i = 0; i < sizeof transfer_cases / sizeof transfer_cases[0]; i++) {
        write_in_every_order(&transfer_cases[i]);
        read_in_every_order(&transfer_cases[i]);
    }
}

Test(rw, tells_volumes_on_one_io_node_apart_by_the_order_of_requests)
{
    char got[MODEL_BYTES];

    first_order();
    do {
        fake_reset();
        fake_set_node(0, 0x4007);
        fake_set_node(2, 0x4007);
        fake_set_chooser(choose_counting);
        int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);
        cr_assert_eq(pio_write(pfd, pattern, 30), 30);
        collect(3, 4, got, sizeof got);
        cr_assert_arr_eq(got, pattern, 30, "written");
        pio_lseek(pfd, 0, SEEK_SET);
        fake_set_chooser(choose_last);
        cr_assert_eq(pio_read(pfd, got, 30), 30);
        cr_assert_arr_eq(got, pattern, 30, "read");
        pio_close(pfd);
    } while (next_order());
}

/* ---- Double buffering --------------------------------------------------------------------------------- */

static struct pio_map watched_map;
static int watched_buffers, watched_start, watched_bytes, watched_before[FAKE_VOLUMES];

/* At every wait: each volume has C requests under way, or all that are left of its blocks. */
static int choose_and_check_in_flight(int options)
{
    const struct fake_counts *counts = fake_counts();
    int first = watched_start / watched_map.block_bytes;
    int last = (watched_start + watched_bytes - 1) / watched_map.block_bytes;

    for (int k = 0; k < watched_map.disks; k++) {
        int blocks = 0;

        for (int b = first; b <= last; b++)
            blocks += b % watched_map.disks == k;
        int answered = counts->volume_requests[k] - watched_before[k] - counts->volume_in_flight[k];
        int left = blocks - answered;
        int expected = left < watched_buffers ? left : watched_buffers;
        cr_assert_eq(counts->volume_in_flight[k], expected, "D=%d C=%d volume %d: %d under way, %d blocks left",
                     watched_map.disks, watched_buffers, k, counts->volume_in_flight[k], left);
    }
    return random_below(&random_state, options);
}

static void watch(int disks, int block, int buffers, int start, int bytes)
{
    watched_map = (struct pio_map){disks, block, NULL};
    watched_buffers = buffers;
    watched_start = start;
    watched_bytes = bytes;
    memcpy(watched_before, fake_counts()->volume_requests, sizeof watched_before);
    fake_counts()->max_in_flight = 0;
    fake_set_chooser(choose_and_check_in_flight);
}

Test(rw, keeps_exactly_c_requests_under_way_at_every_volume)
{
    random_state = 3;
    for (int disks = 1; disks <= FAKE_VOLUMES; disks++)
        for (int buffers = 1; buffers <= 4; buffers++) {
            char got[MODEL_BYTES];
            int start = random_below(&random_state, 100), bytes = 900 + random_below(&random_state, 100);

            fake_reset();
            int pfd = open_file(O_RDWR | O_CREAT, disks, 16, buffers);
            pio_lseek(pfd, start, SEEK_SET);
            watch(disks, 16, buffers, start, bytes);
            cr_assert_eq(pio_write(pfd, pattern, bytes), bytes);
            cr_assert_eq(fake_counts()->max_in_flight, disks * buffers, "D*C active messages");
            pio_lseek(pfd, start, SEEK_SET);
            watch(disks, 16, buffers, start, bytes);
            cr_assert_eq(pio_read(pfd, got, bytes), bytes);
            cr_assert_eq(fake_counts()->max_in_flight, disks * buffers, "D*C active messages");
            pio_close(pfd);
        }
}

Test(rw, costs_no_message_besides_its_blocks)
{
    char got[MODEL_BYTES];
    int pfd = open_file(O_RDWR | O_CREAT, 4, 16, 2);
    int calls = fake_counts()->calls;

    cr_expect_eq(pio_write(pfd, pattern, 20 * 16), 20 * 16);
    pio_lseek(pfd, 0, SEEK_SET);
    cr_expect_eq(pio_read(pfd, got, 20 * 16), 20 * 16);
    cr_expect_eq(fake_counts()->requests, 40);
    cr_expect_eq(fake_counts()->calls, calls);
}

/* ---- Against a plain array -------------------------------------------------------------------------------- */

static char model[MODEL_BYTES];
static int64_t model_bytes;

static void model_write(int64_t at, const char *bytes, int64_t n)
{
    if (n > 0) {
        memcpy(model + at, bytes, n);
        if (at + n > model_bytes)
            model_bytes = at + n;
    }
}

static void model_truncate(int64_t size)
{
    if (size < model_bytes)
        memset(model + size, 0, model_bytes - size);
    model_bytes = size;
}

static void check_read(int pfd, int64_t at, int64_t n)
{
    char got[MODEL_BYTES];
    int64_t expected = at >= model_bytes ? 0 : at + n > model_bytes ? model_bytes - at : n;

    memset(got, 0x55, sizeof got);
    cr_assert_eq(pio_lseek(pfd, at, SEEK_SET), at);
    int64_t done = pio_read(pfd, got, n);
    cr_assert_eq(done, expected, "read %ld at %ld of %ld: %ld", (long)n, (long)at, (long)model_bytes, (long)done);
    cr_assert_arr_eq(got, model + at, done, "bytes at %ld", (long)at);
    cr_assert_eq(got[done], 0x55, "the buffer after the end of the file is left alone");
}

static void check_write(int pfd, int64_t at, int64_t n)
{
    const char *bytes = pattern + random_below(&random_state, MODEL_BYTES - n);

    cr_assert_eq(pio_lseek(pfd, at, SEEK_SET), at);
    cr_assert_eq(pio_write(pfd, bytes, n), n);
    model_write(at, bytes, n);
}

static void do_random_step(int pfd)
{
    int64_t at = random_below(&random_state, random_below(&random_state, 4) ? 600 : 1500),
            n = random_below(&random_state, random_below(&random_state, 3) ? 60 : 600);

    switch (random_below(&random_state, 8)) {
    case 0:
        cr_assert_eq(pio_ftruncate(pfd, at), 0);
        model_truncate(at);
        break;
    case 1:
    case 2:
    case 3:
        check_write(pfd, at, n);
        break;
    default:
        check_read(pfd, at, n);
    }
    cr_assert_eq(file_size(pfd), model_bytes);
}

Test(rw, behaves_as_one_unix_file)
{
    char got[MODEL_BYTES];

    for (int seed = 0; seed < 150; seed++) {
        random_state = seed;
        int disks = 1 + random_below(&random_state, FAKE_VOLUMES), block = 1 + random_below(&random_state, 40),
            buffers = 1 + random_below(&random_state, 4);
        fake_reset();
        fake_answer_randomly(&random_state);
        if (random_below(&random_state, 2))
            fake_set_node(random_below(&random_state, FAKE_VOLUMES),
                          0x4000 + random_below(&random_state, FAKE_VOLUMES));
        memset(model, 0, sizeof model);
        model_bytes = 0;
        int pfd = open_file(O_RDWR | O_CREAT, disks, block, buffers);
        for (int step = 0; step < 60; step++)
            do_random_step(pfd);
        pio_close(pfd);
        cr_assert_eq(collect(disks, block, got, sizeof got), model_bytes, "seed %d", seed);
        cr_assert_arr_eq(got, model, sizeof got, "seed %d", seed);
        cr_assert_eq(fake_counts()->open_files, 0);
    }
}

/* ---- End of file and holes ------------------------------------------------------------------------------------ */

Test(rw, ends_on_any_volume)
{
    char got[64];

    for (int size = 0; size <= 40; size++)
        for (int buffers = 1; buffers <= 2; buffers++) {
            fake_reset();
            fake_set_chooser(choose_last);
            int pfd = open_file(O_RDWR | O_CREAT, 3, 4, buffers);
            cr_assert_eq(pio_write(pfd, pattern, size), size);
            pio_lseek(pfd, 0, SEEK_SET);
            cr_assert_eq(pio_read(pfd, got, sizeof got), size, "file of %d bytes", size);
            cr_assert_arr_eq(got, pattern, size);
            cr_assert_eq(pio_read(pfd, got, sizeof got), 0, "at the end");
            pio_lseek(pfd, 100, SEEK_CUR);
            cr_assert_eq(pio_read(pfd, got, sizeof got), 0, "beyond the end");
            pio_close(pfd);
        }
}

Test(rw, reads_zeros_where_a_subfile_is_short)
{
    char got[100], expected[100] = {0};

    /* bytes only in blocks 1 and 7: volume 0 is empty, volume 2 too, volume 1 has a hole within */
    int pfd = open_file(O_RDWR | O_CREAT, 3, 10, 2);
    pio_lseek(pfd, 12, SEEK_SET);
    pio_write(pfd, "abc", 3);
    pio_lseek(pfd, 75, SEEK_SET);
    pio_write(pfd, "xyz", 3);
    memcpy(expected + 12, "abc", 3);
    memcpy(expected + 75, "xyz", 3);
    pio_lseek(pfd, 0, SEEK_SET);
    memset(got, 0x55, sizeof got);
    cr_expect_eq(pio_read(pfd, got, sizeof got), 78);
    cr_expect_arr_eq(got, expected, 78);
    cr_expect_eq(got[78], 0x55);
}

Test(rw, does_not_ask_again_beyond_a_subfiles_end)
{
    char got[MODEL_BYTES];
    int pfd = open_file(O_RDWR | O_CREAT, 4, 16, 2);

    pio_write(pfd, pattern, 10);
    pio_lseek(pfd, 0, SEEK_SET);
    int requests = fake_counts()->requests;
    cr_expect_eq(pio_read(pfd, got, sizeof got), 10);
    cr_expect_eq(fake_counts()->requests, requests + 8, "the first rounds only");
}

Test(rw, ends_before_a_failure_that_lies_beyond_the_end)
{
    char got[64];
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);

    pio_write(pfd, pattern, 6);
    fake_fail_request(1, 0, -EIO);
    cr_expect_eq(pio_read(pfd, got, sizeof got), -1, "the rest of block 1 could not be read");
    fake_fail_request(2, 0, -EIO);
    cr_expect_eq(pio_read(pfd, got, sizeof got), 0, "block 2 does not exist");
    pio_lseek(pfd, 2, SEEK_SET);
    fake_fail_request(2, 0, -EIO);
    cr_expect_eq(pio_read(pfd, got, sizeof got), 4);
}

Test(rw, appends_at_the_end_that_others_made)
{
    char got[64];
    int appender = open_file(O_RDWR | O_CREAT | O_APPEND, 3, 4, 2);
    int other = open_file(O_RDWR, 3, 4, 1);

    cr_expect_eq(pio_write(other, pattern, 15), 15);
    cr_expect_eq(pio_write(appender, pattern + 15, 5), 5);
    cr_expect_eq(pio_lseek(appender, 0, SEEK_CUR), 20, "offset after the appended bytes");
    cr_expect_eq(pio_read(other, got, sizeof got), 5, "the other reads on");
    cr_expect_arr_eq(got, pattern + 15, 5);
    pio_lseek(appender, 2, SEEK_SET);
    cr_expect_eq(pio_read(appender, got, 3), 3, "reads where it was set");
    cr_expect_arr_eq(got, pattern + 2, 3);
    cr_expect_eq(pio_write(appender, pattern + 20, 40), 40, "several blocks of each volume");
    pio_lseek(other, 20, SEEK_SET);
    cr_expect_eq(pio_read(other, got, sizeof got), 40);
    cr_expect_arr_eq(got, pattern + 20, 40);
    pio_lseek(appender, 5, SEEK_SET);
    cr_expect_eq(pio_write(appender, pattern, 0), 0, "nothing to append");
    cr_expect_eq(pio_lseek(appender, 0, SEEK_CUR), 5, "and nothing moved");
}
