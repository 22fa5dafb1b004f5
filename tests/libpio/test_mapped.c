/* PIO files with other maps than stripes, against plain arrays. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/layout.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"
#include "tests/libpio/random_pattern.h"

#define MODEL_BYTES 4096

static uint64_t state;
static char bytes[MODEL_BYTES], model[MODEL_BYTES];
static int64_t model_bytes;

static void set_up(void)
{
    fake_reset();
    fake_answer_randomly(&state);
    for (int i = 0; i < MODEL_BYTES; i++)
        bytes[i] = (char)(1 + (i * 7 + i / 251) % 255);
    memset(model, 0, sizeof model);
    model_bytes = 0;
    state = 1;
}

TestSuite(mapped, .init = set_up);

static int open_map(const char *map, int flags, int block, int buffers)
{
    struct pio_layout layout = {.map = map, .block_size = block, .buffers = buffers};

    return pio_open_layout("/f", flags, 0644, &layout);
}

static struct pattern *parse(const char *text)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    cr_assert_eq(pattern_parse(text, &p, why), 0, "%s: %s", text, why);
    return p;
}

/* Puts the file together from its subfiles, byte by byte, as a program that knows no libpio would. */
static int64_t collect(const char *map, char *to)
{
    struct pattern *p = parse(map);
    int64_t end = 0, subfile_bytes[FAKE_VOLUMES];
    static char subfile[FAKE_VOLUMES][MODEL_BYTES];

    memset(to, 0, MODEL_BYTES);
    for (int k = 0; k < p->elements; k++) {
        char path[32];

        snprintf(path, sizeof path, "//df%02d/f", k);
        subfile_bytes[k] = fake_get_file(path, subfile[k], MODEL_BYTES);
    }
    for (int64_t x = 0; x < MODEL_BYTES; x++) {
        int32_t element;
        int64_t offset;

        cr_assert_eq(pattern_place(p, x, &element, &offset), 0);
        if (offset < subfile_bytes[element]) {
            to[x] = subfile[element][offset];
            end = x + 1;
        }
    }
    pattern_free(p);
    return end;
}

static int64_t size_of(int pfd)
{
    struct stat st;

    cr_assert_eq(pio_fstat(pfd, &st), 0);
    return st.st_size;
}

static void read_and_compare(int pfd, int64_t at, int64_t n)
{
    char got[MODEL_BYTES];
    int64_t expected = at >= model_bytes ? 0 : at + n > model_bytes ? model_bytes - at : n;

    memset(got, 0x55, sizeof got);
    cr_assert_eq(pio_lseek(pfd, at, SEEK_SET), at);
    cr_assert_eq(pio_read(pfd, got, (size_t)n), expected, "%ld bytes at %ld of %ld", (long)n, (long)at,
                 (long)model_bytes);
    cr_assert_arr_eq(got, model + at, (size_t)expected, "bytes at %ld", (long)at);
    cr_assert_eq(got[expected], 0x55, "the buffer after the end of the file is left alone");
}

static void write_both(int pfd, int64_t at, int64_t n)
{
    const char *from = bytes + random_below(&state, (uint32_t)(MODEL_BYTES - n));

    cr_assert_eq(pio_lseek(pfd, at, SEEK_SET), at);
    cr_assert_eq(pio_write(pfd, from, (size_t)n), n);
    if (n == 0)
        return;
    memcpy(model + at, from, (size_t)n);
    if (at + n > model_bytes)
        model_bytes = at + n;
}

static void cut_both(int pfd, int64_t size)
{
    cr_assert_eq(pio_ftruncate(pfd, size), 0);
    if (size < model_bytes)
        memset(model + size, 0, (size_t)(model_bytes - size));
    model_bytes = size;
}

static void do_random_step(int pfd)
{
    int64_t at = random_below(&state, random_below(&state, 4) ? 600 : 1500);
    int64_t n = random_below(&state, random_below(&state, 3) ? 60 : 600);

    switch (random_below(&state, 8)) {
    case 0:
        cut_both(pfd, at);
        break;
    case 1:
    case 2:
    case 3:
        write_both(pfd, at, n);
        break;
    default:
        read_and_compare(pfd, at, n);
    }
    cr_assert_eq(size_of(pfd), model_bytes);
}

/* The text of a random map of at most eight volumes that is no stripe. */
static void random_map(char *text, size_t room)
{
    for (;;) {
        struct pattern *p = random_pattern(&state, 60, true);
        bool fits = false;
        int64_t all = 0;

        p->displacement = 0;
        for (int32_t e = 0; e < p->elements; e++)
            all += p->element[e].bytes;
        /* the text does not name elements without bytes at the end of the numbers */
        fits = p->elements <= FAKE_VOLUMES && all == p->period && p->element[p->elements - 1].bytes > 0 &&
               pattern_format(p, text, room) < room && strncmp(text, "cyclic", 6) != 0;
        pattern_free(p);
        if (fits)
            return;
    }
}

Test(mapped, behaves_as_one_unix_file)
{
    char got[MODEL_BYTES], map[PIO_MAP_TEXT_BYTES];

    for (int seed = 0; seed < 300; seed++) {
        set_up();
        state = (uint64_t)seed;
        random_map(map, sizeof map);
        int pfd = open_map(map, O_RDWR | O_CREAT, 1 + (int)random_below(&state, 40), 1 + (int)random_below(&state, 4));
        cr_assert_geq(pfd, 0, "%s: %s at %s", map, strerror(errno), pio_failed_path());
        for (int step = 0; step < 60; step++)
            do_random_step(pfd);
        pio_close(pfd);
        cr_assert_eq(collect(map, got), model_bytes, "seed %d: %s", seed, map);
        cr_assert_arr_eq(got, model, sizeof got, "seed %d: %s", seed, map);
        cr_assert_eq(fake_counts()->open_files, 0);
    }
}

#define MAP "array 12x10x2 block,cyclic(3) on 2x2"

Test(mapped, is_described_by_a_line_more)
{
    char text[PIO_DESCRIPTION_MAX_BYTES];

    int pfd = open_map("  " MAP, O_RDWR | O_CREAT, 100, 1);
    cr_assert_geq(pfd, 0);
    pio_close(pfd);
    int64_t n = fake_get_file("//df02/f.pio", text, sizeof text);
    cr_assert(n > 0 && n < (int64_t)sizeof text);
    text[n] = '\0';
    cr_expect_str_eq(text, "pio 2\nblock 100\ndisks 4\nindex 2\nmap " MAP "\nvolumes df00 df01 df02 df03\nend\n");
    pfd = pio_open("/f", O_RDWR);
    cr_assert_geq(pfd, 0, "its description says all: %s at %s", strerror(errno), pio_failed_path());
    write_both(pfd, 0, 700);
    read_and_compare(pfd, 5, 600);
    pio_close(pfd);
}

Test(mapped, a_map_of_stripes_is_no_other_file_than_a_striped_one)
{
    char text[PIO_DESCRIPTION_MAX_BYTES];

    int pfd = open_map("cyclic 64 3", O_RDWR | O_CREAT, 0, 1);
    cr_assert_geq(pfd, 0);
    pio_close(pfd);
    int64_t n = fake_get_file("//df01/f.pio", text, sizeof text);
    text[n < 0 ? 0 : n] = '\0';
    cr_expect_str_eq(text, "pio 1\nblock 64\ndisks 3\nindex 1\nvolumes df00 df01 df02\nend\n");
    struct pio_layout same = {.disks = 3, .block_size = 64};
    cr_expect_geq(pio_open_layout("/f", O_RDONLY, 0, &same), 0);
    cr_expect_geq(open_map("falls 192 (0,63,-,1,64,3)", O_RDONLY, 0, 1), 0, "in other words");
    cr_expect_eq(open_map("cyclic 32 3", O_RDONLY, 0, 1), -1);
}

Test(mapped, another_map_than_the_files_is_refused)
{
    static const struct {
        const char *map;
        int block, disks;
    } other[] = {{"array 12x10x2 cyclic,cyclic(3) on 2x2", 0, 0}, {"cyclic 64 4", 0, 0}, {MAP, 50, 0}, {MAP, 0, 3}};

    int pfd = open_map(MAP, O_RDWR | O_CREAT, 100, 1);
    cr_assert_geq(pfd, 0);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct pio_layout layout = {.map = other[i].map, .block_size = other[i].block, .disks = other[i].disks};

        cr_expect_eq(pio_open_layout("/f", O_RDONLY, 0, &layout), -1, "%zu", i);
        cr_expect_eq(errno, EINVAL, "%zu", i);
    }
    cr_expect_geq(open_map("array 12x10x2  block, cyclic( 3 ) on 2 x 2", O_RDONLY, 0, 1), 0, "the same in other words");
    pio_close(pfd);
}

Test(mapped, a_wrong_map_makes_no_file)
{
    char lengthy[PIO_MAP_TEXT_BYTES + 20];
    const char *wrong[] = {"",
                           "cyclic 64",
                           "array 12x10x2 block,block on 2x2 +8",
                           "bits p0-0 o0-0 o2-1",
                           "view 8 (0,3,8,1)",
                           "cyclic 4 257",
                           "(0,3,-,1)(3,6,-,1)",
                           lengthy};

    memset(lengthy, ' ', sizeof lengthy);
    memcpy(lengthy, MAP, strlen(MAP));
    lengthy[sizeof lengthy - 1] = '\0';
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(open_map(wrong[i], O_RDWR | O_CREAT, 0, 1), -1, "%.40s", wrong[i]);
        cr_expect_eq(errno, EINVAL, "%.40s", wrong[i]);
    }
    cr_expect_eq(fake_count_files(), 0);
}

Test(mapped, a_damaged_map_is_noticed)
{
    static const char *const damaged[] = {
        "pio 2\nblock 100\ndisks 4\nindex 0\nmap array 12x10x2 block,cyclic(3) on 2x3\nvolumes df00 df01 df02 "
        "df03\nend\n",
        "pio 2\nblock 100\ndisks 4\nindex 0\nmap array 12\nvolumes df00 df01 df02 df03\nend\n",
        "pio 2\nblock 100\ndisks 4\nindex 0\nmap \nvolumes df00 df01 df02 df03\nend\n",
        "pio 2\nblock 100\ndisks 4\nindex 0\nvolumes df00 df01 df02 df03\nend\n",
        "pio 1\nblock 100\ndisks 4\nindex 0\nmap " MAP "\nvolumes df00 df01 df02 df03\nend\n",
        "pio 3\nblock 100\ndisks 4\nindex 0\nmap " MAP "\nvolumes df00 df01 df02 df03\nend\n",
        "pio 2\nblock 100\ndisks 4\nindex 0\nmap " MAP "\n",
    };

    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        fake_reset();
        pio_close(open_map(MAP, O_RDWR | O_CREAT, 100, 1));
        fake_put_file("//df00/f.pio", damaged[i], strlen(damaged[i]));
        cr_expect_eq(pio_open("/f", O_RDONLY), -1, "%zu", i);
        cr_expect_eq(errno, EPROTO, "%zu: %s", i, strerror(errno));
        cr_expect_str_eq(pio_failed_path(), "//df00/f.pio");
        cr_expect_eq(fake_counts()->open_files, 0);
    }
}

static int request_of(const struct pattern *p, int volume, int64_t x, int64_t start, int block)
{
    const struct falls_set *set = &p->element[volume];
    int64_t first = start / p->period * set->bytes + falls_rank(set, start % p->period);
    int64_t at = x / p->period * set->bytes + falls_rank(set, x % p->period);

    return (int)(at / block - first / block);
}

/* The nth request to a volume fails: everything below its first byte is moved, whatever the order. */
static void fail_request(const struct pattern *p, int volume, int nth, bool writing)
{
    enum { START = 11, N = 400, BLOCK = 16 };
    char got[MODEL_BYTES];
    int64_t expected = N;

    for (int64_t x = START + N - 1; x >= START; x--) {
        int32_t element;
        int64_t offset;

        pattern_place(p, x, &element, &offset);
        if (element == volume && request_of(p, volume, x, START, BLOCK) == nth)
            expected = x - START;
    }
    fake_reset();
    fake_answer_randomly(&state);
    int pfd = open_map(MAP, O_RDWR | O_CREAT, BLOCK, 2);
    if (!writing)
        cr_assert_eq(pio_write(pfd, bytes, START + N), START + N);
    pio_lseek(pfd, START, SEEK_SET);
    fake_fail_request(volume, nth, -EIO);
    int64_t done = writing ? pio_write(pfd, bytes + START, N) : pio_read(pfd, got, N);
    cr_assert_eq(done, expected == 0 ? -1 : expected, "volume %d, request %d: %ld, not %ld", volume, nth, (long)done,
                 (long)expected);
    cr_assert(expected == N || done > 0 || errno == EIO);
    cr_assert_eq(fake_counts()->in_flight, 0, "all acknowledgements are taken");
    if (writing) {
        int64_t end = collect(MAP, got);

        cr_assert(end == START + expected || (expected == 0 && end < START), "no byte after the gap");
        cr_assert_arr_eq(got + START, bytes + START, (size_t)expected);
    } else {
        cr_assert_arr_eq(got, bytes + START, (size_t)expected);
    }
    pio_close(pfd);
}

Test(mapped, returns_what_lies_before_a_failure_at_any_volume_and_time)
{
    struct pattern *p = parse(MAP);

    for (int round = 0; round < 20; round++)
        for (int volume = 0; volume < 4; volume++)
            for (int nth = 0; nth < 5; nth++) {
                fail_request(p, volume, nth, false);
                fail_request(p, volume, nth, true);
            }
    pattern_free(p);
}

Test(mapped, stops_where_a_request_cannot_be_issued)
{
    struct pattern *p = parse(MAP);

    for (int writing = 0; writing < 2; writing++)
        for (int nth = 0; nth < 3; nth++) {
            char got[MODEL_BYTES];

            set_up();
            int pfd = open_map(MAP, O_RDWR | O_CREAT, 16, 2);
            if (!writing)
                cr_assert_eq(pio_write(pfd, bytes, 700), 700);
            pio_lseek(pfd, 0, SEEK_SET);
            fake_refuse_request(1, nth, -EIO);
            int64_t expected = pattern_file(p, 1, nth * 16);
            int64_t done = writing ? pio_write(pfd, bytes, 700) : pio_read(pfd, got, 700);
            cr_expect_eq(done, expected, "request %d: %ld, not %ld", nth, (long)done, (long)expected);
            if (writing)
                collect(MAP, got);
            cr_expect_arr_eq(got, bytes, (size_t)expected);
            cr_expect_str_eq(pio_failed_path(), "//df01/f");
            pio_close(pfd);
        }
    pattern_free(p);
}

Test(mapped, writes_what_fits_on_a_full_volume_then_says_so)
{
    char got[MODEL_BYTES];

    int pfd = open_map(MAP, O_RDWR | O_CREAT, 16, 2);
    struct pattern *p = parse(MAP);
    int64_t room = 37; /* bytes of the subfile: less than three requests */
    fake_set_capacity(2, fake_get_file("//df02/f.pio", got, sizeof got) + room);
    int64_t done = pio_write(pfd, bytes, 700);
    cr_assert_eq(done, pattern_file(p, 2, room), "%ld", (long)done);
    pattern_free(p);
    cr_expect_eq(pio_write(pfd, bytes + done, (size_t)(700 - done)), -1);
    cr_expect_eq(errno, ENOSPC);
    cr_expect_str_eq(pio_failed_path(), "//df02/f");
    cr_expect_eq(collect(MAP, got), done);
    cr_expect_arr_eq(got, bytes, (size_t)done);
    pio_close(pfd);
}

Test(mapped, keeps_at_most_c_requests_of_b_bytes_under_way_at_every_volume)
{
    int pfd = open_map(MAP, O_RDWR | O_CREAT, 16, 3);

    cr_expect_eq(pio_write(pfd, bytes, 4 * 16 * 15), 4 * 16 * 15);
    for (int k = 0; k < 4; k++)
        cr_expect_eq(fake_counts()->volume_max_in_flight[k], 3, "volume %d", k);
    cr_expect_eq(fake_counts()->requests, 60, "small pieces travel together");
    pio_close(pfd);
}
