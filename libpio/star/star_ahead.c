#include "libpio/star/star_ahead.h"

void star_ahead_stop(struct star_ahead *a, const struct star_store *store)
{
    if (a->is_under_way)
        store->read_end(a->number);
    a->is_under_way = false;
}

/* Takes what is under way. Returns its bytes; -1: it is not that piece, or not to be had. */
static int64_t take(struct star_ahead *a, const struct star_store *store, int64_t piece, char **bytes)
{
    char *read = a->bytes;

    if (!a->is_under_way || a->piece != piece) {
        star_ahead_stop(a, store);
        return -1;
    }
    a->is_under_way = false;
    int64_t got = store->read_end(a->number);
    if (got < 0) /* read anew, it says why */
        return -1;
    a->bytes = *bytes;
    *bytes = read;
    return got;
}

int64_t star_ahead_read(struct star_ahead *a, const struct star_store *store, int handle, int64_t piece, int64_t low,
                        int64_t limit, char **bytes)
{
    int64_t size = a->piece_bytes, got = take(a, store, piece, bytes), done = got < 0 ? 0 : got;

    if (done < size) { /* none, or up to what was the end */
        got = store->read(handle, *bytes + done, size - done, piece * size + done);
        done = got < 0 ? got : done + got;
    }
    int64_t step = piece - a->last;
    if (done >= 0 && store->read_start && step != 0 && step == a->step && piece + step >= low && piece + step < limit) {
        a->number = store->read_start(handle, a->bytes, size, (piece + step) * size);
        a->is_under_way = a->number >= 0;
        a->piece = piece + step;
    }
    a->step = step;
    a->last = piece;
    return done;
}
