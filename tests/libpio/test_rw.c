/* Reading and writing PIO files: any order of answers, limits of what is under way, and failures at any time. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/map.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"
#include "tests/libpio/random_pattern.h"

#define MODEL_BYTES 4096

/* ---- Orders of acknowledgements ----------------------------------------------------------------
 * All of them, one after the other: choice[i] of options[i] at the i-th wait, counted like a number. */

#define WAITS_MAX 64

static int choice[WAITS_MAX], options_at[WAITS_MAX], waits;

static int choose_counting(int options)
{
    if (waits == WAITS_MAX)
        abort();
    options_at[waits] = options;
    return choice[waits++];
}

static void first_order(void)
{
    memset(choice, 0, sizeof choice);
    waits = 0;
}

/* Goes to the next order; false after the last. The waits of the last run say how many choices there were. */
static bool next_order(void)
{
    int i = waits - 1;

    while (i >= 0 && choice[i] + 1 == options_at[i])
        choice[i--] = 0;
    waits = 0;
    if (i < 0)
        return false;
    choice[i]++;
    return true;
}

static uint64_t random_state;

static int choose_last(int options)
{
    return options - 1;
}

/* ---- Files ---------------------------------------------------------------------------------------- */

static char pattern[MODEL_BYTES];

static void set_up(void)
{
    fake_reset();
    for (int i = 0; i < MODEL_BYTES; i++)
        pattern[i] = 1 + (i * 7 + i / 251) % 255;
}

TestSuite(rw, .init = set_up);

static int open_file(int flags, int disks, int block, int buffers)
{
    struct pio_layout layout = {disks, block, buffers, NULL, NULL};
    int pfd = pio_open_layout("/f", flags, 0644, &layout);

    cr_assert(pfd >= 0, "open: %s at %s", strerror(errno), pio_failed_path());
    return pfd;
}

/* Puts the file together from its subfiles by the striping rule, as a program that knows no libpio would. */
static int64_t collect(int disks, int block, char *bytes, size_t n)
{
    char subfile[MODEL_BYTES], path[32];
    int64_t end = 0;

    memset(bytes, 0, n);
    for (int k = 0; k < disks; k++) {
        snprintf(path, sizeof path, "//df%02d/f", k);
        int64_t size = fake_get_file(path, subfile, sizeof subfile);
        for (int64_t i = 0; i < size; i++) {
            int64_t at = (i / block * disks + k) * block + i % block;

            bytes[at] = subfile[i];
            if (at >= end)
                end = at + 1;
        }
    }
    return end;
}

static int64_t file_size(int pfd)
{
    struct stat st;

    cr_assert_eq(pio_fstat(pfd, &st), 0);
    return st.st_size;
}

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

/* ---- Failures -------------------------------------------------------------------------------------------------- */

/* Blocks of 4 bytes on 3 volumes, the transfer from offset 2: the nth request to a volume fails, in every order. */
static int expected_count(int volume, int nth)
{
    int block = volume + 3 * nth;

    return block == 0 ? 0 : block * 4 - 2;
}

static void fail_write_in_every_order(int volume, int nth)
{
    char got[MODEL_BYTES];
    int expected = expected_count(volume, nth);

    fake_reset();
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);
    first_order();
    do {
        fake_set_chooser(choose_counting);
        pio_lseek(pfd, 2, SEEK_SET);
        fake_fail_request(volume, nth, -EIO);
        int done = pio_write(pfd, pattern, 27);
        cr_assert_eq(done, expected ? expected : -1, "volume %d request %d: %d", volume, nth, done);
        cr_assert(done >= 0 || errno == EIO);
        cr_assert_eq(pio_lseek(pfd, 0, SEEK_CUR), 2 + expected, "offset");
        cr_assert_eq(fake_counts()->in_flight, 0, "all acknowledgements are taken");
        int64_t end = collect(3, 4, got, sizeof got);
        cr_assert(end == 2 + expected || (expected == 0 && end == 0), "no byte after the gap");
        cr_assert_arr_eq(got + 2, pattern, expected, "what is said to be written is");
        fake_set_chooser(choose_last);
        cr_assert_eq(pio_write(pfd, pattern + expected, 27 - expected), 27 - expected, "it can go on");
        collect(3, 4, got, sizeof got);
        cr_assert_arr_eq(got + 2, pattern, 27);
        pio_ftruncate(pfd, 0);
    } while (next_order());
    pio_close(pfd);
}

static void fail_read_in_every_order(int volume, int nth)
{
    char got[MODEL_BYTES];
    int expected = expected_count(volume, nth);

    fake_reset();
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);
    pio_write(pfd, pattern, 29);
    first_order();
    do {
        fake_set_chooser(choose_counting);
        pio_lseek(pfd, 2, SEEK_SET);
        fake_fail_request(volume, nth, -EIO);
        int done = pio_read(pfd, got, 27);
        cr_assert_eq(done, expected ? expected : -1, "volume %d request %d: %d", volume, nth, done);
        cr_assert(done >= 0 || errno == EIO);
        cr_assert_eq(pio_lseek(pfd, 0, SEEK_CUR), 2 + expected, "offset");
        cr_assert_eq(fake_counts()->in_flight, 0, "all acknowledgements are taken");
        cr_assert_arr_eq(got, pattern + 2, expected);
    } while (next_order());
    pio_close(pfd);
}

Test(rw, returns_what_lies_before_a_failure_at_any_volume_and_time)
{
    static const int requests_of_volume[] = {3, 3, 2};

    for (int volume = 0; volume < 3; volume++)
        for (int nth = 0; nth < requests_of_volume[volume]; nth++) {
            fail_write_in_every_order(volume, nth);
            fail_read_in_every_order(volume, nth);
        }
}

Test(rw, takes_the_lowest_of_several_failures)
{
    int pfd = open_file(O_RDWR | O_CREAT, 4, 4, 2);

    fake_set_chooser(choose_last); /* the higher failure is known first */
    fake_fail_request(3, 1, -EIO);
    fake_fail_request(1, 1, -EROFS);
    cr_expect_eq(pio_write(pfd, pattern, 100), 5 * 4);
    cr_expect_str_eq(pio_failed_path(), "//df01/f");
    fake_fail_request(1, 0, -EROFS);
    cr_expect_eq(pio_write(pfd, pattern + 20, 80), -1);
    cr_expect_eq(errno, EROFS);
}

/* More bytes than were asked for would lie behind the caller's buffer. */
Test(rw, takes_no_more_bytes_than_it_has_asked_for)
{
    int pfd = open_file(O_RDWR | O_CREAT, 4, 4, 2);
    char read[104];

    cr_expect_eq(pio_write(pfd, pattern, 100), 100);
    fake_fail_request(1, 1, 4 + 1);
    pio_lseek(pfd, 0, SEEK_SET);
    cr_expect_eq(pio_write(pfd, pattern, 100), 5 * 4);
    fake_fail_request(1, 0, 4 + 1);
    cr_expect(pio_write(pfd, pattern + 20, 80) == -1 && errno == EPROTO);
    memset(read, '?', sizeof read);
    fake_fail_request(0, 6, 4 + 1); /* the last block */
    pio_lseek(pfd, 0, SEEK_SET);
    cr_expect_eq(pio_read(pfd, read, 100), 96);
    cr_expect(read[96] == '?' && read[100] == '?');
}

Test(rw, stops_where_a_request_cannot_be_issued)
{
    for (int nth = 0; nth < 6; nth++) {
        fake_reset();
        int pfd = open_file(O_RDWR | O_CREAT, 4, 4, 2);
        fake_refuse_request(2, nth, -ENOMEM);
        int expected = (2 + 4 * nth) * 4;
        cr_expect_eq(pio_write(pfd, pattern, 100), expected, "request %d", nth);
        cr_expect_eq(file_size(pfd), expected, "request %d", nth);
        cr_expect_eq(fake_counts()->in_flight, 0);
        pio_close(pfd);
    }
}

Test(rw, writes_what_fits_on_a_full_volume_then_says_so)
{
    for (int volume = 0; volume < 3; volume++) {
        char got[MODEL_BYTES];

        fake_reset();
        fake_answer_randomly(&random_state);
        int pfd = open_file(O_RDWR | O_CREAT, 3, 16, 2);
        for (int k = 0; k < 3; k++) /* room for 39 bytes of data on one, much on the others */
            fake_set_capacity(k, k == volume ? 39 + (int)fake_get_file("//df00/f.pio", got, 1) : 100000);
        int expected = (2 * 3 + volume) * 16 + 7; /* two blocks and seven bytes */
        cr_expect_eq(pio_write(pfd, pattern, 400), expected, "volume %d is full", volume);
        cr_expect_eq(file_size(pfd), expected);
        cr_expect_eq(pio_write(pfd, pattern + expected, 400 - expected), -1);
        cr_expect_eq(errno, ENOSPC);
        cr_expect_eq(file_size(pfd), expected, "the failed write adds nothing");
        cr_expect_eq(pio_failed_path()[5], '0' + volume, "%s", pio_failed_path());
        pio_lseek(pfd, 0, SEEK_SET);
        cr_expect_eq(pio_read(pfd, got, 400), expected);
        cr_expect_arr_eq(got, pattern, expected, "nothing is lost");
        pio_close(pfd);
    }
}

/* Of three volumes with blocks of 16 bytes, one takes files of 39 bytes: two blocks and seven bytes. */
Test(rw, writes_what_fits_below_the_largest_subfile)
{
    for (int volume = 0; volume < 3; volume++)
        for (int from = 0; from <= 96; from += 24) {
            char got[MODEL_BYTES];
            int end = (2 * 3 + volume) * 16 + 7;

            fake_reset();
            fake_answer_randomly(&random_state);
            int pfd = open_file(O_RDWR | O_CREAT, 3, 16, 2);
            fake_set_largest(volume, 39); /* a PIO file's description is longer */
            cr_expect_eq(pio_pwrite(pfd, pattern + from, 400 - from, from), end - from, "volume %d", volume);
            cr_expect_eq(file_size(pfd), end);
            cr_expect_eq(pio_pwrite(pfd, pattern, 5, end), -1);
            cr_expect_eq(errno, EFBIG, "%s", strerror(errno));
            cr_expect_eq(pio_failed_path()[5], '0' + volume, "%s", pio_failed_path());
            cr_expect_eq(file_size(pfd), end, "the failed write adds nothing");
            cr_expect_eq(pio_pread(pfd, got, sizeof got, from), end - from);
            cr_expect_arr_eq(got, pattern + from, end - from);
            pio_close(pfd);
        }
}

/* No server has files of such a size: what is asked of it is what fits. */
Test(rw, asks_for_what_fits_below_the_highest_offset)
{
    int pfd = open_file(O_RDWR | O_CREAT, 1, 4096, 2);

    cr_expect_eq(pio_pwrite(pfd, pattern, 400, PIO_OFFSET_MAX - 3), -1);
    cr_expect_eq(errno, EFBIG);
    cr_expect_eq(fake_counts()->requests, 1);
    cr_expect_eq(pio_pwrite(pfd, pattern, 400, PIO_OFFSET_MAX), -1);
    cr_expect_eq(errno, EFBIG);
    cr_expect_eq(fake_counts()->requests, 1, "a request for nothing");
    cr_expect_eq(file_size(pfd), 0);
    pio_close(pfd);
}

Test(rw, leaves_what_was_there_when_overwriting_fails)
{
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);

    pio_write(pfd, pattern, 60);
    pio_lseek(pfd, 0, SEEK_SET);
    fake_fail_request(1, 2, -EIO);
    cr_expect_eq(pio_write(pfd, pattern, 60), 28);
    cr_expect_eq(file_size(pfd), 60);
}

Test(rw, leaves_what_others_wrote_behind_a_gap)
{
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);
    int other = open_file(O_RDWR, 3, 4, 2);
    char got[64];

    pio_lseek(other, 120, SEEK_SET);
    pio_write(other, pattern, 60);
    fake_set_chooser(choose_last); /* volume 2 gets far before the failure is known */
    fake_fail_request(1, 2, -EIO);
    cr_expect_eq(pio_write(pfd, pattern, 60), 28);
    cr_expect_eq(file_size(pfd), 180);
    pio_lseek(pfd, 120, SEEK_SET);
    cr_expect_eq(pio_read(pfd, got, 60), 60);
    cr_expect_arr_eq(got, pattern, 60);
}

static int others_pfd;
static bool extended;

static void extend_meanwhile(void)
{
    extended = true;
    cr_assert_eq(pio_pwrite(others_pfd, pattern, 60, 120), 60);
}

/* Another node makes the file longer while the subfiles are cut. */
Test(rw, leaves_what_others_write_while_it_cuts_after_a_gap)
{
    for (int at = 0; at < 4; at++) {
        char got[64];

        fake_reset();
        extended = false;
        int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);
        others_pfd = open_file(O_RDWR, 3, 4, 2);
        fake_set_chooser(choose_last);
        fake_fail_request(1, 2, -EIO);
        fake_at_call(at, extend_meanwhile);
        cr_expect_eq(pio_write(pfd, pattern, 60), 28);
        fake_at_call(-1, extend_meanwhile);
        if (!extended)
            break; /* it made fewer calls */
        cr_expect_eq(file_size(pfd), 180, "at call %d: %ld bytes", at, (long)file_size(pfd));
        cr_expect_eq(pio_pread(pfd, got, 60, 120), 60);
        cr_expect_arr_eq(got, pattern, 60, "at call %d", at);
        pio_close(others_pfd);
        pio_close(pfd);
    }
}

Test(rw, leaves_what_others_have_written_below_a_write_that_fails)
{
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);
    int other = open_file(O_RDWR, 3, 4, 2);
    char got[64];

    cr_expect_eq(pio_write(other, pattern, 24), 24);
    fake_fail_request(0, 0, -EIO);
    cr_expect(pio_pwrite(pfd, pattern, 60, 24) == -1 && errno == EIO, "the first block fails, others do not");
    cr_expect_eq(file_size(pfd), 24);
    cr_expect_eq(pio_pread(pfd, got, 64, 0), 24);
    cr_expect_arr_eq(got, pattern, 24);
}

Test(rw, gives_up_when_acknowledgements_are_lost)
{
    char got[64];
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);

    fake_lose_messages(3);
    cr_expect_eq(pio_write(pfd, pattern, 60), -1);
    cr_expect_eq(errno, EIO);
    cr_expect_eq(pio_read(pfd, got, 10), -1, "a late acknowledgement would be taken for another");
    cr_expect_eq(errno, EIO);
    cr_expect_eq(pio_close(pfd), 0);
}

Test(rw, refuses_what_the_descriptor_is_not_for)
{
    char got[8];
    int reader = (pio_close(open_file(O_RDWR | O_CREAT, 3, 4, 2)), open_file(O_RDONLY, 3, 4, 2));
    int writer = open_file(O_WRONLY, 3, 4, 2);

    cr_expect(pio_write(reader, "x", 1) == -1 && errno == EBADF, "write to a reader");
    cr_expect(pio_read(writer, got, 1) == -1 && errno == EBADF, "read from a writer");
    cr_expect(pio_read(99, got, 1) == -1 && errno == EBADF, "no such descriptor");
    cr_expect(pio_write(-1, got, 1) == -1 && errno == EBADF, "negative descriptor");
    cr_expect(pio_read(reader, got, (size_t)1 << 63) == -1 && errno == EINVAL, "absurd length");
    cr_expect_eq(pio_write(writer, "x", 0), 0, "nothing to write");
    cr_expect_eq(pio_read(reader, got, 0), 0, "nothing to read");
    pio_lseek(writer, PIO_OFFSET_MAX, SEEK_SET);
    cr_expect(pio_write(writer, "abc", 3) == -1 && errno == EFBIG, "beyond the highest offset");
}
