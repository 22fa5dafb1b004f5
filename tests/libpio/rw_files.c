/* See rw_files.h. */
#include "tests/libpio/rw_files.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"

/* ---- Orders of acknowledgements ----------------------------------------------------------------
 * All of them, one after the other: choice[i] of options[i] at the i-th wait, counted like a number. */

#define WAITS_MAX 64

static int choice[WAITS_MAX], options_at[WAITS_MAX], waits;

int choose_counting(int options)
{
    if (waits == WAITS_MAX)
        abort();
    options_at[waits] = options;
    return choice[waits++];
}

void first_order(void)
{
    memset(choice, 0, sizeof choice);
    waits = 0;
}

/* Goes to the next order; false after the last. The waits of the last run say how many choices there were. */
bool next_order(void)
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

int choose_last(int options)
{
    return options - 1;
}

/* ---- Files ---------------------------------------------------------------------------------------- */

char pattern[MODEL_BYTES];

void set_up(void)
{
    fake_reset();
    for (int i = 0; i < MODEL_BYTES; i++)
        pattern[i] = 1 + (i * 7 + i / 251) % 255;
}

int open_file(int flags, int disks, int block, int buffers)
{
    struct pio_layout layout = {disks, block, buffers, NULL, NULL};
    int pfd = pio_open_layout("/f", flags, 0644, &layout);

    cr_assert(pfd >= 0, "open: %s at %s", strerror(errno), pio_failed_path());
    return pfd;
}

/* Puts the file together from its subfiles by the striping rule, as a program that knows no libpio would. */
int64_t collect(int disks, int block, char *bytes, size_t n)
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

int64_t file_size(int pfd)
{
    struct stat st;

    cr_assert_eq(pio_fstat(pfd, &st), 0);
    return st.st_size;
}
