/* Room for what is still to be written: failures, which random sequences do not reach. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"

#define BYTES   100
#define VOLUMES 3

static char bytes[BYTES];

static int open_file(const char *name, int flags)
{
    return pio_open_layout(name, flags, 0644, &(struct pio_layout){.disks = VOLUMES, .block_size = 4});
}

static void make(const char *name)
{
    int pfd = open_file(name, O_WRONLY | O_CREAT);

    cr_assert_eq(pio_write(pfd, bytes, BYTES), BYTES);
    cr_assert_eq(pio_close(pfd), 0);
}

static void set_up(void)
{
    fake_reset();
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)(1 + i);
    make("/f");
}

TestSuite(preallocate, .init = set_up);

static void expect_file(const char *name)
{
    char got[BYTES + 1];
    int pfd = open_file(name, O_RDONLY);

    cr_assert_geq(pfd, 0, "%s: %s at %s", name, strerror(errno), pio_failed_path());
    cr_assert_eq(pio_read(pfd, got, sizeof got), BYTES);
    cr_assert_arr_eq(got, bytes, BYTES);
    cr_assert_eq(pio_close(pfd), 0);
}

Test(preallocate, leaves_the_length_when_a_volume_is_full)
{
    struct stat st;
    int pfd = open_file("/f", O_RDWR);

    fake_set_capacity(1, 200);
    cr_assert(pio_preallocate(pfd, 0, 2000000) == -1 && errno == ENOSPC, "%s", strerror(errno));
    cr_assert_str_eq(pio_failed_path(), "//df01/f");
    cr_assert_eq(pio_fstat(pfd, &st), 0);
    cr_assert_eq(st.st_size, BYTES);
    cr_assert_eq(pio_close(pfd), 0);
    expect_file("/f");
}

Test(preallocate, writes_back_no_byte_that_it_could_not_read)
{
    char got[BYTES];
    int pfd = open_file("/f", O_RDWR);

    for (int nth = 0; nth < 30; nth++) {
        fake_fail_request(2, nth, -EIO);
        int result = pio_preallocate(pfd, 0, BYTES + 50); /* the request fails once, and may be made again */
        fake_fail_request(2, -1, 0);
        cr_assert(result == 0 || errno == EIO, "%s", strerror(errno));
        cr_assert_eq(pio_pread(pfd, got, BYTES, 0), BYTES);
        cr_assert_arr_eq(got, bytes, BYTES, "request %d", nth);
    }
    cr_assert_eq(pio_close(pfd), 0);
}

Test(preallocate, refuses)
{
    int pfd = open_file("/f", O_RDWR), reads = open_file("/f", O_RDONLY), writes = open_file("/f", O_WRONLY);

    cr_expect(pio_preallocate(pfd, -1, 1) == -1 && errno == EINVAL);
    cr_expect(pio_preallocate(pfd, 0, 0) == -1 && errno == EINVAL);
    cr_expect(pio_preallocate(pfd, 1, INT64_MAX) == -1 && errno == EFBIG);
    cr_expect(pio_preallocate(reads, 0, 1) == -1 && errno == EBADF);
    cr_expect(pio_preallocate(writes, 0, 1) == -1 && errno == EBADF);
    cr_expect(pio_preallocate(31, 0, 1) == -1 && errno == EBADF);
    cr_expect_eq(pio_preallocate(writes, BYTES, 1), 0);
    pio_close(pfd), pio_close(reads), pio_close(writes);
}

Test(preallocate, makes_room_that_stays)
{
    int pfd = open_file("/f", O_RDWR);

    cr_assert_eq(pio_preallocate(pfd, 50, 200), 0);
    fake_set_capacity(0, 0);
    cr_assert_eq(pio_lseek(pfd, 0, SEEK_END), 250);
    cr_assert_eq(pio_pwrite(pfd, bytes, BYTES, 150), BYTES);
    cr_assert_eq(pio_close(pfd), 0);
}
