/*
 * Reads and writes: a request for each block, by its disk block, to its disk's server [P2 section 3.0]. A synchronous
 * call has one request under way. cfs_async.c has the others.
 */
#include "libpio/cfs/cfs_moves.h"

#include <string.h>

#include "vertex/contract/errors.h"

/* ---- Pieces ---- */

/* disk: of the machine. */
static void fail(struct move *m, uint64_t at, int error, uint32_t disk)
{
    if (at < m->good) {
        m->good = at;
        m->error = error;
        m->f->failed = error < 0 ? 1 + disk : 0;
        m->f->error = error;
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

void cfs_piece_begin(struct move *m)
{
    const uint64_t at = m->at + m->next, left = m->n - m->next;
    const uint32_t room = CFS_BLOCK_BYTES - (uint32_t)(at % CFS_BLOCK_BYTES);
    const uint32_t bytes = left < room ? (uint32_t)left : room;
    uint32_t pointer = 0;
    long result = cfs_file_pointer(m->f, at / CFS_BLOCK_BYTES, &pointer);

    uint32_t disk = result == 0 ? m->f->disk[CFS_POINTER_DISK(pointer)] : m->f->home;
    if (result == 0 && pointer == 0 && !m->write) {
        memset(m->buf + m->next, 0, bytes);
        m->next += bytes;
        return;
    }
    if (result == 0)
        result = pointer == 0 ? -N_EIO : send(m, pointer, m->next, bytes);
    if (result < 0) {
        fail(m, m->next, (int)result, disk);
        return;
    }
    m->piece[(m->first + m->pieces++) % CFS_ASYNC_MAX] = (struct piece){result, m->next, bytes, disk};
    m->next += bytes;
}

/* The pointer of a piece's block as it is now; 0: of a read, zeros. A read ends where the file does now, and a write
 * makes it longer again. */
static int look_again(struct move *m, const struct piece *p, uint32_t *pointer)
{
    struct cfs_open *f = m->f;
    const uint64_t from = m->at + p->at, blocks = (m->at + m->n + CFS_BLOCK_BYTES - 1) / CFS_BLOCK_BYTES;

    cfs_file_forget(f, from / CFS_BLOCK_BYTES, false);
    int error = cfs_file_header(f, N_CSIZE, 0, 0);
    const uint64_t size = f->header.size_bytes;
    if (error == 0 && !m->write && from + p->bytes > size)
        fail(m, size > from ? size - m->at : p->at, 0, f->home);
    if (error == 0 && m->write && blocks > f->header.blocks)
        error = cfs_file_grow(f, blocks, false);
    const bool full = error == -N_ENOSPC;
    if (error == 0 || full)
        error = cfs_file_pointer(f, from / CFS_BLOCK_BYTES, pointer);
    if (error < 0 || *pointer != 0 || !m->write)
        return error;
    return full ? -N_ENOSPC : -N_EIO;
}

/* The block is no longer where it was: another node has emptied the file since its pointers were fetched. */
static long ask_again(struct move *m, struct piece *p)
{
    uint32_t pointer = 0;
    int error = look_again(m, p, &pointer);

    if (error < 0)
        return error;
    if (pointer == 0 && p->at < m->good)
        memset(m->buf + p->at, 0, p->bytes);
    if (pointer == 0)
        return 0;
    p->disk = m->f->disk[CFS_POINTER_DISK(pointer)];
    p->number = send(m, pointer, p->at, p->bytes);
    return receive(m, p);
}

void cfs_piece_end(struct move *m)
{
    struct piece p = m->piece[m->first];
    long n = receive(m, &p);

    m->first = (m->first + 1) % CFS_ASYNC_MAX;
    m->pieces--;
    if (n == -N_EINVAL)
        n = ask_again(m, &p);
    if (n < 0)
        fail(m, p.at, (int)n, p.disk);
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

int cfs_move_prepare(struct move *m, struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at)
{
    *m = (struct move){.f = f, .write = write, .buf = buf, .n = n, .at = at};
    f->failed = 0;
    int error = n == 0 ? 0 : at + n < at ? -N_EFBIG : write ? prepare_write(m) : prepare_read(m);
    m->good = m->n;
    return error;
}

int64_t cfs_move_finish(struct move *m)
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
    int error = cfs_move_prepare(&m, f, write, buf, n, at);

    if (error < 0)
        return error;
    while (m.next < m.n) {
        cfs_piece_begin(&m);
        if (m.pieces > 0)
            cfs_piece_end(&m);
    }
    return cfs_move_finish(&m);
}
