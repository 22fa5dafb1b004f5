/*
 * Mapped descriptors on a file in memory: the bytes that each element reads and writes, against a table of all bytes
 * made by pattern_place.
 */
#include "libpio/ndevices/mapped.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/libpio/random_pattern.h"

TestSuite(mapped_device);

/* ---- A file in memory ---- */

#define FILE_BYTES 20000

struct memory_file {
    unsigned char byte[FILE_BYTES];
    int64_t size, room; /* beyond `room` there is no space */
    int64_t most;       /* bytes of one call; 0: any number */
    int calls, closed;
    off_t fails_at; /* a call that touches this byte fails with EIO; -1: none does */
};

static ssize_t clip(const struct memory_file *f, size_t n, off_t at, int64_t end)
{
    int64_t left = end - at;

    if (f->fails_at >= at && f->fails_at < at + (int64_t)n)
        return -EIO;
    if (left <= 0)
        return 0;
    if ((int64_t)n < left)
        left = (int64_t)n;
    return f->most && left > f->most ? f->most : left;
}

static ssize_t memory_pread(void *state, void *buf, size_t n, off_t at)
{
    struct memory_file *f = state;
    ssize_t got = clip(f, n, at, f->size);

    f->calls++;
    if (got > 0)
        memcpy(buf, f->byte + at, (size_t)got);
    return got;
}

static ssize_t memory_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    struct memory_file *f = state;
    ssize_t put = clip(f, n, at, f->room);

    f->calls++;
    if (put == 0 && n > 0)
        return -ENOSPC;
    if (put > 0)
        memcpy(f->byte + at, buf, (size_t)put);
    if (put > 0 && at + put > f->size)
        f->size = at + put;
    return put;
}

static int memory_fstat(void *state, struct stat *st)
{
    *st = (struct stat){.st_size = ((struct memory_file *)state)->size};
    return 0;
}

static int memory_close(void *state)
{
    ((struct memory_file *)state)->closed++;
    return 0;
}

static const struct ndevice memory_device = {
    .name = "memory", .pread = memory_pread, .pwrite = memory_pwrite, .fstat = memory_fstat, .close = memory_close};

static void file_empty(struct memory_file *f)
{
    memset(f, 0, sizeof *f);
    f->room = FILE_BYTES;
    f->fails_at = -1;
}

static struct mapped *map(struct memory_file *f, const struct pattern *p, int32_t element)
{
    struct mapped *m = NULL;

    cr_assert_eq(mapped_new(&memory_device, f, p, element, &m), 0);
    return m;
}

static unsigned char content(int64_t x)
{
    return (unsigned char)(x * 7 + (x >> 8) * 3 + 1);
}

/* ---- The table: the file byte of each of an element's first bytes ---- */

struct table {
    int64_t file[FILE_BYTES];
    int64_t bytes; /* from 0 on without a gap */
};

static void make_table(const struct pattern *p, int32_t element, int64_t size, struct table *t)
{
    for (int64_t y = 0; y < FILE_BYTES; y++)
        t->file[y] = -1;
    for (int64_t x = p->displacement; x < size; x++) {
        int64_t offset;
        int32_t e;

        if (pattern_place(p, x, &e, &offset) == 0 && e == element && offset < FILE_BYTES)
            t->file[offset] = x;
    }
    for (t->bytes = 0; t->bytes < FILE_BYTES && t->file[t->bytes] >= 0;)
        t->bytes++;
}

/* ---- Random patterns ---- */

/* Each element writes its bytes in random pieces; then the file has exactly the expected bytes. */
static void write_all(struct memory_file *f, const struct pattern *p, int64_t size, uint64_t *seed)
{
    static struct table t;
    static unsigned char buf[FILE_BYTES];

    for (int32_t e = 0; e < p->elements; e++) {
        struct mapped *m = map(f, p, e);

        make_table(p, e, size, &t);
        for (int64_t y = 0; y < t.bytes;) {
            int64_t n = 1 + random_below(seed, 700);

            n = n < t.bytes - y ? n : t.bytes - y;
            for (int64_t i = 0; i < n; i++)
                buf[i] = content(t.file[y + i]);
            cr_assert_eq(mapped_device.write(m, buf, (size_t)n), n);
            y += n;
            cr_assert_eq(mapped_device.lseek(m, 0, SEEK_CUR), y);
        }
        mapped_free(m);
    }
}

static void check_file(const struct memory_file *f, const struct pattern *p, int64_t size)
{
    static struct table t;
    static bool written[FILE_BYTES];

    memset(written, 0, sizeof written);
    for (int32_t e = 0; e < p->elements; e++) {
        make_table(p, e, size, &t);
        for (int64_t y = 0; y < t.bytes; y++)
            written[t.file[y]] = true;
    }
    for (int64_t x = 0; x < FILE_BYTES; x++)
        cr_assert_eq(f->byte[x], written[x] ? content(x) : 0, "byte %ld", (long)x);
}

/* Reads at random places; of an element whose order is the file's also behind the end of the file. */
static void read_some(struct memory_file *f, const struct pattern *p, int64_t size, uint64_t *seed)
{
    static struct table t;
    static unsigned char buf[FILE_BYTES];
    int32_t e = (int32_t)random_below(seed, (uint32_t)p->elements);
    struct mapped *m = map(f, p, e);

    make_table(p, e, size, &t);
    for (int round = 0; round < 20 && t.bytes > 0; round++) {
        int64_t at = random_below(seed, (uint32_t)t.bytes), n = 1 + random_below(seed, 3000);
        bool beyond = p->element[e].ascending;

        if (!beyond && n > t.bytes - at)
            n = t.bytes - at;
        memset(buf, 0xee, sizeof buf);
        int64_t expected = n < t.bytes - at ? n : t.bytes - at;
        cr_assert_eq(mapped_device.pread(m, buf, (size_t)n, at), expected);
        for (int64_t i = 0; i < expected; i++)
            cr_assert_eq(buf[i], f->byte[t.file[at + i]], "own byte %ld", (long)(at + i));
        cr_assert_eq(buf[n], 0xee);
    }
    if (p->element[e].ascending)
        cr_assert_eq(mapped_device.lseek(m, 0, SEEK_END), t.bytes);
    mapped_free(m);
}

Test(mapped_device, elements_write_and_read_what_is_theirs)
{
    static struct memory_file f;
    uint64_t seed = 1;

    for (int round = 0; round < 300; round++) {
        struct pattern *p = random_pattern(&seed, 2000, false);
        int64_t size = p->displacement + 1 + random_below(&seed, 8000);

        if (p->displacement + p->period < FILE_BYTES / 2) {
            file_empty(&f);
            f.most = round % 3 == 0 ? 1 + random_below(&seed, 100) : 0;
            write_all(&f, p, size, &seed);
            check_file(&f, p, size);
            read_some(&f, p, f.size < size ? f.size : size, &seed);
        }
        pattern_free(p);
    }
}

/* ---- Single cases ---- */

static struct pattern *stripe(int64_t block, int32_t elements)
{
    struct pattern *p = NULL;

    cr_assert_eq(pattern_stripe(block, elements, &p), 0);
    return p;
}

/* 3 elements of 10 bytes each, the file has 75: elements have 30, 25 and 20. */
Test(mapped_device, reading_ends_with_the_file)
{
    static struct memory_file f;
    struct pattern *p = stripe(10, 3);
    static const int own[] = {30, 25, 20};
    char buf[100];

    file_empty(&f);
    f.size = 75;
    for (int32_t e = 0; e < 3; e++) {
        struct mapped *m = map(&f, p, e);

        cr_expect_eq(mapped_device.read(m, buf, sizeof buf), own[e]);
        cr_expect_eq(mapped_device.read(m, buf, sizeof buf), 0);
        cr_expect_eq(mapped_device.lseek(m, -5, SEEK_END), own[e] - 5);
        cr_expect_eq(mapped_device.read(m, buf, sizeof buf), 5);
        mapped_free(m);
    }
    pattern_free(p);
}

/* A volume that is full, or fails, in the middle: the count is the prefix of the element's own bytes that is safe. */
Test(mapped_device, a_failure_leaves_a_prefix)
{
    static struct memory_file f;
    struct pattern *p = stripe(10, 3);
    char buf[100];
    struct mapped *m;

    memset(buf, 'x', sizeof buf);
    file_empty(&f);
    f.room = 45; /* element 1 has 10..19 and 40..49 */
    m = map(&f, p, 1);
    cr_expect_eq(mapped_device.write(m, buf, 30), 15);
    cr_expect_eq(mapped_device.write(m, buf, 15), -ENOSPC);
    cr_expect_eq(mapped_device.lseek(m, 0, SEEK_CUR), 15);
    f.fails_at = 12;
    cr_expect_eq(mapped_device.pread(m, buf, 10, 0), -EIO);
    f.fails_at = 42;
    cr_expect_eq(mapped_device.pread(m, buf, 10, 10), -EIO);
    mapped_free(m);
    pattern_free(p);
}

/* Short runs that lie close together are read by few calls; long ones, and writes, are not sieved. */
Test(mapped_device, short_runs_are_read_together)
{
    static struct memory_file f;
    struct pattern *p = stripe(8, 4);
    static char buf[4000];
    struct mapped *m;

    file_empty(&f);
    f.size = 16000;
    m = map(&f, p, 2);
    cr_expect_eq(mapped_device.read(m, buf, 4000), 4000);
    cr_expect_leq(f.calls, 2, "%d calls", f.calls);
    f.calls = 0;
    cr_expect_eq(mapped_device.pwrite(m, buf, 80, 0), 80);
    cr_expect_eq(f.calls, 10);
    mapped_free(m);
    pattern_free(p);
    f.calls = 0;
    p = stripe(3000, 2);
    m = map(&f, p, 0);
    cr_expect_eq(mapped_device.pread(m, buf, 4000, 0), 4000); /* 3000 straight, 1000 by the sieve */
    cr_expect_eq(f.calls, 2);
    mapped_free(m);
    pattern_free(p);
}

Test(mapped_device, bad_calls_are_refused)
{
    static const struct ndevice stream = {.name = "stream"};
    static struct memory_file f;
    struct pattern *p = stripe(8, 4), *nothing = NULL;
    struct mapped *m = NULL;
    char why[PATTERN_WHY_BYTES], byte = 0;

    file_empty(&f);
    cr_expect_eq(mapped_new(&memory_device, &f, p, -1, &m), -EINVAL);
    cr_expect_eq(mapped_new(&stream, &f, p, 0, &m), -ENOTSUP);
    m = map(&f, p, 0);
    cr_expect_eq(mapped_device.lseek(m, -1, SEEK_SET), -EINVAL);
    cr_expect_eq(mapped_device.lseek(m, 0, 9), -EINVAL);
    cr_expect_eq(mapped_device.pread(m, &byte, 1, -1), -EINVAL);
    cr_expect_eq(mapped_device.pwrite(m, &byte, 1, INT64_MAX), -EINVAL);
    cr_expect_eq(mapped_device.pwrite(m, &byte, 0, 5), 0);
    cr_expect_eq(mapped_device.ioctl(m, 1, NULL), -ENOTTY);
    cr_expect_eq(mapped_device.ftruncate(m, 1), -ENOTSUP);
    cr_expect_eq(mapped_device.close(m), 0);
    cr_expect_eq(f.closed, 1);
    m = map(&f, p, 4); /* the pattern has four, from 0 on */
    cr_expect_eq(mapped_device.read(m, &byte, 1), 0);
    cr_expect_eq(mapped_device.write(m, &byte, 1), -EINVAL);
    cr_expect_eq(mapped_device.write(m, &byte, 0), 0);
    cr_expect_eq(mapped_device.lseek(m, 0, SEEK_END), 0);
    mapped_free(m);
    pattern_free(p);

    cr_assert_eq(pattern_parse("view 16 {}", &nothing, why), 0, "%s", why);
    m = map(&f, nothing, 0);
    cr_expect_eq(mapped_device.read(m, &byte, 1), 0);
    cr_expect_eq(mapped_device.write(m, &byte, 1), -EINVAL);
    mapped_free(m);
    pattern_free(nothing);
}
