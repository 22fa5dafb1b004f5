/* Reading and writing PIO files: failures at any volume and time. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/map.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"
#include "tests/libpio/rw_files.h"

TestSuite(rw_failures, .init = set_up);

static uint64_t random_state;

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

Test(rw_failures, returns_what_lies_before_a_failure_at_any_volume_and_time)
{
    static const int requests_of_volume[] = {3, 3, 2};

    for (int volume = 0; volume < 3; volume++)
        for (int nth = 0; nth < requests_of_volume[volume]; nth++) {
            fail_write_in_every_order(volume, nth);
            fail_read_in_every_order(volume, nth);
        }
}

Test(rw_failures, takes_the_lowest_of_several_failures)
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
Test(rw_failures, takes_no_more_bytes_than_it_has_asked_for)
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

Test(rw_failures, stops_where_a_request_cannot_be_issued)
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

Test(rw_failures, writes_what_fits_on_a_full_volume_then_says_so)
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
Test(rw_failures, writes_what_fits_below_the_largest_subfile)
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
Test(rw_failures, asks_for_what_fits_below_the_highest_offset)
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

Test(rw_failures, leaves_what_was_there_when_overwriting_fails)
{
    int pfd = open_file(O_RDWR | O_CREAT, 3, 4, 2);

    pio_write(pfd, pattern, 60);
    pio_lseek(pfd, 0, SEEK_SET);
    fake_fail_request(1, 2, -EIO);
    cr_expect_eq(pio_write(pfd, pattern, 60), 28);
    cr_expect_eq(file_size(pfd), 60);
}

Test(rw_failures, leaves_what_others_wrote_behind_a_gap)
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
Test(rw_failures, leaves_what_others_write_while_it_cuts_after_a_gap)
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

Test(rw_failures, leaves_what_others_have_written_below_a_write_that_fails)
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

Test(rw_failures, gives_up_when_acknowledgements_are_lost)
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

Test(rw_failures, refuses_what_the_descriptor_is_not_for)
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
