/*
 * Opening, closing and removing [P4 5, 5.1, 5.2.4, 5.3].
 *
 *     agree: the same call             EPROTO on all
 *     node 0: reads .meta, checks it against the data; or makes or empties the data
 *     node 0: writes .meta, "writing"  for all types but r
 *     broadcast of the outcome         struct found
 *     all: open the data, without O_CREAT and O_TRUNC, or a late node would destroy what an early one has written
 *     agree: all have it
 *
 * Closing: the buffer, agree on what all have written, node 0 writes .meta, "closed".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/detect.h"
#include "libpio/star/scopes.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_transfer.h"

/* ---- What is asked for ---- */

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);

    return n >= m && strcmp(name + n - m, suffix) == 0;
}

static int check_name(const char *name)
{
    static const char *const own[] = {".meta", STAR_NEW_SUFFIX, ".first", ".dir"};

    if (!name)
        return -EINVAL;
    if (strlen(name) >= STAR_NAME_BYTES)
        return -ENAMETOOLONG;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (ends_in(name, own[i]))
            return -EINVAL;
    return 0;
}

/* FNV-1a */
static uint32_t sum_of(uint32_t sum, const char *text)
{
    for (; text && *text; text++)
        sum = (sum ^ (unsigned char)*text) * 16777619u;
    return sum;
}

static int take_type(struct cs_file *f, const char *type)
{
    char first = type ? type[0] : '\0';
    bool updates = false, is_binary = false;

    if (first != 'r' && first != 'w' && first != 'a')
        return -EINVAL;
    for (const char *c = type + 1; *c; c++)
        if (*c == '+' && !updates)
            updates = true;
        else if (*c == 'b' && !is_binary)
            is_binary = true;
        else
            return -EINVAL;
    f->reads = first == 'r' || updates;
    f->writes = first != 'r' || updates;
    f->appends = first == 'a';
    return 0;
}

static int take_options(struct cs_file *f, const struct cs_options *o)
{
    f->segments.cb_block = 8; /* [P4 5.2.1] */
    if (!o)
        return 0;
    if (o->cb_block < 0 || o->cb_block > STAR_CB_BLOCK_MAX || (o->least != CS_NB && o->least != CS_CB) ||
        (o->layout && o->layout->map))
        return -EINVAL;
    if (o->cb_block > 0)
        f->segments.cb_block = o->cb_block;
    f->least = o->least;
    f->is_trusted = o->trust;
    f->has_layout = o->layout != NULL;
    if (o->layout)
        f->layout = *o->layout;
    return 0;
}

static const struct pio_layout *layout_of(const struct cs_file *f)
{
    return f->has_layout ? &f->layout : NULL;
}

/* ---- What node 0 finds or makes ---- */

struct found {
    int error;
    bool is_external;
    int64_t unit;
    struct star_meta meta;
};

static struct star_meta meta_of(const struct cs_file *f, bool is_writing)
{
    struct star_meta m = {.is_writing = is_writing,
                          .rank = f->shape->rank,
                          .order = STAR_ROW,
                          .nodes = star_group.size,
                          .segments = f->segments};

    memcpy(m.extent, f->shape->extent, sizeof m.extent);
    strcpy(m.reason, f->reason);
    return m;
}

static int put_meta(const struct cs_file *f, const struct star_meta *m)
{
    char text[STAR_META_BYTES];
    size_t bytes = star_meta_format(m, text);

    return f->store->put_meta(f->name, layout_of(f), text, bytes);
}

/* The data are as long as the .meta says. */
static int check_size(const struct cs_file *f, const struct star_meta *m)
{
    int handle = f->store->open(f->name, O_RDONLY, layout_of(f));

    if (handle < 0)
        return handle == -ENOENT ? -EPROTO : handle;
    int64_t size = f->store->size(handle);
    f->store->close(handle);
    return size < 0 ? (int)size : size == star_segments_file_end(&m->segments) ? 0 : -EPROTO;
}

/* Finds a file that exists. -ENOENT: there is no .meta. */
static int find_meta(const struct cs_file *f, struct star_meta *m)
{
    char text[STAR_META_BYTES];
    int64_t bytes = f->store->get_meta(f->name, layout_of(f), text, sizeof text);

    if (bytes < 0)
        return (int)bytes;
    int error = bytes > (int64_t)sizeof text ? -EPROTO : star_meta_parse(text, (size_t)bytes, m);
    if (error)
        return error;
    if (m->is_writing)
        return -EBUSY;
    if (m->ib_block > 0 || m->order != STAR_ROW)
        return -ENOTSUP;
    return check_size(f, m);
}

/* A file without .meta: the shape is the program's. */
static int find_external(const struct cs_file *f, bool has_shape)
{
    int handle = has_shape ? f->store->open(f->name, O_RDONLY, layout_of(f)) : -ENOENT;

    if (handle < 0)
        return handle;
    f->store->close(handle);
    return f->writes ? -EINVAL : 0;
}

/* The old .meta goes before the data, and the new one comes after them: whatever happens, it does not lie. */
static int make_data(const struct cs_file *f)
{
    struct star_meta writing = meta_of(f, true);
    int error = f->store->remove_meta(f->name, layout_of(f));

    if (error < 0 && error != -ENOENT)
        return error;
    int handle = f->store->open(f->name, O_RDWR | O_CREAT | O_TRUNC, layout_of(f));
    if (handle < 0)
        return handle;
    error = f->store->close(handle);
    return error < 0 ? error : put_meta(f, &writing);
}

/* At node 0. f->shape: the program's; NULL: that of the file is wanted. */
static void find(const struct cs_file *f, char type, struct found *found)
{
    int error = type == 'w' ? -ENOENT : find_meta(f, &found->meta);
    bool makes = type == 'w';

    if (type == 'r' && error == -ENOENT) {
        error = find_external(f, f->shape != NULL);
        found->is_external = error == 0;
    } else if (type == 'a' && error == -ENOENT) {
        int handle = f->store->open(f->name, O_RDONLY, layout_of(f));

        makes = handle == -ENOENT;
        error = handle >= 0 ? -EINVAL : handle;
        if (handle >= 0)
            f->store->close(handle);
    }
    if (makes) {
        error = make_data(f);
        found->meta = meta_of(f, false);
    } else if (error == 0 && f->writes && !found->is_external) {
        struct star_meta writing = found->meta;
        struct cs_shape shape = {.rank = writing.rank};

        memcpy(shape.extent, writing.extent, sizeof shape.extent);
        if (f->shape && !star_shape_same(f->shape, &shape))
            error = -EINVAL;
        writing.is_writing = true;
        error = error ? error : put_meta(f, &writing);
    }
    if (error == 0) {
        found->unit = f->store->unit(f->name, layout_of(f));
        error = found->unit < 0 ? (int)found->unit : 0;
    }
    found->error = error;
}

/* ---- Opening ---- */

static int take_found(struct cs_file *f, const struct found *found, bool makes_shape)
{
    const struct star_meta *m = &found->meta;

    f->unit = found->unit;
    f->is_external = found->is_external;
    if (found->is_external)
        return 0;
    int error = star_shape_make(m->rank, m->extent, NULL, star_group.size, star_group.rank, &f->own_shape);
    if (error)
        return error;
    if (!makes_shape && !star_shape_same(f->shape, f->own_shape))
        return -EINVAL;
    if (makes_shape)
        f->shape = f->own_shape;
    int64_t cb_block = f->segments.cb_block;
    f->segments = m->segments;
    if (f->writes && m->segments.cb_bytes == 0)
        f->segments.cb_block = cb_block;
    memcpy(f->reason, m->reason, sizeof f->reason);
    f->at = f->appends ? star_segments_end(&f->segments) : 0;
    f->mode = star_detect_seek(&f->segments, f->at);
    return 0;
}

/* Node 0's outcome reaches all, then each opens the data. */
static int open_together(struct cs_file *f, char type, bool makes_shape)
{
    struct found found = {.error = 0};

    if (star_group.rank == 0)
        find(f, type, &found);
    int error = group_broadcast(&star_group, &found, sizeof found, 0);
    error = error < 0 ? error : found.error;
    if (error)
        return error;
    error = take_found(f, &found, makes_shape);
    if (!error) {
        f->handle = f->store->open(f->name, f->writes ? O_RDWR : O_RDONLY, layout_of(f));
        error = f->handle < 0 ? f->handle : 0;
    }
    return star_agree_on(error);
}

static int prepare(struct cs_file *f, const char *name, const char *type, const struct cs_options *o)
{
    int error = check_name(name);

    error = error ? error : take_type(f, type);
    error = error ? error : take_options(f, o);
    if (!error) {
        f->store = star_store_of(&name);
        strcpy(f->name, name);
    }
    return error;
}

CS_FILE *cs_fopen_with(const char *name, const char *type, struct cs_shape **s, const struct cs_options *o)
{
    struct cs_file *f = star_is_elemental() ? (errno = EINVAL, NULL) : star_file_new();
    bool makes_shape = s && type && type[0] == 'r';
    struct star_vote vote = {.call = STAR_OPEN, .error = f ? 0 : -errno};

    vote.fd = (int)(sum_of(sum_of(2166136261u, name), type) & 0x7fffffff);
    if (f) {
        const struct cs_shape *wanted = s ? *s : star_current_shape();

        vote.error = prepare(f, name, type, o);
        f->shape = makes_shape ? NULL : (struct cs_shape *)wanted;
        if (!vote.error && !makes_shape && !wanted)
            vote.error = -EINVAL;
        f->segments.vps = f->shape ? f->shape->vps : 0;
    }
    int error = star_is_elemental() ? -EINVAL : star_agree(&vote);
    if (!error) {
        star_modes_local();
        error = open_together(f, type[0], makes_shape);
        star_modes_global();
    }
    if (error) {
        if (f && f->handle >= 0)
            f->store->close(f->handle);
        if (f)
            star_file_free(f);
        star_fail(error);
        return NULL;
    }
    f->mode = f->mode > f->least ? f->mode : f->least;
    if (makes_shape) {
        *s = f->own_shape;
        f->own_shape = NULL;
    }
    return f;
}

CS_FILE *cs_fopen(const char *name, const char *type)
{
    return cs_fopen_with(name, type, NULL, NULL);
}

CS_FILE *cs_fopen_shape(const char *name, const char *type, struct cs_shape **s)
{
    if (!s) {
        star_fail(-EINVAL);
        return NULL;
    }
    return cs_fopen_with(name, type, s, NULL);
}

/* ---- Closing ---- */

/* At node 0. What some node could not write, and what follows, is cut off. */
static int finish(struct cs_file *f, int64_t good)
{
    int error = 0;

    if (good < star_segments_end(&f->segments)) {
        star_segments_cut(&f->segments, good);
        error = f->store->truncate(f->handle, star_segments_file_end(&f->segments));
    }
    struct star_meta m = meta_of(f, false);
    return error < 0 ? error : put_meta(f, &m);
}

static int close_together(struct cs_file *f)
{
    star_flush(f);
    struct star_vote vote = {.call = STAR_STEP, .error = f->error, .good = f->good};
    int error = star_agree(&vote), result = 0;

    if (f->writes && star_group.rank == 0 && (!error || error == vote.error))
        result = finish(f, vote.good);
    int closed = f->store->close(f->handle);
    result = result < 0 ? result : closed < 0 ? closed : 0;
    result = star_agree_on(result);
    return error ? error : result;
}

int cs_fclose(CS_FILE *file)
{
    struct cs_file *f = star_file(file);

    if (!f)
        return -1;
    if (star_is_elemental())
        return star_fail(-EINVAL);
    struct star_vote vote = {.call = STAR_CLOSE, .fd = f->fd};
    int error = star_agree(&vote);
    if (!error) {
        star_modes_local();
        error = close_together(f);
        star_modes_global();
    } else {
        f->store->close(f->handle);
    }
    star_file_free(f);
    return error ? star_fail(error) : 0;
}

int cs_remove(const char *name)
{
    struct star_vote vote = {.call = STAR_REMOVE, .error = star_is_elemental() ? -EINVAL : check_name(name)};

    vote.fd = (int)(sum_of(2166136261u, name) & 0x7fffffff);
    int error = star_is_elemental() ? -EINVAL : star_agree(&vote), result = 0;
    if (error)
        return star_fail(error);
    star_modes_local();
    if (star_group.rank == 0) {
        const struct star_store *store = star_store_of(&name);

        result = store->remove_meta(name, NULL);
        result = result < 0 && result != -ENOENT ? result : store->remove(name);
    }
    error = star_agree_on(result < 0 ? result : 0);
    star_modes_global();
    return error ? star_fail(error) : 0;
}

/* ---- Beginning and end of a program ---- */

static void close_all(void)
{
    struct star_vote vote = {.call = STAR_EXIT};

    star_scopes_end();
    if (star_agree(&vote) < 0)
        return;
    for (int i = 0; i < STAR_FILES; i++)
        if (star_file_at(i))
            cs_fclose(star_file_at(i));
}

int cs_init(int first, int nodes)
{
    if (star_group.size > 0)
        return star_fail(-EINVAL);
    int result = star_modes_begin(first, nodes);
    if (result == 0 && atexit(close_all) != 0)
        result = -ENOMEM;
    return result < 0 ? star_fail(result) : result;
}

struct cs_shape *cs_shape_grid(int rank, const long *extent, const int *grid)
{
    struct cs_shape *s = NULL;
    int error =
        star_group.size == 0 ? -EINVAL : star_shape_make(rank, extent, grid, star_group.size, star_group.rank, &s);

    if (error)
        star_fail(error);
    return s;
}

struct cs_shape *cs_shape(int rank, const long *extent)
{
    return cs_shape_grid(rank, extent, NULL);
}
