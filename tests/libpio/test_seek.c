#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "libpio/file/map.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"

static int pfd;

static void set_up(void)
{
    fake_reset();
    pfd = pio_open_layout("/f", O_RDWR | O_CREAT, 0644, &(struct pio_layout){3, 4, 2, NULL, NULL});
    cr_assert(pfd >= 0);
    cr_assert_eq(pio_write(pfd, "0123456789abcdefghijklmnopqrstuvwxyz", 30), 30);
}

TestSuite(seek, .init = set_up);
TestSuite(size, .init = set_up);

struct seek_case {
    const char *name;
    off_t from, offset;
    int whence;
    off_t result;
    int error;
};

static const struct seek_case seek_cases[] = {
    {"to a place", 30, 7, SEEK_SET, 7, 0},
    {"forward", 5, 7, SEEK_CUR, 12, 0},
    {"backward", 5, -5, SEEK_CUR, 0, 0},
    {"to the end", 5, 0, SEEK_END, 30, 0},
    {"before the end", 5, -30, SEEK_END, 0, 0},
    {"beyond the end", 5, 1000, SEEK_END, 1030, 0},
    {"before the start", 5, -6, SEEK_CUR, -1, EINVAL},
    {"before the start, from the end", 5, -31, SEEK_END, -1, EINVAL},
    {"to a negative place", 5, -1, SEEK_SET, -1, EINVAL},
    {"nowhere", 5, 0, 77, -1, EINVAL},
    {"to the highest offset", 5, PIO_OFFSET_MAX, SEEK_SET, PIO_OFFSET_MAX, 0},
    {"too far", 5, PIO_OFFSET_MAX, SEEK_CUR, -1, EOVERFLOW},
};

Test(seek, moves_as_lseek_does)
{
    for (size_t i = 0; i < sizeof seek_cases / sizeof seek_cases[0]; i++) {
        const struct seek_case *c = &seek_cases[i];

        pio_lseek(pfd, c->from, SEEK_SET);
        errno = 0;
        cr_expect_eq(pio_lseek(pfd, c->offset, c->whence), c->result, "%s", c->name);
        cr_expect_eq(errno, c->error, "%s", c->name);
        cr_expect_eq(pio_lseek(pfd, 0, SEEK_CUR), c->error ? c->from : c->result, "%s: where it is", c->name);
    }
    cr_expect(pio_lseek(17, 0, SEEK_SET) == -1 && errno == EBADF, "no descriptor");
}

Test(seek, sees_the_end_that_others_made)
{
    int other = pio_open("/f", O_WRONLY);

    pio_lseek(other, 50, SEEK_SET);
    pio_write(other, "x", 1);
    cr_expect_eq(pio_lseek(pfd, 0, SEEK_END), 51);
}

Test(size, is_one_files_status)
{
    struct stat st;

    cr_expect_eq(pio_fstat(pfd, &st), 0);
    cr_expect_eq(st.st_size, 30);
    cr_expect_eq(st.st_blksize, 12);
    cr_expect_eq(st.st_blocks, 3);
    cr_expect_eq(st.st_mtime, 1002, "the latest");
    cr_expect(S_ISREG(st.st_mode));
    cr_expect(pio_fstat(9, &st) == -1 && errno == EBADF);
}

Test(size, is_cut_and_grown_on_all_volumes)
{
    static const off_t sizes[] = {31, 30, 29, 13, 12, 11, 4, 1, 0, 5, 24, 100};
    struct stat st;
    char got[101];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        cr_expect_eq(pio_ftruncate(pfd, sizes[i]), 0);
        pio_fstat(pfd, &st);
        cr_expect_eq(st.st_size, sizes[i]);
        pio_lseek(pfd, 0, SEEK_SET);
        cr_expect_eq(pio_read(pfd, got, sizeof got), sizes[i], "size %d", (int)sizes[i]);
    }
    for (int i = 0; i < 100; i++)
        cr_expect_eq(got[i], 0, "byte %d was cut", i);
    cr_expect(pio_ftruncate(pfd, -1) == -1 && errno == EINVAL, "negative");
}

Test(size, of_a_reader_is_not_for_cutting)
{
    int reader = pio_open("/f", O_RDONLY);

    cr_expect(pio_ftruncate(reader, 0) == -1 && errno == EBADF);
}

Test(size, names_the_volume_that_does_not_answer)
{
    struct stat st;

    fake_fail_calls(2, -EIO);
    cr_expect(pio_fstat(pfd, &st) == -1 && errno == EIO);
    cr_expect_str_eq(pio_failed_path(), "//df02/f");
    cr_expect(pio_fsync(pfd) == -1 && errno == EIO);
    cr_expect(pio_lseek(pfd, 0, SEEK_END) == -1 && errno == EIO);
    cr_expect(pio_ftruncate(pfd, 3) == -1 && errno == EIO);
    fake_fail_calls(2, 0);
    cr_expect_eq(pio_fsync(pfd), 0);
    cr_expect_str_eq(pio_failed_path(), "");
}
