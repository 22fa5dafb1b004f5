/*
 * The collective buffer [P4 4.1, Figure 3]: one block for each VP of the node, which are full at the same time. It
 * holds one row of either segment; a row of which only a part is written is read first if the file has it.
 */
#include <errno.h>
#include <stdlib.h>

#include "libpio/star/row_move.h"
#include "libpio/star/star_transfer.h"

void star_note(struct cs_file *f, int error, int64_t at)
{
    if (error && !f->error)
        f->error = error;
    if (error && at < f->good)
        f->good = at;
}

void star_settle(struct cs_file *f)
{
    star_note(f, star_behind_end(&f->behind, f->store, f->handle), f->behind_at);
}

void star_flush_behind(struct cs_file *f)
{
    struct star_row row = f->row;
    char *full = f->buffer;

    star_settle(f);
    if (f->is_bad || !f->is_one_run || star_way_of(f) != CS_DIRECTLY) {
        star_flush(f);
    } else {
        int64_t at = row.file + f->first * row.block, bytes = f->shape->local * row.block;
        int error = bytes > 0 ? star_behind_start(&f->behind, f->store, f->handle, full, bytes, at) : 0;

        f->counts.rows[1]++;
        f->counts.requests[1] += bytes > 0;
        f->behind_at = row.at;
        star_note(f, error, row.at);
        f->buffer = f->spare;
        f->spare = full;
    }
    star_drop(f);
}

int star_flush(struct cs_file *f)
{
    star_settle(f);
    if (!f->holds || !f->is_dirty)
        return 0;
    int error = f->is_bad ? -EIO : star_move_row(f, true, f->row.file, f->row.block, f->buffer);
    star_note(f, error, f->row.at);
    f->is_dirty = false;
    return error;
}

void star_drop(struct cs_file *f)
{
    f->holds = f->is_dirty = false;
}

int star_make_buffer(struct cs_file *f)
{
    const struct star_segments *s = &f->segments;
    int64_t block = s->nb_block > s->cb_block ? s->nb_block : s->cb_block;

    if (f->buffer && f->buffer_block >= block)
        return 0;
    star_settle(f);
    free(f->buffer);
    free(f->spare);
    f->buffer = malloc((size_t)(block * f->shape->local) + 1);
    f->spare = malloc((size_t)(block * f->shape->local) + 1);
    f->buffer_block = f->buffer && f->spare ? block : 0;
    return f->buffer_block > 0 ? 0 : -ENOMEM;
}
