/* Transfers that are started and ended by two calls: their names, limits, and failures that stay with them. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"

static char source[200], got[200];

static void set_up(void)
{
    fake_reset();
    for (int i = 0; i < (int)sizeof source; i++)
        source[i] = (char)(1 + i);
    memset(got, 0, sizeof got);
}

TestSuite(starts, .init = set_up);

static int open_file(const char *name, int flags)
{
    struct pio_layout layout = {.disks = 2, .block_size = 4, .buffers = 1};
    int pfd = pio_open_layout(name, flags, 0644, &layout);

    cr_assert(pfd >= 0, "%s: %s", name, strerror(errno));
    return pfd;
}

static int open_filled(const char *name)
{
    int pfd = open_file(name, O_RDWR | O_CREAT);

    cr_assert_eq(pio_pwrite(pfd, source, 100, 0), 100);
    return pfd;
}

static void expect_error(ssize_t result, int error, const char *what)
{
    cr_expect(result == -1 && errno == error, "%s: %zd, %s", what, result, strerror(errno));
}

Test(starts, return_before_the_blocks_beyond_the_first_rounds_are_asked_for)
{
    int pfd = open_file("/f", O_RDWR | O_CREAT);
    int id = pio_iwrite(pfd, source, 100);

    cr_expect_eq(fake_counts()->in_flight, 2, "D * C");
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_CUR), 100);
    cr_expect_eq(pio_iowait(id), 100);
    cr_expect_eq(pio_pread(pfd, got, 100, 0), 100);
    cr_expect_arr_eq(got, source, 100);
}

Test(starts, are_served_while_another_file_is_waited_for)
{
    int a = open_filled("/a"), b = open_filled("/b");
    int before = fake_counts()->requests;
    int id = pio_ipread(a, got, 100, 0);

    cr_expect_eq(pio_pwrite(b, source, 100, 50), 100);
    cr_expect_gt(fake_counts()->requests - before, 2 + 26, "not just the first two of the read");
    cr_expect_eq(pio_iowait(id), 100);
    cr_expect_arr_eq(got, source, 100);
}

Test(starts, without_a_name_are_ended_in_reverse_order)
{
    int a = open_filled("/a"), b = open_filled("/b");

    cr_expect_eq(pio_readstart(a, 10), 0);
    cr_expect_eq(pio_readstart(b, 7), 0);
    cr_expect_eq(pio_readstart(a, 20), 0);
    int id = pio_iread(a, got + 100, 5);
    cr_expect_eq(pio_writestart(a, source, 3), 0);
    cr_expect_eq(pio_readend(a, got), 20, "the latest that has no id and reads");
    cr_expect_arr_eq(got, source + 10, 20);
    cr_expect_eq(pio_readend(a, got), 10);
    cr_expect_arr_eq(got, source, 10);
    expect_error(pio_readend(a, got), EINVAL, "a third readend");
    expect_error(pio_writeend(b), EINVAL, "a writeend without a start");
    expect_error(pio_writeend(7), EBADF, "a file that is not open");
    cr_expect_eq(pio_readend(b, got), 7);
    cr_expect_eq(pio_writeend(a), 3);
    cr_expect_eq(pio_iowait(id), 5);
    cr_expect_arr_eq(got + 100, source + 30, 5);
}

Test(starts, have_ids_that_are_not_used_again_at_once)
{
    int pfd = open_filled("/a");
    int id = pio_ipread(pfd, got, 4, 0);

    cr_expect_eq(pio_iowait(id), 4);
    expect_error(pio_iowait(id), EINVAL, "an id of before");
    int next = pio_ipread(pfd, got, 4, 0);
    cr_expect_neq(next, id);
    expect_error(pio_iowait(id), EINVAL, "an id of before, with another transfer under way");
    expect_error(pio_iodone(id), EINVAL, "the same");
    expect_error(pio_iowait(-1), EINVAL, "no id");
    expect_error(pio_iowait(PIO_STARTS_MAX - 1), EINVAL, "an id that never was");
    cr_expect_eq(pio_iowait(next), 4);
}

Test(starts, are_limited)
{
    int pfd = open_filled("/a"), id[PIO_STARTS_MAX];

    for (int i = 0; i < PIO_STARTS_MAX; i++) {
        id[i] = pio_ipread(pfd, got + 4 * i, 4, 3 * i);
        cr_assert_geq(id[i], 0, "%d", i);
    }
    expect_error(pio_ipread(pfd, got, 4, 0), EAGAIN, "one more");
    expect_error(pio_readstart(pfd, 4), EAGAIN, "one more without a name");
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_CUR), 0, "a start that failed does not move the offset");
    cr_expect_eq(pio_iowait(id[5]), 4);
    id[5] = pio_ipread(pfd, got, 4, 0);
    cr_expect_geq(id[5], 0, "there is room again");
    for (int i = 0; i < PIO_STARTS_MAX; i++)
        cr_expect_eq(pio_iowait(id[i]), 4);
}

Test(starts, keep_their_own_failures)
{
    int a = open_filled("/a"), b = open_filled("/b");

    fake_fail_request(1, 0, -EIO);
    int first = pio_ipread(a, got, 3, 4), second = pio_ipread(b, got + 50, 12, 0), third = pio_ipread(a, got, 20, 20);
    cr_expect_eq(pio_iowait(second), 12);
    cr_expect_arr_eq(got + 50, source, 12);
    cr_expect_eq(pio_iowait(third), 20);
    expect_error(pio_iowait(first), EIO, "the one that failed");
    cr_expect_str_eq(pio_failed_path(), "//df01/a");
}

Test(starts, that_came_short_take_the_offset_back_when_the_last_has_ended)
{
    int pfd = open_filled("/a");

    pio_lseek(pfd, 90, SEEK_SET);
    int first = pio_iread(pfd, got, 20), second = pio_iread(pfd, got, 20);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_CUR), 130);
    cr_expect_eq(pio_iowait(second), 0);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_CUR), 130);
    cr_expect_eq(pio_iowait(first), 10);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_CUR), 100);
}

Test(starts, append_one_after_the_other)
{
    open_filled("/a");
    int pfd = open_file("/a", O_RDWR | O_APPEND);
    int first = pio_iwrite(pfd, source, 30), second = pio_iwrite(pfd, source + 30, 10);

    cr_expect_eq(pio_write(pfd, source + 40, 5), 5);
    cr_expect_eq(pio_iowait(second), 10);
    cr_expect_eq(pio_iowait(first), 30);
    cr_expect_eq(pio_pread(pfd, got, 200, 100), 45);
    cr_expect_arr_eq(got, source, 45);
}

Test(starts, end_with_the_descriptor_which_reports_a_failed_write)
{
    int a = open_filled("/a"), b = open_filled("/b");

    int id = pio_ipwrite(b, source, 100, 0);
    fake_fail_request(0, 2, -EIO);
    cr_expect_eq(pio_writestart(a, source, 100), 0);
    expect_error(pio_close(a), EIO, "close");
    cr_expect_str_eq(pio_failed_path(), "//df00/a");
    expect_error(pio_writeend(a), EBADF, "closed");
    cr_expect_eq(pio_iowait(id), 100, "another file's");
    id = pio_ipread(b, got, 100, 0);
    cr_expect_eq(pio_close(b), 0);
    expect_error(pio_iowait(id), EINVAL, "ended by close");
    cr_expect_eq(fake_counts()->open_files, 0);
    cr_expect_eq(fake_counts()->in_flight, 0);
}

Test(starts, are_waited_for_by_calls_about_the_whole_file)
{
    int pfd = open_file("/f", O_RDWR | O_CREAT);
    struct stat st;

    int id = pio_iwrite(pfd, source, 90);
    cr_expect_eq(pio_fstat(pfd, &st), 0);
    cr_expect_eq(st.st_size, 90);
    cr_expect_eq(pio_iodone(id), 1);
    int second = pio_iwrite(pfd, source, 90);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_END), 180);
    cr_expect_eq(pio_iowait(id) + pio_iowait(second), 180);
    id = pio_ipwrite(pfd, source, 90, 0);
    cr_expect_eq(pio_ftruncate(pfd, 10), 0);
    cr_expect_eq(pio_iowait(id), 90);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_END), 10);
    id = pio_ipwrite(pfd, source, 90, 0);
    cr_expect_eq(pio_fsync(pfd), 0);
    cr_expect_eq(fake_counts()->in_flight, 0);
    expect_error(pio_setview(pfd, NULL, 0), EBUSY, "a view, with a transfer to be ended");
    cr_expect_eq(pio_iowait(id), 90);
    cr_expect_eq(pio_setview(pfd, NULL, 0), 0);
}

Test(starts, of_nothing_and_of_wrong_arguments)
{
    int pfd = open_filled("/a"), only_read = open_file("/a", O_RDONLY);

    cr_expect_eq(pio_iowait(pio_iread(pfd, got, 0)), 0);
    cr_expect_eq(pio_iowait(pio_iwrite(pfd, source, 0)), 0);
    cr_expect_eq(pio_readstart(pfd, 0), 0);
    cr_expect_eq(pio_readend(pfd, got), 0);
    expect_error(pio_iwrite(only_read, source, 4), EBADF, "a file open for reading");
    expect_error(pio_iread(9, got, 4), EBADF, "no file");
    expect_error(pio_ipread(pfd, got, 4, -1), EINVAL, "an offset below 0");
    expect_error(pio_iread(pfd, got, ((size_t)1 << 62) + 1), EINVAL, "beyond any file");
    expect_error(pio_ipwrite(pfd, source, 4, ((off_t)1 << 62) - 1), EFBIG, "beyond the highest offset");
}

Test(starts, all_fail_when_acknowledgements_are_lost)
{
    int a = open_filled("/a"), b = open_filled("/b");
    int first = pio_ipread(a, got, 50, 0), second = pio_ipread(b, got, 50, 0);

    fake_lose_messages(1);
    expect_error(pio_iowait(second), EIO, "the one waited for");
    expect_error(pio_iowait(first), EIO, "the other one");
    expect_error(pio_iread(a, got, 4), EIO, "one more");
    expect_error(pio_iodone(first), EINVAL, "an ended one");
    cr_expect_eq(pio_close(a), 0);
}
