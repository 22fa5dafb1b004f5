/*
 * Random sequences of PIO calls on several files and descriptors, each compared with plain arrays; the acknowledgements
 * come in random order. SEQUENCES is the number of them (make check-pio). Buffers are poisoned first: what a call must
 * not touch keeps the poison.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/file/map.h"
#include "libpio/file/pio.h"
#include "tests/libpio/fake.h"
#include "tests/libpio/random_pattern.h"

enum { FILE_BYTES = 2000, FILES = 3, OPENS = 4, CALLS = 25, POISON = 0x5a, SHORT_SEQUENCES = 400 };

static uint64_t state;
static char source[2 * FILE_BYTES];

static uint32_t below(uint32_t n)
{
    return random_below(&state, n);
}

static int choose_randomly(int options)
{
    return (int)below((uint32_t)options);
}

/* ---- The model: what one Unix file system would have ---- */

static struct file {
    char bytes[FILE_BYTES];
    int64_t size;
    int users; /* names and descriptors */
} files[FILES + OPENS];

static struct file *named[FILES];

static struct description {
    struct file *file; /* NULL: not open */
    int pfd, flags;
    int64_t offset;
} opened[OPENS];

static struct file *new_file(void)
{
    for (int i = 0; i < FILES + OPENS; i++)
        if (files[i].users == 0) {
            memset(&files[i], 0, sizeof files[i]);
            return &files[i];
        }
    abort();
}

static void set_size(struct file *f, int64_t size)
{
    if (size < f->size)
        memset(f->bytes + size, 0, (size_t)(f->size - size));
    f->size = size;
}

static void put(struct file *f, int64_t at, const char *from, int64_t n)
{
    memcpy(f->bytes + at, from, (size_t)n);
    if (n > 0 && f->size < at + n)
        f->size = at + n;
}

static const char *name_of(int i)
{
    static const char *const name[FILES] = {"/a", "/b", "/c"};

    return name[i];
}

/* ---- Calls ---- */

static struct description *choose_open(void)
{
    struct description *d = &opened[below(OPENS)];

    return d->file ? d : NULL;
}

static bool may_read(const struct description *d)
{
    return (d->flags & O_ACCMODE) != O_WRONLY;
}

static bool may_write(const struct description *d)
{
    return (d->flags & O_ACCMODE) != O_RDONLY;
}

static void call_open(void)
{
    static const char *const maps[] = {NULL, NULL, "array 20x30x2 block,cyclic(3) on 2x2", "(0,9,-,1)(10,49,-,1,40,2)"};
    static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_RDWR};
    struct description *d = &opened[below(OPENS)];
    int i = (int)below(FILES), flags = modes[below(5)];
    struct pio_layout layout = {.disks = 1 + (int)below(4), .block_size = 1 + (int)below(below(4) ? 40 : 700)};

    layout.buffers = 1 + (int)below(3);
    layout.map = maps[below(4)];
    if (layout.map)
        layout.disks = 0;
    if (d->file)
        return;
    flags |= (below(4) ? O_CREAT : 0) | (below(6) ? 0 : O_APPEND);
    flags |= (flags & O_ACCMODE) != O_RDONLY && below(6) == 0 ? O_TRUNC : 0;
    flags |= flags & O_CREAT && below(6) == 0 ? O_EXCL : 0;
    int expected = !named[i] && !(flags & O_CREAT) ? ENOENT : named[i] && flags & O_EXCL ? EEXIST : 0;
    int pfd =
        pio_open_layout(name_of(i), flags, 0644, named[i] ? &(struct pio_layout){.buffers = layout.buffers} : &layout);
    cr_assert_eq(pfd < 0 ? errno : 0, expected, "open %s with 0x%x: %d", name_of(i), flags, pfd < 0 ? errno : 0);
    if (pfd < 0)
        return;
    if (!named[i]) {
        named[i] = new_file();
        named[i]->users = 1;
    }
    named[i]->users++;
    if (flags & O_TRUNC)
        set_size(named[i], 0);
    *d = (struct description){named[i], pfd, flags, 0};
}

static void call_close(void)
{
    struct description *d = choose_open();

    if (!d)
        return;
    cr_assert_eq(pio_close(d->pfd), 0);
    cr_assert(pio_close(d->pfd) == -1 && errno == EBADF);
    d->file->users--;
    d->file = NULL;
}

/* Cuts n bytes into pieces, some of them empty. Returns their number. */
static int cut(struct iovec *iov, char *bytes, int64_t n)
{
    int count = 0;

    for (int64_t at = 0, length; at < n || count == 0; at += length) {
        length = count == 20 ? n - at : below(3) == 0 ? 0 : below((uint32_t)(n - at + 1));
        iov[count++] = (struct iovec){bytes + at, (size_t)length};
    }
    return count;
}

enum way { HERE, THERE, IN_PIECES, WAYS };

static ssize_t read_by(enum way way, int pfd, char *to, int64_t n, int64_t at)
{
    struct iovec iov[24];

    if (way == THERE)
        return pio_pread(pfd, to, (size_t)n, at);
    return way == HERE ? pio_read(pfd, to, (size_t)n) : pio_readv(pfd, iov, cut(iov, to, n));
}

static ssize_t write_by(enum way way, int pfd, char *from, int64_t n, int64_t at)
{
    struct iovec iov[24];

    if (way == THERE)
        return pio_pwrite(pfd, from, (size_t)n, at);
    return way == HERE ? pio_write(pfd, from, (size_t)n) : pio_writev(pfd, iov, cut(iov, from, n));
}

static int64_t draw_length(void)
{
    return below(8) == 0 ? 0 : below(below(3) ? 60 : 600);
}

static void call_read(void)
{
    struct description *d = choose_open();
    enum way way = below(WAYS);
    int64_t n = draw_length(), at = below(1000);
    char got[FILE_BYTES];

    if (!d)
        return;
    memset(got, POISON, sizeof got);
    ssize_t done = read_by(way, d->pfd, got, n, at);
    if (!may_read(d)) {
        cr_assert(done == -1 && errno == EBADF);
        return;
    }
    if (way != THERE)
        at = d->offset;
    int64_t left = at < d->file->size ? d->file->size - at : 0;
    cr_assert_eq(done, n < left ? n : left, "%ld bytes at %ld of %ld: %ld", (long)n, (long)at, (long)d->file->size,
                 (long)done);
    cr_assert_arr_eq(got, d->file->bytes + at, (size_t)done);
    for (ssize_t i = done; i < FILE_BYTES; i++)
        cr_assert_eq(got[i], POISON, "byte %zd behind %zd", i, done);
    if (way != THERE)
        d->offset += done;
}

static void call_write(void)
{
    struct description *d = choose_open();
    enum way way = below(WAYS);
    int64_t n = draw_length(), at = below(1000);
    char *from = source + below(FILE_BYTES);

    if (!d)
        return;
    if (way != THERE)
        at = d->flags & O_APPEND ? d->file->size : d->offset;
    if (at + n > FILE_BYTES)
        n = 0;
    ssize_t done = write_by(way, d->pfd, from, n, at);
    cr_assert_eq(done, may_write(d) ? n : -1, "write of %ld at %ld: %zd", (long)n, (long)at, done);
    if (done <= 0)
        return;
    put(d->file, at, from, n);
    if (way != THERE)
        d->offset = at + n;
}

static void call_seek(void)
{
    struct description *d = choose_open();
    int whence = (int)below(3);
    int64_t by = (int64_t)below(900) - (whence == SEEK_SET ? 50 : 450);

    if (!d)
        return;
    int64_t to = by + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? d->offset : d->file->size);
    cr_assert_eq(pio_lseek(d->pfd, by, whence), to < 0 ? -1 : to);
    d->offset = to < 0 ? d->offset : to;
}

static void call_truncate(void)
{
    struct description *d = choose_open();
    int64_t size = below(900);

    if (!d)
        return;
    cr_assert_eq(pio_ftruncate(d->pfd, size), may_write(d) ? 0 : -1);
    if (may_write(d))
        set_size(d->file, size);
}

static void call_preallocate(void)
{
    struct description *d = choose_open();
    int64_t at = below(900), n = below(300);

    if (!d)
        return;
    bool works = n > 0 && may_write(d) && (may_read(d) || at >= d->file->size);
    cr_assert_eq(pio_preallocate(d->pfd, at, n), works ? 0 : -1, "%ld at %ld of %ld", (long)n, (long)at,
                 (long)d->file->size);
    if (works && d->file->size < at + n)
        set_size(d->file, at + n);
}

static void drop_name(int i)
{
    named[i]->users--;
    named[i] = NULL;
}

static void call_unlink(void)
{
    int i = (int)below(FILES);

    cr_assert_eq(pio_unlink(name_of(i)), named[i] ? 0 : -1);
    if (named[i])
        drop_name(i);
}

static void call_rename(void)
{
    int from = (int)below(FILES), to = (int)below(FILES);

    cr_assert_eq(pio_rename(name_of(from), name_of(to)), named[from] ? 0 : -1, "%s to %s: %s at %s", name_of(from),
                 name_of(to), strerror(errno), pio_failed_path());
    if (!named[from] || from == to)
        return;
    if (named[to])
        drop_name(to);
    named[to] = named[from];
    named[from] = NULL;
}

/* ---- Sequences ---- */

static void compare_all(void)
{
    char got[FILE_BYTES + 1];
    struct stat st;

    for (int i = 0; i < FILES; i++) {
        int pfd = pio_open(name_of(i), O_RDONLY);

        cr_assert_eq(pfd >= 0, named[i] != NULL, "%s", name_of(i));
        if (pfd < 0)
            continue;
        cr_assert_eq(pio_fstat(pfd, &st), 0);
        cr_assert_eq(st.st_size, named[i]->size, "%s: %ld bytes", name_of(i), (long)st.st_size);
        cr_assert_eq(pio_read(pfd, got, sizeof got), named[i]->size);
        cr_assert_arr_eq(got, named[i]->bytes, (size_t)named[i]->size, "%s", name_of(i));
        cr_assert_eq(pio_close(pfd), 0);
    }
}

static void close_all(void)
{
    for (int i = 0; i < OPENS; i++)
        if (opened[i].file)
            cr_assert_eq(pio_close(opened[i].pfd), 0);
    cr_assert_eq(fake_counts()->open_files, 0);
    cr_assert_eq(fake_counts()->in_flight, 0);
    cr_assert_eq(fake_counts()->bad_fds, 0);
}

static void run_sequence(uint64_t seed)
{
    static void (*const calls[])(void) = {
        call_open,  call_open,  call_close, call_read, call_read,     call_read,        call_write,  call_write,
        call_write, call_write, call_seek,  call_seek, call_truncate, call_preallocate, call_unlink, call_rename};

    state = seed;
    fake_reset();
    fake_set_chooser(choose_randomly);
    if (below(2))
        fake_set_node((int)below(4), 0x4000 + (int)below(4));
    memset(files, 0, sizeof files);
    memset(named, 0, sizeof named);
    memset(opened, 0, sizeof opened);
    for (int i = 0; i < CALLS; i++)
        calls[below(sizeof calls / sizeof calls[0])]();
    compare_all();
    close_all();
}

Test(sequences, behave_as_plain_files, .timeout = 0)
{
    const char *text = getenv("SEQUENCES");
    long n = text ? strtol(text, NULL, 10) : SHORT_SEQUENCES;

    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)(1 + (i * 7 + i / 251) % 255);
    for (long seed = 1; seed <= n; seed++) {
        run_sequence((uint64_t)seed);
        cr_assert(true, "sequence %ld", seed);
    }
}
