/*
 * Names of parts, the text of .meta, and what a change of the mode writes.
 */
#include "libpio/star/star_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "libpio/star/scopes.h"
#include "libpio/star/star_nodes.h"

const struct pio_layout *star_layout_of(const struct cs_file *f)
{
    return f->has_layout ? &f->layout : NULL;
}

struct star_meta star_meta_of(const struct cs_file *f, bool is_writing)
{
    struct star_meta m = {.is_writing = is_writing,
                          .rank = f->shape->rank,
                          .order = f->order.order,
                          .nodes = star_group.size,
                          .segments = f->segments};

    if (f->segments.has_ib) {
        m.ib_block = f->ib_block;
        m.ib_pointers = f->ib_pointers;
        m.ib_superblock = f->ib_superblock;
        m.ib_begin =
            (star_segments_file_end(&f->segments) + f->ib_superblock - 1) / f->ib_superblock * f->ib_superblock;
        m.superblocks = f->superblocks > 0 ? f->superblocks : 1;
        m.directory_superblocks = f->directory_superblocks > 0 ? f->directory_superblocks : 1;
    }
    memcpy(m.extent, f->shape->extent, sizeof m.extent);
    memcpy(m.grid, f->order.grid, sizeof m.grid);
    if (f->segments.nb_rows > 0 && (is_writing || f->segments.cb_bytes > 0 || f->segments.has_ib))
        strcpy(m.reason, f->reason);
    return m;
}

int star_put_meta(const struct cs_file *f, const struct star_meta *m)
{
    char text[STAR_META_BYTES];
    size_t bytes = star_meta_format(m, text);

    return f->store->put_meta(f->name, star_layout_of(f), text, bytes);
}

const char *star_part_name(const struct cs_file *f, char name[STAR_PART_BYTES], const char *suffix)
{
    strcpy(name, f->name);
    return strcat(name, suffix);
}

int star_open_part(const struct cs_file *f, const char *suffix, int flags, int *handle)
{
    char name[STAR_PART_BYTES];

    if (*handle < 0)
        *handle = f->store->open(star_part_name(f, name, suffix), flags, star_layout_of(f));
    return *handle < 0 ? *handle : 0;
}

/* ---- Transitions ---- */

/* Node 0's part. */
static int write_transition(struct cs_file *f, enum cs_mode mode)
{
    struct star_meta m;
    bool had_ib = f->segments.has_ib;
    int error = mode == CS_IB ? star_open_part(f, ".dir", O_RDWR | O_CREAT, &f->directory_handle) : 0;

    if (!error && mode == CS_IB)
        error = f->store->sync(f->directory_handle); /* a .meta that speaks of .dir comes after it */
    if (error < 0)
        return error;
    f->segments.has_ib = had_ib || mode == CS_IB;
    m = star_meta_of(f, true);
    f->segments.has_ib = had_ib;
    return star_put_meta(f, &m);
}

int star_transition(struct cs_file *f, enum cs_mode mode)
{
    if (mode <= f->noted)
        return 0;
    star_modes_local();
    int error = star_agree_on(star_group.rank == 0 ? write_transition(f, mode) : 0);
    f->counts.reductions++;
    if (!error && mode == CS_IB) {
        error = star_agree_on(star_open_part(f, ".dir", O_RDWR, &f->directory_handle));
        f->counts.reductions++;
    }
    star_modes_global();
    f->noted = error ? f->noted : mode;
    return error;
}
