/*
 * Random sequences of PIO calls on several files and descriptors, each compared with plain arrays (sequences.h).
 *
 * Several transfers are under way at the same time. The arrays change when a write starts; what <pio.h> leaves open
 * while it is under way is not asked for: a call that would ends that transfer first.
 */
#include "tests/libpio/sequences.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/file/pio.h"

enum { FILE_BYTES = 2000, FILES = 3, OPENS = 4, CALLS = 40, POISON = 0x5a, STARTS = 6 };

#define expect(condition, ...)                                      \
    do {                                                            \
        if (!(condition)) {                                         \
            char expect_text[200];                                  \
            snprintf(expect_text, sizeof expect_text, __VA_ARGS__); \
            sequences_failed(__LINE__, expect_text);                \
        }                                                           \
    } while (0)

#define below                          sequences_below
#define expect_equal(actual, expected) expect_equal_at(__LINE__, #actual, (long)(actual), (long)(expected))

static void expect_equal_at(int line, const char *what, long actual, long expected)
{
    char text[200];

    snprintf(text, sizeof text, "%s is %ld, not %ld: %s at %s", what, actual, expected, strerror(errno),
             pio_failed_path());
    if (actual != expected)
        sequences_failed(line, text);
}

/* The bytes that a call has brought are those expected; what lies behind them keeps its poison. */
static void expect_bytes(const char *got, const char *expected, int64_t n)
{
    int64_t i = 0;

    while (i < n && got[i] == expected[i])
        i++;
    expect(i >= n, "byte %ld of %ld is %d, not %d", (long)i, (long)n, got[i], expected[i]);
    while (i < FILE_BYTES && got[i] == POISON)
        i++;
    expect(i == FILE_BYTES, "byte %ld behind %ld is %d", (long)i, (long)n, got[i]);
}

static uint64_t state;
int sequences_volumes = 4;
static char source[2 * FILE_BYTES];

uint32_t sequences_below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % n;
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
    int moved;        /* starts that have moved the offset and are not ended */
    int64_t short_at; /* lowest end of those that came short, else INT64_MAX */
} opened[OPENS];

static struct started {
    struct description *d; /* NULL: unused */
    bool writes, here;
    int id; /* -1: it has none */
    int64_t at, n, expected, size_before;
    int order; /* the higher, the later it was started */
    char got[FILE_BYTES], bytes[FILE_BYTES];
} starts[STARTS];

static int start_order;

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

/* ---- Transfers under way ---- */

static void check_read(const struct started *s, ssize_t done)
{
    expect(done == s->expected, "%ld bytes at %ld: %zd, not %ld", (long)s->n, (long)s->at, done, (long)s->expected);
    expect_bytes(s->got, s->bytes, done);
}

static void correct_offset(const struct started *s)
{
    struct description *d = s->d;

    if (s->expected < s->n && s->at + s->expected < d->short_at)
        d->short_at = s->at + s->expected;
    if (--d->moved > 0)
        return;
    if (d->short_at != INT64_MAX)
        d->offset = d->short_at;
    d->short_at = INT64_MAX;
}

/* The latest of that kind without an id. */
static struct started *find_latest(const struct description *d, bool writes)
{
    struct started *latest = NULL;

    for (struct started *s = starts; s < starts + STARTS; s++)
        if (s->d == d && s->writes == writes && s->id < 0 && (!latest || s->order > latest->order))
            latest = s;
    return latest;
}

static void end_one(struct started *s)
{
    ssize_t done;

    if (s->id >= 0) {
        bool waited = below(2);

        while (waited && pio_iodone(s->id) == 0)
            ;
        done = pio_iowait(s->id);
        expect(pio_iowait(s->id) == -1 && errno == EINVAL, "%s", strerror(errno));
    } else {
        done = s->writes ? pio_writeend(s->d->pfd) : pio_readend(s->d->pfd, s->got);
    }
    if (s->writes)
        expect(done == s->n, "write of %ld at %ld: %zd", (long)s->n, (long)s->at, done);
    else
        check_read(s, done);
    if (s->here)
        correct_offset(s);
    s->d = NULL;
}

static void end_start(struct started *s)
{
    while (s->id < 0 && find_latest(s->d, s->writes) != s)
        end_one(find_latest(s->d, s->writes));
    end_one(s);
}

static bool overlap(const struct started *s, int64_t from, int64_t to)
{
    return s->at < to && from < s->at + s->n;
}

/* Ends what a change of the bytes from..to, after which the file has `size` bytes, must not meet under way. */
static void before_change(const struct file *f, int64_t from, int64_t to, int64_t size)
{
    for (struct started *s = starts; s < starts + STARTS; s++)
        if (s->d && s->d->file == f &&
            (overlap(s, from, to) || (!s->writes && size != f->size && s->at + s->n > f->size)))
            end_start(s);
}

/* The same for a read. */
static void before_read(const struct file *f, int64_t from, int64_t to)
{
    for (struct started *s = starts; s < starts + STARTS; s++)
        if (s->d && s->d->file == f && s->writes && (overlap(s, from, to) || to > s->size_before))
            end_start(s);
}

/* The same for a call that asks for the size on d, which waits for what d itself has under way. */
static void before_size(const struct description *d)
{
    for (struct started *s = starts; s < starts + STARTS; s++)
        if (s->d && s->d != d && s->d->file == d->file && s->writes)
            end_start(s);
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
    struct pio_layout layout = {.disks = 1 + (int)below((uint32_t)sequences_volumes),
                                .block_size = 1 + (int)below(below(4) ? 40 : 700)};

    layout.buffers = 1 + (int)below(3);
    layout.map = maps[sequences_volumes < 4 ? 0 : below(4)];
    if (layout.map)
        layout.disks = 0;
    if (d->file)
        return;
    for (struct started *s = starts; s < starts + STARTS; s++) /* the open asks for the size, or cuts */
        if (s->d && s->d->file == named[i])
            end_start(s);
    flags |= (below(4) ? O_CREAT : 0) | (below(6) ? 0 : O_APPEND);
    flags |= (flags & O_ACCMODE) != O_RDONLY && below(6) == 0 ? O_TRUNC : 0;
    flags |= flags & O_CREAT && below(6) == 0 ? O_EXCL : 0;
    int expected = !named[i] && !(flags & O_CREAT) ? ENOENT : named[i] && flags & O_EXCL ? EEXIST : 0;
    int pfd =
        pio_open_layout(name_of(i), flags, 0644, named[i] ? &(struct pio_layout){.buffers = layout.buffers} : &layout);
    expect((pfd < 0 ? errno : 0) == expected, "open %s with 0x%x: %d", name_of(i), flags, pfd < 0 ? errno : 0);
    if (pfd < 0)
        return;
    if (!named[i]) {
        named[i] = new_file();
        named[i]->users = 1;
    }
    named[i]->users++;
    if (flags & O_TRUNC)
        set_size(named[i], 0);
    *d = (struct description){named[i], pfd, flags, 0, 0, INT64_MAX};
}

static void call_close(void)
{
    struct description *d = choose_open();

    if (!d)
        return;
    expect_equal(pio_close(d->pfd), 0);
    expect(pio_close(d->pfd) == -1 && errno == EBADF, "%s", strerror(errno));
    for (struct started *s = starts; s < starts + STARTS; s++)
        if (s->d == d) {
            expect(s->id < 0 || (pio_iodone(s->id) == -1 && errno == EINVAL), "%s", strerror(errno));
            s->d = NULL;
        }
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
    before_read(d->file, way != THERE ? d->offset : at, (way != THERE ? d->offset : at) + n);
    if (way != THERE)
        at = d->offset; /* which an end may have moved */
    before_read(d->file, at, at + n);
    ssize_t done = read_by(way, d->pfd, got, n, at);
    if (!may_read(d)) {
        expect(done == -1 && errno == EBADF, "%s", strerror(errno));
        return;
    }
    int64_t left = at < d->file->size ? d->file->size - at : 0;
    expect(done == (n < left ? n : left), "%ld bytes at %ld of %ld: %ld", (long)n, (long)at, (long)d->file->size,
           (long)done);
    expect_bytes(got, d->file->bytes + at, done);
    if (way != THERE)
        d->offset += done;
}

/* Where a write goes, and how much: no more than the arrays hold. Ends what is in its way; that may move the offset. */
static int64_t settle_place(struct description *d, bool there, int64_t at, int64_t *n)
{
    bool appends = d->flags & O_APPEND;
    int64_t from;

    do {
        from = there ? at : appends && *n > 0 ? d->file->size : d->offset;
        if (from + *n > FILE_BYTES)
            *n = 0;
        before_change(d->file, from, from + *n, from + *n > d->file->size && *n > 0 ? from + *n : d->file->size);
    } while (!there && (!appends || *n == 0) && from != d->offset);
    return from;
}

static void call_write(void)
{
    struct description *d = choose_open();
    enum way way = below(WAYS);
    int64_t n = draw_length(), at = below(1000);
    char *from = source + below(FILE_BYTES);

    if (!d)
        return;
    if (way != THERE && d->flags & O_APPEND)
        before_size(d);
    at = settle_place(d, way == THERE, at, &n);
    ssize_t done = write_by(way, d->pfd, from, n, at);
    expect(done == (may_write(d) ? n : -1), "write of %ld at %ld: %zd", (long)n, (long)at, done);
    if (done <= 0)
        return;
    put(d->file, at, from, n);
    if (way != THERE)
        d->offset = at + n;
}

static int start_by(const struct started *s, int pfd, char *source_at)
{
    if (s->here && s->id < 0)
        return s->writes ? pio_writestart(pfd, source_at, (size_t)s->n) : pio_readstart(pfd, (size_t)s->n);
    if (s->here)
        return s->writes ? pio_iwrite(pfd, source_at, (size_t)s->n) : pio_iread(pfd, (char *)s->got, (size_t)s->n);
    return s->writes ? pio_ipwrite(pfd, source_at, (size_t)s->n, s->at)
                     : pio_ipread(pfd, (char *)s->got, (size_t)s->n, s->at);
}

/* Sets what the start is to bring, by the arrays; a write changes them. */
static void expect_start(struct started *s, const char *from)
{
    struct file *f = s->d->file;
    int64_t left = s->at < f->size ? f->size - s->at : 0;

    s->size_before = f->size;
    s->expected = s->writes || s->n < left ? s->n : left;
    if (s->writes)
        put(f, s->at, from, s->n);
    else
        memcpy(s->bytes, f->bytes + s->at, (size_t)s->expected);
    if (s->here) {
        s->d->offset = s->at + s->n;
        s->d->moved++;
    }
}

static void settle_start(struct started *s, struct description *d)
{
    if (s->writes && s->here && d->flags & O_APPEND)
        before_size(d);
    if (s->writes) {
        s->at = settle_place(d, !s->here, s->at, &s->n);
        return;
    }
    if (s->here)
        before_read(d->file, d->offset, d->offset + s->n);
    s->at = s->here ? d->offset : s->at;
    before_read(d->file, s->at, s->at + s->n);
}

static void call_start(void)
{
    struct description *d = choose_open();
    struct started *s = &starts[below(STARTS)];
    char *from = source + below(FILE_BYTES);

    if (!d || s->d)
        return;
    *s = (struct started){.writes = below(2), .here = below(3), .n = draw_length(), .at = below(1000)};
    s->id = s->here && below(2) ? -1 : 0;
    memset(s->got, POISON, sizeof s->got);
    settle_start(s, d);
    int id = start_by(s, d->pfd, from);
    if (s->writes ? !may_write(d) : !may_read(d)) {
        expect(id == -1 && errno == EBADF, "%s", strerror(errno));
        return;
    }
    expect(id >= 0, "start of %ld at %ld: %s", (long)s->n, (long)s->at, strerror(errno));
    s->id = s->id < 0 ? -1 : id;
    s->order = ++start_order;
    s->d = d;
    expect_start(s, from);
}

static void call_end(void)
{
    struct started *s = &starts[below(STARTS)];

    if (s->d)
        end_start(s);
}

static void call_seek(void)
{
    struct description *d = choose_open();
    int whence = (int)below(3);
    int64_t by = (int64_t)below(900) - (whence == SEEK_SET ? 50 : 450);

    if (!d)
        return;
    if (whence == SEEK_END)
        before_size(d);
    int64_t to = by + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? d->offset : d->file->size);
    expect_equal(pio_lseek(d->pfd, by, whence), to < 0 ? -1 : to);
    d->offset = to < 0 ? d->offset : to;
}

static void call_truncate(void)
{
    struct description *d = choose_open();
    int64_t size = below(900);

    if (!d)
        return;
    before_size(d);
    before_change(d->file, size < d->file->size ? size : d->file->size, FILE_BYTES, size);
    expect_equal(pio_ftruncate(d->pfd, size), may_write(d) ? 0 : -1);
    if (may_write(d))
        set_size(d->file, size);
}

static void call_preallocate(void)
{
    struct description *d = choose_open();
    int64_t at = below(900), n = below(300);

    if (!d)
        return;
    before_size(d);
    before_change(d->file, at, at + n, at + n > d->file->size ? at + n : d->file->size);
    bool works = n > 0 && may_write(d) && (may_read(d) || at >= d->file->size);
    expect_equal(pio_preallocate(d->pfd, at, n), works ? 0 : -1);
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

    expect_equal(pio_unlink(name_of(i)), named[i] ? 0 : -1);
    if (named[i])
        drop_name(i);
}

static void call_rename(void)
{
    int from = (int)below(FILES), to = (int)below(FILES);

    expect_equal(pio_rename(name_of(from), name_of(to)), named[from] ? 0 : -1);
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

        expect((pfd >= 0) == (named[i] != NULL), "%s", name_of(i));
        if (pfd < 0)
            continue;
        memset(got, POISON, sizeof got);
        expect_equal(pio_fstat(pfd, &st), 0);
        expect(st.st_size == named[i]->size, "%s: %ld bytes, not %ld", name_of(i), (long)st.st_size,
               (long)named[i]->size);
        expect_equal(pio_read(pfd, got, sizeof got), named[i]->size);
        expect_bytes(got, named[i]->bytes, named[i]->size);
        expect_equal(pio_close(pfd), 0);
    }
}

static void close_all(void)
{
    for (int i = 0; i < OPENS; i++)
        if (opened[i].file)
            expect_equal(pio_close(opened[i].pfd), 0);
}

/* For the next sequence; what is open keeps a file that loses its name. */
static void unlink_all(void)
{
    for (int i = 0; i < FILES; i++)
        if (named[i])
            expect_equal(pio_unlink(name_of(i)), 0);
}

void sequences_run(uint64_t seed)
{
    static void (*const calls[])(void) = {
        call_open,  call_open,     call_close,       call_read,  call_read,   call_read,   call_write, call_write,
        call_write, call_write,    call_seek,        call_seek,  call_unlink, call_rename, call_start, call_start,
        call_start, call_truncate, call_preallocate, call_start, call_end,    call_end};

    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (char)(1 + (i * 7 + i / 251) % 255);
    state = seed;
    memset(files, 0, sizeof files);
    memset(named, 0, sizeof named);
    memset(opened, 0, sizeof opened);
    memset(starts, 0, sizeof starts);
    for (int i = 0; i < CALLS; i++)
        calls[below(sizeof calls / sizeof calls[0])]();
    for (struct started *s = starts; s < starts + STARTS; s++)
        if (s->d)
            end_start(s);
    compare_all();
    close_all();
    unlink_all();
}
