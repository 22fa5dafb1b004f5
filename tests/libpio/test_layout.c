/* Layouts of PIO files and the text of their descriptions, also damaged. */
#include "libpio/file/layout.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const char *const three[] = {"df02", "df00", "scratch.1"};
static const char *const twice[] = {"df02", "df00", "df02"};
static const char *const slash[] = {"df02", "df/0", "df01"};
static const char *const empty[] = {"df02", "", "df01"};
static const char *const longer[] = {"df02", "a-name-too-long!", "df01"};
static const char *const missing[] = {"df02", NULL, "df01"};

struct check_case {
    const char *name;
    struct pio_layout layout;
    int result;
};

static const struct check_case check_cases[] = {
    {"all defaults", {0}, 0},
    {"everything stated", {3, 4096, 1, three, NULL}, 0},
    {"limits", {PIO_DISKS_MAX, PIO_BLOCK_BYTES_MAX, PIO_IN_FLIGHT_MAX / PIO_DISKS_MAX, NULL, NULL}, 0},
    {"negative disks", {-1, 0, 0, NULL, NULL}, -EINVAL},
    {"too many disks", {PIO_DISKS_MAX + 1, 0, 0, NULL, NULL}, -EINVAL},
    {"negative block", {0, -4096, 0, NULL, NULL}, -EINVAL},
    {"block larger than a message", {0, PIO_BLOCK_BYTES_MAX + 1, 0, NULL, NULL}, -EINVAL},
    {"negative buffers", {0, 0, -1, NULL, NULL}, -EINVAL},
    {"too many in flight", {8, 0, PIO_IN_FLIGHT_MAX / 8 + 1, NULL, NULL}, -EINVAL},
    {"a volume twice", {3, 0, 0, twice, NULL}, -EINVAL},
    {"a slash in a volume's name", {3, 0, 0, slash, NULL}, -EINVAL},
    {"an empty name", {3, 0, 0, empty, NULL}, -EINVAL},
    {"a name of 16 characters", {3, 0, 0, longer, NULL}, -EINVAL},
    {"no name", {3, 0, 0, missing, NULL}, -EINVAL},
};

Test(layout, is_checked_before_use)
{
    for (size_t i = 0; i < sizeof check_cases / sizeof check_cases[0]; i++)
        cr_expect_eq(pio_layout_check(&check_cases[i].layout), check_cases[i].result, "%s", check_cases[i].name);
    cr_expect_eq(pio_layout_check(NULL), 0, "no layout");
}

Test(layout, defaults_to_the_best_parameters_of_the_paper)
{
    struct pio_description d;

    pio_layout_complete(NULL, &d);
    cr_expect_eq(d.map.disks, 8);
    cr_expect_eq(d.map.block_bytes, 16384);
    cr_expect_eq(pio_layout_buffers(NULL), 2);
    cr_expect_str_eq(d.volume[0], "df00");
    cr_expect_str_eq(d.volume[7], "df07");
}

struct compare_case {
    const char *name;
    struct pio_layout layout;
    int result;
};

/* against D = 3, B = 4096, volumes `three` */
static const struct compare_case compare_cases[] = {
    {"nothing stated", {0}, 0},
    {"the same", {3, 4096, 7, three, NULL}, 0},
    {"only buffers", {0, 0, 5, NULL, NULL}, 0},
    {"other disks", {4, 0, 0, NULL, NULL}, -EINVAL},
    {"other block", {0, 8192, 0, NULL, NULL}, -EINVAL},
    {"other volumes", {3, 0, 0, (const char *const[]){"df00", "df02", "scratch.1"}, NULL}, -EINVAL},
    {"volumes without disks means eight", {0, 0, 0, three, NULL}, -EINVAL},
};

Test(layout, agrees_with_a_file_in_what_is_stated)
{
    struct pio_description d;

    pio_layout_complete(&(struct pio_layout){3, 4096, 0, three, NULL}, &d);
    for (size_t i = 0; i < sizeof compare_cases / sizeof compare_cases[0]; i++)
        cr_expect_eq(pio_layout_compare(&compare_cases[i].layout, &d), compare_cases[i].result, "%s",
                     compare_cases[i].name);
}

Test(description, is_readable_text)
{
    char text[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_description d;

    pio_layout_complete(&(struct pio_layout){3, 4096, 0, three, NULL}, &d);
    pio_description_format(&d, 2, text);
    cr_expect_str_eq(text, "pio 1\nblock 4096\ndisks 3\nindex 2\nvolumes df02 df00 scratch.1\nend\n");
}

Test(description, says_what_was_written)
{
    char text[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_description d, again;
    int index;

    for (int disks = 1; disks <= PIO_DISKS_MAX; disks += 51) {
        pio_layout_complete(&(struct pio_layout){disks, 1 + 4095 * disks, 0, NULL, NULL}, &d);
        size_t n = pio_description_format(&d, disks / 2, text);
        memset(&again, 0, sizeof again);
        cr_assert_eq(pio_description_parse(text, n, &again, &index), 0, "%d disks", disks);
        cr_assert_eq(index, disks / 2);
        cr_assert_arr_eq(&again, &d, sizeof d, "%d disks", disks);
    }
}

struct broken_case {
    const char *name;
    const char *text;
};

static const struct broken_case broken_cases[] = {
    {"empty", ""},
    {"another format", "pio 2\nblock 4096\ndisks 1\nindex 0\nvolumes df00\nend\n"},
    {"not a description", "hello, world\n"},
    {"cut short", "pio 1\nblock 4096\ndisks 1\nindex 0\nvolumes df00\nen"},
    {"bytes after the end", "pio 1\nblock 4096\ndisks 1\nindex 0\nvolumes df00\nend\n\n"},
    {"a volume too few", "pio 1\nblock 4096\ndisks 2\nindex 0\nvolumes df00\nend\n"},
    {"a volume too many", "pio 1\nblock 4096\ndisks 1\nindex 0\nvolumes df00 df01\nend\n"},
    {"index beyond disks", "pio 1\nblock 4096\ndisks 1\nindex 1\nvolumes df00\nend\n"},
    {"negative index", "pio 1\nblock 4096\ndisks 1\nindex -1\nvolumes df00\nend\n"},
    {"no disks", "pio 1\nblock 4096\ndisks 0\nindex 0\nvolumes\nend\n"},
    {"block of nothing", "pio 1\nblock 0\ndisks 1\nindex 0\nvolumes df00\nend\n"},
    {"block too large", "pio 1\nblock 1048577\ndisks 1\nindex 0\nvolumes df00\nend\n"},
    {"disks too many", "pio 1\nblock 4096\ndisks 257\nindex 0\nvolumes df00\nend\n"},
    {"leading zeros", "pio 1\nblock 04096\ndisks 1\nindex 0\nvolumes df00\nend\n"},
    {"a volume twice", "pio 1\nblock 4096\ndisks 2\nindex 0\nvolumes df00 df00\nend\n"},
    {"a volume's name too long", "pio 1\nblock 4096\ndisks 1\nindex 0\nvolumes df00df00df00df00\nend\n"},
    {"a path for a volume", "pio 1\nblock 4096\ndisks 1\nindex 0\nvolumes ../df00\nend\n"},
};

Test(description, is_refused_unless_perfect)
{
    struct pio_description d;
    int index;

    for (size_t i = 0; i < sizeof broken_cases / sizeof broken_cases[0]; i++) {
        const struct broken_case *c = &broken_cases[i];

        cr_expect_eq(pio_description_parse(c->text, strlen(c->text), &d, &index), -EPROTO, "%s", c->name);
    }
}

Test(description, of_any_damaged_byte_is_refused_or_says_another_layout)
{
    char text[PIO_DESCRIPTION_MAX_BYTES], again[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_description d, parsed;
    int index;

    pio_layout_complete(NULL, &d);
    size_t n = pio_description_format(&d, 3, text);
    for (size_t i = 0; i < n; i++)
        for (int flip = 1; flip < 256; flip++) {
            text[i] ^= flip;
            if (pio_description_parse(text, n, &parsed, &index) == 0) {
                pio_description_format(&parsed, index, again);
                cr_assert_arr_eq(again, text, n, "byte %zu", i);
            }
            text[i] ^= flip;
        }
}
