/*
 * PIO READ and PIO WRITE in two halves: one call starts the transfer, another one ends it [P0 section 2, readstart and
 * readend]. transfer.c moves the blocks, whenever a PIO call waits.
 *
 *   slot      0         1         ...  PIO_STARTS_MAX - 1
 *             transfer  free           transfer               id of a transfer = turn * PIO_STARTS_MAX + slot
 *
 *   file->started -> the latest transfer of the file -> the one started before -> NULL
 *
 * A slot's turn goes on when its transfer has ended, so the id of one that has ended is not mistaken for another's. A
 * start owns its transfer and, if readstart made it, the memory for the data; pio_close drops what was not ended.
 */
#include "libpio/file/starts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/pio.h"
#include "libpio/file/passes.h"
#include "libpio/file/transfer_end.h"

struct start {
    struct pio_transfer *transfer; /* NULL: the slot is free */
    struct pio_piece piece;        /* its memory */
    char *stash;                   /* of pio_readstart: the memory, to be copied from and freed; else NULL */
    bool nameless;                 /* for pio_readend or pio_writeend: its caller has no id */
    bool moved;                    /* it has moved the file's offset on */
    int64_t asked;                 /* bytes */
    int turn;
};

#define TURNS (INT_MAX / PIO_STARTS_MAX)

static struct start starts[PIO_STARTS_MAX];

/* Where a start is to transfer. */
struct place {
    bool here; /* at the file's offset, which moves on */
    int64_t offset;
};

static const struct place at_offset = {.here = true};

/* ---- Slots ---- */

static struct start *find_free(void)
{
    for (int i = 0; i < PIO_STARTS_MAX; i++)
        if (!starts[i].transfer)
            return &starts[i];
    return NULL;
}

static int id_of(const struct start *s)
{
    return s->turn * PIO_STARTS_MAX + (int)(s - starts);
}

/* NULL: not the id of a transfer that is still to be ended. */
static struct start *find_id(int id)
{
    struct start *s = &starts[id < 0 ? 0 : id % PIO_STARTS_MAX];

    return s->transfer && !s->nameless && id_of(s) == id ? s : NULL;
}

static struct start *start_of(const struct pio_transfer *t)
{
    struct start *s = starts;

    while (s->transfer != t)
        s++;
    return s;
}

/* The most recent start of that kind which has no name [P0 section 2]. */
static struct start *find_latest(const struct pio_file *file, enum pio_op op)
{
    for (const struct pio_transfer *t = file->started; t; t = t->next)
        if (t->op == op && start_of(t)->nameless)
            return start_of(t);
    return NULL;
}

static void unlink_transfer(struct pio_transfer *t)
{
    struct pio_transfer **link = &t->file->started;

    while (*link != t)
        link = &(*link)->next;
    *link = t->next;
}

static void release(struct start *s)
{
    unlink_transfer(s->transfer);
    pio_transfer_free(s->transfer);
    free(s->stash);
    *s = (struct start){.turn = (s->turn + 1) % TURNS};
}

/* ---- Starting ---- */

static int64_t place_of(struct pio_file *file, enum pio_op op, int64_t n, const struct place *place)
{
    if (!place->here)
        return place->offset < 0 || place->offset > PIO_OFFSET_MAX ? -EINVAL : place->offset;
    return op == PIO_OP_WRITE && file->flags & O_APPEND && n > 0 ? pio_transfer_append_at(file) : file->offset;
}

/* Gets the memory that the start needs. */
static int prepare(struct pio_file *file, struct start *s, bool stash, int64_t n)
{
    s->stash = stash ? malloc(n > 0 ? n : 1) : NULL;
    s->transfer = stash && !s->stash ? NULL : pio_transfer_new(file);
    if (s->transfer)
        return 0;
    free(s->stash);
    s->stash = NULL;
    return -ENOMEM;
}

/* Returns the start's id. `buf` is NULL for a start that has no name and reads. */
static int64_t begin(struct pio_file *file, enum pio_op op, const void *buf, int64_t n, const struct place *place,
                     bool nameless)
{
    struct start *s = find_free();
    int64_t asked = n, from = s ? place_of(file, op, n, place) : -EAGAIN;

    if (from < 0)
        return from;
    int error = pio_transfer_check(file, op, from, &n);
    if (!error)
        error = prepare(file, s, nameless && op == PIO_OP_READ, n);
    if (error)
        return error;
    s->nameless = nameless;
    s->moved = place->here;
    s->asked = asked;
    if (place->here) {
        file->offset = from + n;
        file->moved++;
    }
    s->transfer->next = file->started;
    file->started = s->transfer;
    const struct pio_pieces pieces = pio_pieces_one(&s->piece, s->stash ? s->stash : buf, n);
    bool works = pio_work_begin(file, &pieces);
    pio_passes_begin(s->transfer, op, pieces, from, n);
    pio_work_end(works);
    return id_of(s);
}

static int64_t start(int pfd, enum pio_op op, const void *buf, size_t n, struct place place, bool nameless)
{
    int error;
    struct pio_file *file = pio_transfer_file(pfd, op, n, &error);

    return error ? error : begin(file, op, buf, n, &place, nameless);
}

int pio_iread(int pfd, void *buf, size_t n)
{
    return (int)PIO_RESULT(start(pfd, PIO_OP_READ, buf, n, at_offset, false));
}

int pio_iwrite(int pfd, const void *buf, size_t n)
{
    return (int)PIO_RESULT(start(pfd, PIO_OP_WRITE, buf, n, at_offset, false));
}

int pio_ipread(int pfd, void *buf, size_t n, off_t offset)
{
    return (int)PIO_RESULT(start(pfd, PIO_OP_READ, buf, n, (struct place){.offset = offset}, false));
}

int pio_ipwrite(int pfd, const void *buf, size_t n, off_t offset)
{
    return (int)PIO_RESULT(start(pfd, PIO_OP_WRITE, buf, n, (struct place){.offset = offset}, false));
}

int pio_readstart(int pfd, size_t n)
{
    return PIO_RESULT(start(pfd, PIO_OP_READ, NULL, n, at_offset, true)) < 0 ? -1 : 0;
}

int pio_writestart(int pfd, const void *buf, size_t n)
{
    return PIO_RESULT(start(pfd, PIO_OP_WRITE, buf, n, at_offset, true)) < 0 ? -1 : 0;
}

/* ---- Ending ---- */

/* When the last start that has moved the offset has ended, the offset goes back to where the first gap is, if any. */
static void correct_offset(struct pio_file *file, const struct start *s, int64_t done)
{
    int64_t end = s->transfer->start + (done > 0 ? done : 0);

    if (done < s->asked && end < file->short_at)
        file->short_at = end;
    if (--file->moved > 0)
        return;
    if (file->short_at != INT64_MAX)
        file->offset = file->short_at;
    file->short_at = INT64_MAX;
}

static int64_t end(struct start *s, void *to)
{
    struct pio_file *file = s->transfer->file;
    bool works = pio_work_begin(file, &s->transfer->pieces);
    int64_t done = pio_passes_end(s->transfer);
    pio_work_end(works);

    if (s->stash && done > 0)
        memcpy(to, s->stash, done);
    if (s->moved)
        correct_offset(file, s, done);
    release(s);
    return done;
}

ssize_t pio_iowait(int id)
{
    struct start *s = find_id(id);

    pio_fail_path[0] = '\0';
    return PIO_RESULT(s ? end(s, NULL) : -EINVAL);
}

int pio_iodone(int id)
{
    const struct start *s = find_id(id);

    pio_fail_path[0] = '\0';
    if (!s)
        return (int)PIO_RESULT(-EINVAL);
    return pio_transfer_advance() < 0 || s->transfer->under_way == 0;
}

static ssize_t end_latest(int pfd, enum pio_op op, void *to)
{
    const struct pio_file *file = pio_file_get(pfd);
    struct start *s = file ? find_latest(file, op) : NULL;

    return s ? end(s, to) : file ? -EINVAL : -EBADF;
}

ssize_t pio_readend(int pfd, void *buf)
{
    return PIO_RESULT(end_latest(pfd, PIO_OP_READ, buf));
}

ssize_t pio_writeend(int pfd)
{
    return PIO_RESULT(end_latest(pfd, PIO_OP_WRITE, NULL));
}

/* The latest first; of a write that was cut short, too, the error is known. */
int pio_starts_drop(struct pio_file *file)
{
    int first_error = 0;

    while (file->started) {
        struct pio_transfer *t = file->started;
        int64_t done = pio_passes_end(t);

        if (t->op == PIO_OP_WRITE && (done < 0 || t->error))
            first_error = done < 0 ? (int)done : t->error;
        release(start_of(t));
    }
    return first_error;
}
