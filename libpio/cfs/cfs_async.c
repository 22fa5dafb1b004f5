/*
 * Asynchronous reads and writes: pieces of all moves together have as many requests under way as the machine file's
 * `async` says, two as on the original [P2 section 3.0].
 */
#include <string.h>

#include "libpio/cfs/cfs_moves.h"
#include "vertex/contract/errors.h"

static struct move move[CFS_MOVES_MAX];
static uint32_t under_way; /* pieces of those */

static bool has_ended(const struct move *m)
{
    return m->next >= m->n && m->pieces == 0;
}

static void end_piece_of(struct move *m)
{
    cfs_piece_end(m);
    under_way--;
}

/* Begins what the limit leaves room for, the move with the lowest id first. */
static void begin_pieces(void)
{
    for (struct move *m = move; m < move + CFS_MOVES_MAX; m++)
        while (m->f && m->next < m->n && under_way < cfs_machine()->number) {
            const uint32_t before = m->pieces;

            cfs_piece_begin(m);
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
    int64_t result = cfs_move_finish(m);
    m->f = NULL;
    return result;
}

/* When the file is closed: its ids are then of nothing. */
static void end_moves(struct cfs_open *f)
{
    for (long id = 1; id <= (long)CFS_MOVES_MAX; id++)
        if (move[id - 1].f == f)
            cfs_move_end(id);
}

long cfs_move_start(struct cfs_open *f, bool write, void *buf, uint64_t n, uint64_t at, uint64_t *expected)
{
    uint32_t i = 0;

    while (i < CFS_MOVES_MAX && move[i].f)
        i++;
    if (i == CFS_MOVES_MAX)
        return -N_EAGAIN;
    int error = cfs_move_prepare(&move[i], f, write, buf, n, at);
    *expected = move[i].n;
    if (error < 0) {
        move[i].f = NULL;
        return error;
    }
    f->end_moves = end_moves;
    begin_pieces();
    return (long)i + 1;
}

int cfs_move_test(long id)
{
    struct move *m = move_of(id);

    if (!m)
        return -N_EINVAL;
    for (struct move *o = move; o < move + CFS_MOVES_MAX; o++)
        while (o->f && o->pieces > 0 && server_calls.test(o->piece[o->first].number) == 1) {
            end_piece_of(o);
            begin_pieces();
        }
    return has_ended(m);
}
