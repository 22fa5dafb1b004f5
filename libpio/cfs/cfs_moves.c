/*
 * Reads and writes: a request for each block, by its disk block, to its disk's server [P2 section 3.0]. A synchronous
 * call has one request under way, asynchronous ones as many as the machine file's `async`, all moves together.
 */
#include <string.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

struct piece { /* a request under way */
    long number;
    uint64_t at; /* in the move */
    uint32_t bytes;
};

struct move {
    struct cfs_open *f; /* NULL: the place is free */
    bool write;
    uint8_t *buf;
    uint64_t n, at;                    /* bytes to move, and where they are in the file */
    uint64_t next;                     /* of them, those that were asked for, or need not be */
    uint64_t good;                     /* bytes from the start on without an error */
    int error;                         /* behind them */
    struct piece piece[CFS_ASYNC_MAX]; /* a ring from `first` on */
    uint32_t first, pieces;
};

static struct move move[CFS_MOVES_MAX];
static uint32_t under_way; /* pieces of those */

/* ---- Pieces ---- */

static void fail(struct move *m, uint64_t at, int error)
{
    if (at < m->good) {
        m->good = at;
        m->error = error;
    }
    m->next = m->n; /* nothing more is asked for */
}

/* Sends the request for a piece whose pointer is known. */
static long send(const struct move *m, uint32_t pointer, uint64_t at, uint32_t bytes)
{
    const struct cfs_request r = {.handle = m->f->handle,
                                  .block = CFS_POINTER_BLOCK(pointer),
                                  .offset = (uint16_t)((m->at + at) % CFS_BLOCK_BYTES),
                                  .bytes = (uint16_t)bytes};

    return cfs_start(m->f->disk[CFS_POINTER_DISK(pointer)], m->write ? N_CWRITE : N_CREAD, r,
                     m->write ? m->buf + at : NULL, m->write ? bytes : 0);
}

static long receive(const struct move *m, const struct piece *p)
{
    return cfs_end(p->number, NULL, 0, m->write ? NULL : m->buf + p->at, m->write ? 0 : p->bytes);
}

/* Begins the next piece. A block that has no pointer is zeros. */
static void begin_piece(struct move *m)
{
    const uint64_t at = m->at + m->next, left = m->n - m->next;
    const uint32_t room = CFS_BLOCK_BYTES - (uint32_t)(at % CFS_BLOCK_BYTES);
    const uint32_t bytes = left < room ? (uint32_t)left : room;
    uint32_t pointer = 0;
    long result = cfs_file_pointer(m->f, at / CFS_BLOCK_BYTES, &pointer);

    if (result == 0 && pointer == 0 && !m->write) {
        memset(m->buf + m->next, 0, bytes);
        m->next += bytes;
        return;
    }
    if (result == 0)
        result = pointer == 0 ? -N_EIO : send(m, pointer, m->next, bytes);
    if (result < 0) {
        fail(m, m->next, (int)result);
        return;
    }
    m->piece[(m->first + m->pieces++) % CFS_ASYNC_MAX] = (struct piece){result, m->next, bytes};
    m->next += bytes;
}

/* The block is no longer where it was: another node has emptied the file since its pointers were fetched. */
static long ask_again(struct move *m, struct piece *p)
{
    const uint64_t block = (m->at + p->at) / CFS_BLOCK_BYTES;
    uint32_t pointer;

    cfs_file_forget(m->f, block, false);
    long result = cfs_file_pointer(m->f, block, &pointer);
    if (result < 0 || pointer == 0)
        return result < 0 ? result : -N_EIO;
    p->number = send(m, pointer, p->at, p->bytes);
    return receive(m, p);
}

/* Ends the oldest piece. */
static void end_piece(struct move *m)
{
    struct piece p = m->piece[m->first];
    long n = receive(m, &p);

    m->first = (m->first + 1) % CFS_ASYNC_MAX;
    m->pieces--;
    if (n == -N_EINVAL)
        n = ask_again(m, &p);
    if (n < 0)
        fail(m, p.at, (int)n);
}

/* ---- Moves ---- */

/* As far as the file goes. */
static int prepare_read(struct move *m)
{
    int error = m->at + m->n > m->f->header.size_bytes ? cfs_file_header(m->f, N_CSIZE, 0, 0) : 0;
    const uint64_t size = m->f->header.size_bytes;

    m->n = m->at >= size ? 0 : m->n < size - m->at ? m->n : size - m->at;
    return error;
}

/* As far as there is room. */
static int prepare_write(struct move *m)
{
    const uint64_t blocks = (m->at + m->n + CFS_BLOCK_BYTES - 1) / CFS_BLOCK_BYTES;
    int error = blocks > m->f->header.blocks ? cfs_file_grow(m->f, blocks, false) : 0;
    const uint64_t room = (uint64_t)m->f->header.blocks * CFS_BLOCK_BYTES;

    if (error == -N_ENOSPC && m->at < room) {
        m->n = m->n < room - m->at ? m->n : room - m->at;
        return 0;
    }
    return error;
}

static int begin(struct move *m, struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at)
{
    *m = (struct move){.f = f, .write = write, .buf = buf, .n = n, .at = at};
    int error = n == 0 ? 0 : at + n < at ? -N_EFBIG : write ? prepare_write(m) : prepare_read(m);
    m->good = m->n;
    return error;
}

/* A file is as long as what was written to it without an error. */
static int64_t finish(struct move *m)
{
    if (m->write && m->good > 0 && m->at + m->good > m->f->header.size_bytes) {
        int error = cfs_file_header(m->f, N_CSIZE, 1, m->at + m->good);

        if (error < 0)
            return error;
    }
    return m->good == 0 && m->error < 0 ? m->error : (int64_t)m->good;
}

int64_t cfs_move(struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at)
{
    struct move m;
    int error = begin(&m, f, write, buf, n, at);

    if (error < 0)
        return error;
    while (m.next < m.n) {
        begin_piece(&m);
        if (m.pieces > 0)
            end_piece(&m);
    }
    return finish(&m);
}

/* ---- Asynchronous moves ---- */

static bool has_ended(const struct move *m)
{
    return m->next >= m->n && m->pieces == 0;
}

static void end_piece_of(struct move *m)
{
    end_piece(m);
    under_way--;
}

/* Begins what the limit leaves room for, the move with the lowest id first. */
static void begin_pieces(void)
{
    for (struct move *m = move; m < move + CFS_MOVES_MAX; m++)
        while (m->f && m->next < m->n && under_way < cfs_machine()->async) {
            const uint32_t before = m->pieces;

            begin_piece(m);
            under_way += m->pieces - before;
        }
}

/* Ends a piece of m; where others have taken all of the limit, one of theirs. */
static void go_on(struct move *m)
{
    for (struct move *other = move; m->pieces == 0 && other < move + CFS_MOVES_MAX; other++)
        if (other->f && other->pieces > 0)
            m = other;
    if (m->pieces > 0)
        end_piece_of(m);
    begin_pieces();
}

static void run_to_end(struct move *m)
{
    while (!has_ended(m))
        go_on(m);
}

long cfs_move_start(struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at, uint64_t *expected)
{
    uint32_t i = 0;

    while (i < CFS_MOVES_MAX && move[i].f)
        i++;
    if (i == CFS_MOVES_MAX)
        return -N_EAGAIN;
    int error = begin(&move[i], f, write, buf, n, at);
    *expected = move[i].n;
    if (error < 0) {
        move[i].f = NULL;
        return error;
    }
    f->moves++;
    begin_pieces();
    return (long)i + 1;
}

static struct move *move_of(long id)
{
    return id >= 1 && id <= (long)CFS_MOVES_MAX && move[id - 1].f ? &move[id - 1] : NULL;
}

int64_t cfs_move_end(long id)
{
    struct move *m = move_of(id);

    if (!m)
        return -N_EINVAL;
    run_to_end(m);
    int64_t result = finish(m);
    m->f->moves--;
    m->f = NULL;
    return result;
}

int cfs_move_test(long id)
{
    struct move *m = move_of(id);

    if (!m)
        return -N_EINVAL;
    for (struct move *o = move; o < move + CFS_MOVES_MAX; o++)
        while (o->f && o->pieces > 0 && cfs_transport.test(o->piece[o->first].number) == 1) {
            end_piece_of(o);
            begin_pieces();
        }
    return has_ended(m);
}

void cfs_move_end_of(long id, const struct cfs_open *f)
{
    const struct move *m = move_of(id);

    if (m && m->f == f)
        cfs_move_end(id);
}
