/*
 * The passes of a transfer (passes.h).
 */
#include "libpio/file/passes.h"

#include "libpio/file/transfer_end.h"
#include "libpio/file/viewed.h"

static void keep_result(struct pio_transfer *t, int64_t result)
{
    t->result = result;
    t->has_result = true;
}

/* Those that the program has started. What their plans tell must be known before other plans take their place. */
static void end_others(const struct pio_transfer *t)
{
    for (struct pio_transfer *other = t->file->started; other; other = other->next)
        if (other != t && !other->has_result)
            keep_result(other, pio_transfer_end(other));
}

/* Moves the window to own byte `at`, unless it is there. */
static int move_window(const struct pio_transfer *t, int64_t at)
{
    struct pio_file *file = t->file;
    int64_t x = pattern_file(file->view->pattern, 0, at);
    int volume;

    if (x < 0 || (x >= file->view->range.from && x < file->view->range.to))
        return x < 0 ? (int)x : 0;
    end_others(t);
    int error = pio_view_move(file, x, &volume);
    return error ? pio_fail_at_volume(file, volume, error) : 0;
}

/* Returns the end of the pass in the user's memory, or a negative errno. */
static int64_t find_pass(const struct pio_transfer *t, int64_t start, int64_t position, int64_t n)
{
    const struct pio_view *view = t->file->view;

    if (!view || n == position || (view->range.from == 0 && view->range.to == PATTERN_OFFSET_MAX))
        return n;
    int error = move_window(t, start + position);
    if (error)
        return error;
    int64_t end = pio_own_bytes(t->file, view->range.to) - start;
    return end < n ? end : n;
}

void pio_passes_begin(struct pio_transfer *t, enum pio_op op, struct pio_pieces pieces, int64_t start, int64_t n)
{
    int64_t position = 0;

    do {
        int64_t from = position, end = find_pass(t, start, from, n);

        if (end < 0) {
            t->error = (int)end;
            keep_result(t, from > 0 ? from : end);
            return;
        }
        position = end;
        t->has_result = false;
        pio_transfer_begin(t, op, pieces, start, from, end);
        if (end == n)
            return;
        keep_result(t, pio_transfer_end(t));
    } while (t->result == position && !t->error);
}

int64_t pio_passes_end(struct pio_transfer *t)
{
    int64_t result = t->has_result ? t->result : pio_transfer_end(t);

    t->has_result = false;
    return result;
}
