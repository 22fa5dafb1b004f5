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
#include "libpio/star/row_move.h"
#include "libpio/star/scopes.h"
#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_parts.h"
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

static bool is_pointers(int n) /* with the two other values, a power of two */
{
    return n == 0 || n == 2 || n == 6 || n == 14;
}

/* Blocks and entries divide superblocks. */
static int take_ib_options(struct cs_file *f, const struct cs_options *o)
{
    if (o->ib_block < 0 || o->ib_block > STAR_SUPERBLOCK_MAX || !is_pointers(o->dir_pointers) || o->superblock < 0 ||
        o->superblock > STAR_SUPERBLOCK_MAX || o->read_buffers < 0 || o->read_buffers > 4096)
        return -EINVAL;
    f->ib_block = o->ib_block > 0 ? o->ib_block : f->ib_block;
    f->ib_pointers = o->dir_pointers > 0 ? o->dir_pointers : f->ib_pointers;
    f->ib_superblock = o->superblock;
    f->read_buffers = o->read_buffers > 0 ? o->read_buffers : f->read_buffers;
    return o->superblock % f->ib_block || o->superblock % (4 * (f->ib_pointers + 2)) ? -EINVAL : 0;
}

static int take_options(struct cs_file *f, const struct cs_options *o)
{
    f->segments.cb_block = 8; /* [P4 5.2.1] */
    f->ib_block = 64;
    f->ib_pointers = 6;
    f->read_buffers = 2;
    if (!o)
        return 0;
    if (o->cb_block < 0 || o->cb_block > STAR_CB_BLOCK_MAX || (int)o->least < CS_NB || o->least > CS_IB ||
        (int)o->way < CS_WAY_CHOSEN || o->way > CS_TWO_PHASES || (o->layout && o->layout->map) ||
        take_ib_options(f, o) < 0)
        return -EINVAL;
    if (o->cb_block > 0)
        f->segments.cb_block = o->cb_block;
    f->least = o->least;
    f->way = o->way;
    f->is_trusted = o->trust;
    f->has_layout = o->layout != NULL;
    if (o->layout)
        f->layout = *o->layout;
    return 0;
}

/* ---- What node 0 finds or makes ---- */

struct found {
    int error;
    char part[STAR_PART_BYTES - STAR_NAME_BYTES]; /* of the file, that the error is about */
    bool is_external;
    bool is_noted; /* .meta says that it is being written; it will say this again if it is not opened: */
    struct star_meta meta;
    int64_t unit;
};

/* Whether a part of the file has from..to bytes. */
static int check_part(const struct cs_file *f, const char *suffix, int64_t from, int64_t to)
{
    char name[STAR_PART_BYTES];
    int handle = f->store->open(star_part_name(f, name, suffix), O_RDONLY, star_layout_of(f));

    if (handle < 0)
        return handle == -ENOENT ? -EPROTO : handle;
    int64_t size = f->store->size(handle);
    f->store->close(handle);
    return size < 0 ? (int)size : size >= from && size <= to ? 0 : -EPROTO;
}

/* The parts are as long as the .meta says. */
static int check_size(const struct cs_file *f, const struct star_meta *m, char *part)
{
    int64_t end = star_segments_file_end(&m->segments), size = m->ib_superblock, first = 16 * m->segments.vps;
    int error = check_part(f, strcpy(part, ""), end, m->ib_block > 0 ? m->ib_begin + m->superblocks * size : end);

    if (!error && m->ib_block > 0)
        error = check_part(f, strcpy(part, ".first"), first, first);
    if (!error && m->ib_block > 0)
        error = check_part(f, strcpy(part, ".dir"), 0, m->directory_superblocks * size);
    return error;
}

static int read_meta(const struct cs_file *f, struct star_meta *m)
{
    char text[STAR_META_BYTES];
    int64_t bytes = f->store->get_meta(f->name, star_layout_of(f), text, sizeof text);

    return bytes < 0 ? (int)bytes : bytes > (int64_t)sizeof text ? -EPROTO : star_meta_parse(text, (size_t)bytes, m);
}

/* Finds a file that exists. -ENOENT: there is no .meta. */
static int find_meta(const struct cs_file *f, struct star_meta *m, char *part)
{
    int error = read_meta(f, m);

    if (!error || error == -EPROTO)
        strcpy(part, ".meta");
    if (error)
        return error;
    if (m->is_writing)
        return -EBUSY;
    return check_size(f, m, part);
}

/* A file without .meta: the shape is the program's. */
static int find_external(const struct cs_file *f, bool has_shape)
{
    int handle = has_shape ? f->store->open(f->name, O_RDONLY, star_layout_of(f)) : -ENOENT;

    if (handle < 0)
        return handle;
    f->store->close(handle);
    return f->writes ? -EINVAL : 0;
}

/* A file without an IB segment has no directory; what lies there is another's. */
static int remove_directory(const struct cs_file *f)
{
    char name[STAR_PART_BYTES];
    int first = f->store->remove(star_part_name(f, name, ".first"));
    int error = first >= 0 || first == -ENOENT ? f->store->remove(star_part_name(f, name, ".dir")) : first;

    return error == -ENOENT ? 0 : error;
}

/* Makes the data, or empties them. */
static int empty_data(const struct cs_file *f)
{
    int handle = f->store->open(f->name, O_RDWR | O_CREAT | O_TRUNC, star_layout_of(f));

    if (handle == -ENOENT) { /* a crash has left it on some of the volumes */
        f->store->remove(f->name);
        handle = f->store->open(f->name, O_RDWR | O_CREAT | O_TRUNC, star_layout_of(f));
    }
    if (handle < 0)
        return handle;
    int error = f->store->sync(handle); /* before .meta says more: what there is can be repaired */
    int closed = f->store->close(handle);
    return error < 0 ? error : closed < 0 ? closed : 0;
}

/* Data without a .meta are an array of others, so before they change there is one, with "writing": the old file's,
 * until its data are gone. If they cannot be emptied, all is as it was. */
static int make_data(const struct cs_file *f)
{
    struct star_meta old, writing = star_meta_of(f, true);
    bool has_old = read_meta(f, &old) == 0, was_writing = has_old && old.is_writing;

    old.is_writing = true;
    int error = was_writing ? 0 : star_put_meta(f, has_old ? &old : &writing);
    if (error < 0)
        return error;
    error = empty_data(f);
    if (!error)
        error = remove_directory(f);
    if (!error)
        return has_old ? star_put_meta(f, &writing) : 0;
    old.is_writing = was_writing;
    if (has_old)
        star_put_meta(f, &old);
    else
        f->store->remove_meta(f->name, star_layout_of(f));
    return error;
}

/* At node 0. f->shape: the program's; NULL: that of the file is wanted. */
static void find(const struct cs_file *f, char type, struct found *found)
{
    int error = type == 'w' ? -ENOENT : find_meta(f, &found->meta, found->part);
    bool makes = type == 'w';

    if (type == 'r' && error == -ENOENT) {
        error = find_external(f, f->shape != NULL);
        found->is_external = error == 0;
    } else if (type == 'a' && error == -ENOENT) {
        int handle = f->store->open(f->name, O_RDONLY, star_layout_of(f));

        makes = handle == -ENOENT;
        error = handle >= 0 ? -EINVAL : handle;
        if (handle >= 0)
            f->store->close(handle);
    }
    if (makes) {
        error = make_data(f);
        found->meta = star_meta_of(f, false);
        found->is_noted = error == 0;
    } else if (error == 0 && f->writes && !found->is_external) {
        struct star_meta writing = found->meta;
        struct cs_shape shape = {.rank = writing.rank};

        memcpy(shape.extent, writing.extent, sizeof shape.extent);
        if (f->shape && !star_shape_same(f->shape, &shape))
            error = -EINVAL;
        writing.is_writing = true;
        error = error ? error : star_put_meta(f, &writing);
        found->is_noted = error >= 0;
        if (error >= 0 && writing.ib_block == 0)
            error = remove_directory(f);
    }
    if (error == 0) {
        found->unit = f->store->unit(f->name, star_layout_of(f));
        error = found->unit < 0 ? (int)found->unit : 0;
    }
    found->error = error;
}

/* ---- Opening ---- */

static int64_t least_common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b;

    while (y > 0) {
        int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Of a file with an IB segment, what that has; else the options: superblocks of a striping unit or a little more. */
static int take_ib(struct cs_file *f, const struct star_meta *m)
{
    f->segments.has_ib = m->ib_block > 0;
    if (f->segments.has_ib) {
        f->ib_block = m->ib_block;
        f->ib_pointers = m->ib_pointers;
        f->ib_superblock = m->ib_superblock;
        f->superblocks = m->superblocks;
        f->directory_superblocks = m->directory_superblocks;
    } else if (f->ib_superblock == 0) {
        int64_t step = least_common_multiple(f->ib_block, 4 * (f->ib_pointers + 2));

        f->ib_superblock = (f->unit + step - 1) / step * step;
    }
    return 0;
}

static int open_directory(struct cs_file *f, int flags)
{
    int error = star_open_part(f, ".first", flags, &f->first_handle);

    return error ? error : star_open_part(f, ".dir", flags, &f->directory_handle);
}

/* Where the blocks of a row lie. */
static void take_order(struct cs_file *f, const struct star_meta *m)
{
    const struct cs_shape *s = f->shape;

    f->order = star_row_order_make(s->rank, s->extent, m->order, m->grid);
    f->is_one_run = star_row_order_fits(&f->order, s);
    f->first = s->local > 0 ? star_place(&f->order, cs_number(s, 0)) : 0;
}

static int take_found(struct cs_file *f, const struct found *found, bool makes_shape)
{
    const struct star_meta *m = &found->meta;

    f->unit = found->unit;
    f->is_external = found->is_external;
    if (found->is_external) {
        take_order(f, m);
        return take_ib(f, m);
    }
    int error = star_shape_make(m->rank, m->extent, NULL, star_group.size, star_group.rank, &f->own_shape);
    if (error)
        return error;
    if (!makes_shape && !star_shape_same(f->shape, f->own_shape))
        return -EINVAL;
    if (makes_shape)
        f->shape = f->own_shape;
    take_order(f, m);
    int64_t cb_block = f->segments.cb_block;
    f->segments = m->segments;
    if (f->writes && m->segments.cb_bytes == 0)
        f->segments.cb_block = cb_block;
    memcpy(f->reason, m->reason, sizeof f->reason);
    f->at = f->appends ? star_segments_end(&f->segments) : 0;
    f->noted = m->ib_block > 0 ? CS_IB : m->segments.cb_bytes > 0 ? CS_CB : CS_NB;
    return take_ib(f, m);
}

/* The mode of the first segment that is not empty; of an append, that of the last: it begins at each VP's end. */
static int begin_mode(struct cs_file *f)
{
    enum cs_mode mode = f->is_external ? CS_NB : star_detect_seek(&f->segments, f->at);

    mode = mode > f->least ? mode : f->least;
    if (mode != CS_IB) {
        f->mode = mode;
        return 0;
    }
    int error = star_ib_enter(f);
    f->all_ib = true;
    for (long i = 0; !error && f->appends && i < f->shape->local; i++)
        f->ib->vp[i].at = star_ib_end(f, i);
    return error;
}

static int close_handles(struct cs_file *f)
{
    int *handle[] = {&f->handle, &f->first_handle, &f->directory_handle}, error = 0;

    star_exchange_free(f);
    for (int k = 0; k < 3; k++) {
        int result = *handle[k] >= 0 ? f->store->close(*handle[k]) : 0;

        error = error ? error : result;
        *handle[k] = -1;
    }
    return error;
}

static int open_parts(struct cs_file *f)
{
    int flags = f->writes ? O_RDWR : O_RDONLY;

    f->handle = f->store->open(f->name, flags, star_layout_of(f));
    if (f->handle < 0)
        return f->handle;
    return f->segments.has_ib ? open_directory(f, flags) : 0;
}

/* Node 0's outcome reaches all, then each opens the data. Where one of them cannot, the file is as it was, or empty. */
static int open_together(struct cs_file *f, char type, bool makes_shape, char *part)
{
    struct found found = {.error = 0};

    if (star_group.rank == 0)
        find(f, type, &found);
    int error = group_broadcast(&star_group, &found, sizeof found, 0);
    error = error < 0 ? error : found.error;
    if (error) {
        strcpy(part, found.part);
    } else {
        error = take_found(f, &found, makes_shape);
        if (!error)
            error = open_parts(f);
        if (!error)
            error = begin_mode(f);
        error = star_agree_on(error);
    }
    if (error)
        close_handles(f);
    if (error && found.is_noted && star_group.rank == 0)
        star_put_meta(f, &found.meta);
    return error;
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
    char part[STAR_PART_BYTES - STAR_NAME_BYTES] = "";
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
        error = open_together(f, type[0], makes_shape, part);
        star_modes_global();
    }
    if (error) {
        if (f)
            star_file_free(f);
        star_fail_at(name && strlen(name) < STAR_NAME_BYTES ? name : "", part, error);
        return NULL;
    }
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

/* At node 0. What some node could not write, and what follows, is cut off. A .meta that says "closed" survives a crash,
 * so what it speaks of must, too. */
static int finish(struct cs_file *f, int64_t good)
{
    const int handle[] = {f->handle, f->first_handle, f->directory_handle};
    int error = 0;

    if (good < star_segments_end(&f->segments)) {
        star_segments_cut(&f->segments, good);
        error = f->store->truncate(f->handle, star_segments_file_end(&f->segments));
    }
    for (int k = 0; k < 3 && error >= 0; k++)
        error = handle[k] >= 0 ? f->store->sync(handle[k]) : 0;
    struct star_meta m = star_meta_of(f, false);
    return error < 0 ? error : star_put_meta(f, &m);
}

/* Node 0 makes the part, if it is not there. */
static int make_part(struct cs_file *f, const char *suffix, int *handle)
{
    int error = star_agree_on(star_group.rank == 0 ? star_open_part(f, suffix, O_RDWR | O_CREAT, handle) : 0);

    return error ? error : star_agree_on(star_open_part(f, suffix, O_RDWR, handle));
}

/* Node 0 sees to it that what all have written survives a crash, as finish does for parts that are still open. */
static int leave_part(struct cs_file *f, int *handle)
{
    int error = *handle >= 0 && star_group.rank == 0 ? f->store->sync(*handle) : 0;
    int closed = *handle >= 0 ? f->store->close(*handle) : 0;

    *handle = -1;
    return star_agree_on(error < 0 ? error : closed < 0 ? closed : 0);
}

/* Where there are too few descriptors for three parts: one after the other. The data have been written, so the
 * descriptors of these serve. */
static int write_directory_in_turn(struct cs_file *f, int64_t *used)
{
    if (f->ib)
        star_blocks_settle(f);
    if (f->first_handle >= 0) /* some nodes have it: the others could not open it */
        f->store->close(f->first_handle);
    f->first_handle = -1;
    int error = leave_part(f, &f->handle);
    if (!error)
        error = make_part(f, ".dir", &f->directory_handle);
    if (!error)
        error = star_agree_on(f->ib ? star_directory_end(f, used) : 0);
    if (!error)
        error = leave_part(f, &f->directory_handle);
    if (!error)
        error = make_part(f, ".first", &f->first_handle);
    return !error && f->ib ? star_directory_put_first(f) : error;
}

/* The directory of an IB segment: node 0 makes the files, if they are not there. A new .first has all VPs. */
static int write_directory(struct cs_file *f)
{
    int64_t used = f->directory_superblocks;
    int error = f->first_handle >= 0 ? 0 : star_ib_begin(f);

    error = star_agree_on(!error && star_group.rank == 0 ? open_directory(f, O_RDWR | O_CREAT) : error);
    if (!error)
        error = star_agree_on(open_directory(f, O_RDWR));
    if (error && error != -EMFILE)
        return error;
    if (error)
        error = write_directory_in_turn(f, &used);
    else if (f->ib && !(error = star_directory_end(f, &used)))
        error = star_directory_put_first(f);
    struct star_vote vote = {.call = STAR_STEP, .error = error, .has_vps = true, .good = -used};
    vote.bytes_most = f->ib ? star_blocks_used(f) : f->superblocks;
    error = star_agree(&vote);
    f->superblocks = vote.bytes_most;
    f->directory_superblocks = -vote.good;
    return error;
}

static int close_together(struct cs_file *f, enum cs_mode slowest)
{
    star_flush_all(f, slowest);
    struct star_vote vote = {.call = STAR_STEP, .error = f->error, .good = f->good};
    vote.has_ib = f->segments.has_ib || star_ib_has_bytes(f);
    int error = star_agree(&vote), result = 0;

    f->segments.has_ib = vote.has_ib;
    if (f->writes && vote.has_ib && error == vote.error)
        result = write_directory(f);
    if (f->writes && !result && star_group.rank == 0 && error == vote.error)
        result = finish(f, vote.has_ib ? INT64_MAX : vote.good);
    if (f->ib) {
        star_entries_settle(f);
        star_blocks_settle(f);
        star_blocks_stop(f);
    }
    int closed = close_handles(f);
    result = result < 0 ? result : closed < 0 ? closed : 0;
    result = star_agree_on(result);
    if (f->writes && (f->noted == CS_IB || slowest == CS_IB) && !vote.has_ib &&
        star_group.rank == 0) { /* nothing was written in IB */
        char name[STAR_PART_BYTES];

        f->store->remove(star_part_name(f, name, ".dir"));
    }
    return error ? error : result;
}

int cs_fclose(CS_FILE *file)
{
    struct cs_file *f = star_file(file);

    if (!f)
        return -1;
    if (star_is_elemental())
        return star_fail(-EINVAL);
    struct star_vote vote = {.call = STAR_CLOSE, .fd = f->fd, .mode = f->mode};
    int error = star_agree(&vote);
    if (!error) {
        star_modes_local();
        error = close_together(f, vote.mode);
        star_modes_global();
    } else {
        star_settle(f);
        star_ib_free(f);
        close_handles(f);
    }
    if (error)
        star_fail_at(f->name, "", error);
    star_file_free(f);
    return error ? -1 : 0;
}

int cs_remove(const char *name)
{
    struct star_vote vote = {.call = STAR_REMOVE, .error = star_is_elemental() ? -EINVAL : check_name(name)};

    vote.fd = (int)(sum_of(2166136261u, name) & 0x7fffffff);
    int error = star_is_elemental() ? -EINVAL : star_agree(&vote), result = 0;
    const char *asked = name && strlen(name) < STAR_NAME_BYTES ? name : "";
    if (error)
        return star_fail_at(asked, "", error);
    star_modes_local();
    if (star_group.rank == 0) {
        const struct star_store *store = star_store_of(&name);

        for (int k = 0; k < 2 && (result >= 0 || result == -ENOENT); k++) {
            char part[STAR_PART_BYTES];

            snprintf(part, sizeof part, "%s%s", name, k == 0 ? ".first" : ".dir");
            result = store->remove(part);
        }
        result = result < 0 && result != -ENOENT ? result : store->remove_all(name);
    }
    error = star_agree_on(result < 0 ? result : 0);
    star_modes_global();
    return error ? star_fail_at(asked, "", error) : 0;
}

/* ---- Beginning and end of a program ---- */

static void close_all(void)
{
    struct star_vote vote = {.call = STAR_EXIT};
    uint32_t sum = 2166136261u;

    /* A node that has lost a file, by an EPROTO in closing it, has fewer: then nobody closes any. */
    for (uint32_t i = 0; i < STAR_FILES; i++)
        sum = star_file_at((int)i) ? (sum ^ i) * 16777619u : sum;
    vote.fd = (int)(sum & 0x7fffffff);
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
