/*
 * Parts of a parallel file of virtual processors: .meta, .first, .dir and the data, as a program would find them. The
 * library, as a group of one node, opens the file and reads every stream, then appends to each: right data or an error,
 * in the end. What star_repair makes of a file whose writer has not closed it must be readable.
 *
 *   for each of .meta, .first, .dir, data: length, two bytes, low first, 0xffff: there is none | content
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "emu/tools/star_repair.h"
#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"
#include "tests/fuzz/fuzz.h"

#define VPS_MOST    2000      /* whose streams are read */
#define STREAM_MOST 3000      /* bytes that are read of one */
#define PART_MOST   (1 << 20) /* there is no more room */
#define NO_PART     0xffff

enum { META, FIRST, DIRECTORY, DATA, PARTS };
static const char *const suffixes[PARTS] = {".meta", ".first", ".dir", ""};

static struct part {
    unsigned char *bytes; /* NULL: it is not there */
    int64_t n;
} parts[PARTS];

/* ---- A store in memory ---- */

static int part_of(const char *name)
{
    int k = 0;

    while (suffixes[k][0] && strcmp(name + 1, suffixes[k]) != 0)
        k++;
    return k;
}

static int resize(struct part *p, int64_t n)
{
    if (n > PART_MOST)
        return -ENOSPC;
    unsigned char *bytes = realloc(p->bytes, (size_t)n + 1);
    if (!bytes)
        abort();
    if (n > p->n)
        memset(bytes + p->n, 0, (size_t)(n - p->n));
    *p = (struct part){bytes, n};
    return 0;
}

static int store_open(const char *name, int flags, const struct pio_layout *layout)
{
    int k = part_of(name);

    (void)layout;
    if (!parts[k].bytes && !(flags & O_CREAT))
        return -ENOENT;
    if (!parts[k].bytes || (flags & O_TRUNC))
        resize(&parts[k], 0);
    return k;
}

static int store_close(int handle)
{
    return handle < 0 ? -EBADF : 0;
}

static int64_t store_read(int handle, void *buf, int64_t bytes, int64_t at)
{
    const struct part *p = &parts[handle];
    int64_t left = at < p->n ? p->n - at : 0, n = bytes < left ? bytes : left;

    if (at < 0 || bytes < 0)
        abort();
    memcpy(buf, p->bytes + (n > 0 ? at : 0), (size_t)n);
    return n;
}

static int64_t store_write(int handle, const void *buf, int64_t bytes, int64_t at)
{
    if (at < 0 || bytes < 0)
        abort();
    int error = at + bytes > parts[handle].n ? resize(&parts[handle], at + bytes) : 0;

    if (!error)
        memcpy(parts[handle].bytes + at, buf, (size_t)bytes);
    return error ? error : bytes;
}

static int64_t store_size(int handle)
{
    return parts[handle].n;
}

static int store_truncate(int handle, int64_t bytes)
{
    return resize(&parts[handle], bytes);
}

static int store_sync(int handle)
{
    return handle < 0 ? -EBADF : 0;
}

static int64_t store_unit(const char *name, const struct pio_layout *layout)
{
    (void)name, (void)layout;
    return STAR_BLOCK_BYTES;
}

static int64_t store_get_meta(const char *name, const struct pio_layout *layout, char *text, size_t bytes)
{
    (void)name, (void)layout;
    if (!parts[META].bytes)
        return -ENOENT;
    memcpy(text, parts[META].bytes, (size_t)parts[META].n < bytes ? (size_t)parts[META].n : bytes);
    return parts[META].n;
}

static int store_put_meta(const char *name, const struct pio_layout *layout, const char *text, size_t bytes)
{
    (void)name, (void)layout;
    resize(&parts[META], 0);
    return store_write(META, text, (int64_t)bytes, 0) < 0 ? -ENOSPC : 0;
}

static int store_remove(const char *name)
{
    struct part *p = &parts[part_of(name)];
    int error = p->bytes ? 0 : -ENOENT;

    free(p->bytes);
    *p = (struct part){NULL, 0};
    return error;
}

static int store_remove_meta(const char *name, const struct pio_layout *layout)
{
    (void)name, (void)layout;
    return store_remove("x.meta");
}

const struct star_store *star_store_of(const char **name)
{
    static const struct star_store store = {
        .open = store_open,
        .close = store_close,
        .read = store_read,
        .write = store_write,
        .size = store_size,
        .truncate = store_truncate,
        .sync = store_sync,
        .unit = store_unit,
        .get_meta = store_get_meta,
        .put_meta = store_put_meta,
        .remove_meta = store_remove_meta,
        .remove = store_remove,
    };

    (void)name;
    return &store;
}

/* ---- What programs do ---- */

/* Every stream, up to some bytes; is_right: there must be no error. */
static void read_streams(CS_FILE *f, bool is_right)
{
    char buf[100];
    int error = star_ib_enter(f);

    if (error && is_right)
        abort();
    for (long i = 0; !error && i < f->shape->local; i++)
        for (int64_t n = 1, all = 0; n > 0 && all < STREAM_MOST; all += n) {
            n = star_ib_read(f, i, buf, sizeof buf);
            if (is_right && f->ib->vp[i].error)
                abort();
        }
}

static void open_and_read(bool is_right)
{
    struct cs_shape *s = NULL;
    CS_FILE *f = cs_fopen_shape("x", "r", &s);

    if (!f && is_right)
        abort();
    if (f && cs_positionsof(s) <= VPS_MOST)
        read_streams(f, is_right);
    if (f && cs_fclose(f) < 0 && is_right)
        abort();
    cs_shape_free(s);
}

/* Each VP appends some bytes, from its end or, with r+, in the middle of what is there. */
static void open_and_write(const char *type)
{
    struct cs_shape *s = NULL;
    CS_FILE *f = cs_fopen_shape("x", "r", &s);
    static const char text[90];

    if (!f || cs_fclose(f) < 0 || cs_positionsof(s) > VPS_MOST) {
        cs_shape_free(s);
        return;
    }
    CS_WITH(s)
    {
        f = cs_fopen("x", type);
        int error = f ? star_ib_enter(f) : -1;
        for (long i = 0; !error && i < s->local; i++)
            star_ib_write(f, i, text, 1 + i * 7 % (long)sizeof text);
        if (f)
            cs_fclose(f);
    }
    cs_shape_free(s);
}

static void repair(void)
{
    struct star_repair r = {.data_bytes = parts[DATA].n, .whole_bytes = parts[DATA].n};
    int part[2] = {FIRST, DIRECTORY};

    if (!parts[DATA].bytes || star_meta_parse((const char *)parts[META].bytes, (size_t)parts[META].n, &r.meta) < 0 ||
        !r.meta.is_writing || r.meta.segments.vps > VPS_MOST)
        return;
    r.first = parts[FIRST].bytes, r.first_bytes = parts[FIRST].n;
    r.directory = parts[DIRECTORY].bytes, r.directory_bytes = parts[DIRECTORY].n;
    if (star_repair(&r, 8) == 0) {
        char text[STAR_META_BYTES];

        parts[part[0]] = (struct part){r.first, r.first_bytes};
        parts[part[1]] = (struct part){r.directory, r.directory_bytes};
        resize(&parts[DATA], r.data_bytes);
        store_put_meta("x", NULL, text, star_meta_format(&r.meta, text));
        open_and_read(true);
    }
}

static void take_parts(const uint8_t *bytes, size_t n)
{
    for (int k = 0; k < PARTS; k++) {
        size_t length = n >= 2 ? bytes[0] | (size_t)bytes[1] << 8 : NO_PART;

        store_remove(k == META ? "x.meta" : k == FIRST ? "x.first" : k == DIRECTORY ? "x.dir" : "x");
        bytes += n >= 2 ? 2 : 0;
        n -= n >= 2 ? 2 : 0;
        if (length == NO_PART)
            continue;
        length = length < n ? length : n;
        resize(&parts[k], (int64_t)length);
        store_write(k, bytes, (int64_t)length, 0);
        bytes += length;
        n -= length;
    }
}

static void take(const uint8_t *bytes, size_t n)
{
    if (star_group.size == 0 && cs_init(0, 0) < 0)
        abort();
    take_parts(bytes, n);
    open_and_read(false);
    open_and_write(n % 2 ? "a" : "r+");
    open_and_read(false);
    take_parts(bytes, n);
    if (parts[META].bytes)
        repair();
}

static const char *const words[] = {"state writing\n",   "state closed\n", "ib 64 2 1024 ",    "nb 8 1\n",
                                    "superblocks 1 1\n", "reason x\n",     "\xff\xff\xff\xff", NULL};

const struct fuzz_target fuzz_star = {"star", .take = take, .words = words, .short_runs = 1500};
