/*
 * PIO files across images (pio_image.h).
 */
#include "emu/disk/pio_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "libpio/map/pattern.h"

struct pio_image_file {
    struct pio_volumes *volumes;
    struct pio_description description;
    uint32_t index[PIO_DISKS_MAX];           /* of the volumes, in `volumes` */
    struct volume_file *part[PIO_DISKS_MAX]; /* subfiles */
    int64_t size[PIO_DISKS_MAX];             /* of subfiles that were opened */
    struct pattern *pattern;                 /* element k has the bytes of volume k */
    struct plan *plan[PIO_DISKS_MAX];        /* the bytes that the volumes have of it */
};

int pio_volume(struct pio_volumes *v, uint32_t i, struct volume **volume, char *error)
{
    int result = v->open[i] ? 0 : volume_open(&v->open[i], v->image[i], v->write, error);

    *volume = v->open[i];
    return result;
}

int pio_volumes_close(struct pio_volumes *v, int result, char *error)
{
    for (uint32_t i = 0; i < v->n; i++) {
        result = volume_close(v->open[i], result, error);
        v->open[i] = NULL;
    }
    return result;
}

/* ---- Descriptions ---- */

/* Reads the description on one volume. */
static int read_description(struct volume *v, const char *path, struct pio_description *d, int *index, char *error)
{
    char text[PIO_DESCRIPTION_MAX_BYTES];
    struct volume_file *f;
    uint64_t bytes;

    if (volume_file_open(v, path, &f, &bytes, error) < 0)
        return -1;
    size_t n = bytes < sizeof text ? (size_t)bytes : sizeof text;
    int result = volume_file_read(f, 0, text, n, error);
    if (result == 0 && (bytes > sizeof text || pio_description_parse(text, n, d, index) < 0))
        result = error_line(error, "%s: is not the description of a PIO file", path);
    return volume_file_close(f, result, error);
}

/* Finds the first volume that has the description, and reads it. */
static int find_description(struct pio_volumes *v, const char *path, struct pio_description *d, char *error)
{
    char *name = memory_print("%s.pio", path);
    int result = 1, index;

    for (uint32_t i = 0; i < v->n && result > 0; i++) {
        struct volume *volume;

        result = pio_volume(v, i, &volume, error);
        if (result == 0)
            result = volume_has(volume, name) ? read_description(volume, name, d, &index, error) : 1;
    }
    free(name);
    return result > 0 ? error_line(error, "pio:%s: no volume of this machine has %s.pio", path, path) : result;
}

/* Finds the volumes of a description by their names. */
static int find_volumes(struct pio_image_file *f, char *error)
{
    for (int k = 0; k < f->description.map.disks; k++) {
        uint32_t i = 0;

        while (i < f->volumes->n && strcmp(f->volumes->name[i], f->description.volume[k]) != 0)
            i++;
        if (i == f->volumes->n)
            return error_line(error, "there is no volume %s in this machine", f->description.volume[k]);
        f->index[k] = i;
    }
    return 0;
}

static struct pio_image_file *file_new(struct pio_volumes *v)
{
    struct pio_image_file *f = memory_new(1, sizeof *f);

    f->volumes = v;
    return f;
}

/* ---- Reading ---- */

static bool say_the_same(const struct pio_description *a, const struct pio_description *b)
{
    if (a->map.disks != b->map.disks || a->map.block_bytes != b->map.block_bytes ||
        strcmp(a->map_text, b->map_text) != 0)
        return false;
    for (int k = 0; k < a->map.disks; k++)
        if (strcmp(a->volume[k], b->volume[k]) != 0)
            return false;
    return true;
}

/* Opens subfile k, whose description must equal the one found first. */
static int open_part(struct pio_image_file *f, int k, const char *path, int64_t *bytes, char *error)
{
    struct pio_description here;
    struct volume *v;
    char *name = memory_print("%s.pio", path);
    uint64_t size = 0;
    int index, result = pio_volume(f->volumes, f->index[k], &v, error);

    if (result == 0)
        result = read_description(v, name, &here, &index, error);
    if (result == 0 && (index != k || !say_the_same(&here, &f->description)))
        result = error_line(error, "//%s%s.pio: contradicts the other volumes; were volumes exchanged?",
                            f->description.volume[k], path);
    if (result == 0)
        result = volume_file_open(v, path, &f->part[k], &size, error);
    *bytes = (int64_t)size;
    free(name);
    return result;
}

/* Makes the plans of all volumes. */
static int make_plans(struct pio_image_file *f, const char *path, char *error)
{
    const struct pio_map *map = &f->description.map;
    int result = f->description.map_text[0] ? pio_map_make(f->description.map_text, &f->pattern)
                                            : pattern_stripe(map->block_bytes, map->disks, &f->pattern);

    if (result == 0 && f->pattern->elements != map->disks)
        result = -EPROTO;
    for (int k = 0; result == 0 && k < map->disks; k++)
        result = plan_make_file(f->pattern, k, &f->plan[k]);
    f->description.map.pattern = f->description.map_text[0] ? f->pattern : NULL;
    return result < 0 ? error_line(error, "pio:%s: its map: %s", path, strerror(-result)) : 0;
}

int pio_image_open(struct pio_volumes *v, const char *path, struct pio_image_file **out, uint64_t *bytes, char *error)
{
    struct pio_image_file *f = file_new(v);
    int64_t *size = f->size;
    int result = find_description(v, path, &f->description, error);

    if (result == 0)
        result = find_volumes(f, error);
    for (int k = 0; result == 0 && k < f->description.map.disks; k++)
        result = open_part(f, k, path, &size[k], error);
    if (result == 0)
        result = make_plans(f, path, error);
    if (result < 0)
        return pio_image_close(f, result, error);
    *bytes = (uint64_t)pio_map_logical_bytes(&f->description.map, size);
    *out = f;
    return 0;
}

int64_t pio_image_missing(const struct pio_image_file *f, int64_t from, int64_t to)
{
    for (int k = 0; k < f->description.map.disks; k++) {
        int64_t own = pattern_rank(f->pattern, k, from); /* of the subfile's bytes, those before */
        int64_t first = pattern_file(f->pattern, k, own > f->size[k] ? own : f->size[k]);

        to = first >= from && first < to ? first : to;
    }
    return to;
}

struct move { /* between a buffer and one subfile */
    struct volume_file *part;
    char *buf; /* of the logical file from `from` on */
    int64_t from;
    bool write;
    char *error;
    int result;
};

static bool move_run(void *ctx, const struct plan_run *run)
{
    struct move *m = ctx;

    uint64_t at = (uint64_t)run->in[PLAN_B];
    char *buf = m->buf + (run->file - m->from);

    m->result = m->write ? volume_file_write(m->part, at, buf, (size_t)run->bytes, m->error)
                         : volume_file_read(m->part, at, buf, (size_t)run->bytes, m->error);
    return m->result == 0;
}

/* Reads or writes each volume's part of a range. */
static int move(struct pio_image_file *f, uint64_t offset, char *buf, size_t n, bool write, char *error)
{
    struct move m = {.buf = buf, .from = (int64_t)offset, .write = write, .error = error};

    for (int k = 0; m.result == 0 && k < f->description.map.disks; k++) {
        m.part = f->part[k];
        plan_runs(f->plan[k], m.from, m.from + (int64_t)n, move_run, &m);
    }
    return m.result;
}

int pio_image_read(struct pio_image_file *f, uint64_t offset, void *buf, size_t n, char *error)
{
    return move(f, offset, buf, n, false, error);
}

/* ---- Writing ---- */

int pio_image_describe(const struct pio_volumes *v, uint32_t block_bytes, const char *map, struct pio_description *d,
                       char *error)
{
    if (v->n == 0 || v->n > PIO_DISKS_MAX)
        return error_line(error, "a PIO file lies on 1 to %d volumes; this machine has %u", PIO_DISKS_MAX, v->n);
    const struct pio_layout layout = {
        .disks = (int)v->n, .block_size = (int)block_bytes, .volumes = v->name, .map = map};
    pio_layout_complete(&layout, d);
    return 0;
}

int pio_image_new(struct pio_volumes *v, const struct pio_description *description, struct pio_image_file **out,
                  char *error)
{
    struct pio_image_file *f = file_new(v);

    f->description = *description;
    int result = find_volumes(f, error);
    for (int k = 0; result == 0 && k < description->map.disks; k++) {
        struct volume *volume;

        result = pio_volume(v, f->index[k], &volume, error);
        if (result == 0)
            result = volume_file_new(volume, &f->part[k], error);
    }
    if (result == 0)
        result = make_plans(f, "", error);
    if (result < 0)
        return pio_image_close(f, result, error);
    *out = f;
    return 0;
}

int pio_image_write(struct pio_image_file *f, uint64_t offset, const void *buf, size_t n, char *error)
{
    return move(f, offset, (char *)buf, n, true, error);
}

static int link_description(struct pio_image_file *f, int k, const char *path, char *error)
{
    char text[PIO_DESCRIPTION_MAX_BYTES], *name = memory_print("%s.pio", path);
    size_t n = pio_description_format(&f->description, k, text);
    struct volume_file *file = NULL;
    int result = volume_file_new(f->volumes->open[f->index[k]], &file, error);

    if (result == 0)
        result = volume_file_write(file, 0, text, n, error);
    if (result == 0)
        result = volume_file_link(file, name, error);
    result = volume_file_close(file, result, error);
    free(name);
    return result;
}

int pio_image_link(struct pio_image_file *f, const char *path, char *error)
{
    int result = 0, linked = 0;

    for (int k = 0; result == 0 && k < f->description.map.disks; k++) {
        result = volume_file_link(f->part[k], path, error);
        linked += result == 0;
    }
    for (int k = 0; result == 0 && k < f->description.map.disks; k++)
        result = link_description(f, k, path, error);
    for (int k = 0; result < 0 && k < linked; k++)
        volume_remove(f->volumes->open[f->index[k]], path, NULL);
    return result;
}

const struct pio_description *pio_image_description(const struct pio_image_file *f)
{
    return &f->description;
}

int pio_image_close(struct pio_image_file *f, int result, char *error)
{
    if (!f)
        return result;
    for (int k = 0; k < PIO_DISKS_MAX; k++) {
        result = volume_file_close(f->part[k], result, error);
        plan_free(f->plan[k]);
    }
    pattern_free(f->pattern);
    free(f);
    return result;
}

/* ---- Removing ---- */

static int remove_name(struct pio_image_file *f, const char *path, char *error)
{
    for (int k = 0; k < f->description.map.disks; k++) {
        struct volume *v;

        if (pio_volume(f->volumes, f->index[k], &v, error) < 0)
            return -1;
        if (volume_has(v, path) && volume_remove(v, path, error) < 0)
            return -1;
    }
    return 0;
}

int pio_image_remove(struct pio_volumes *v, const char *path, char *error)
{
    struct pio_image_file *f = file_new(v);
    char *name = memory_print("%s.pio", path);
    int result = find_description(v, path, &f->description, error);

    if (result == 0)
        result = find_volumes(f, error);
    if (result == 0)
        result = remove_name(f, path, error);
    if (result == 0)
        result = remove_name(f, name, error);
    free(name);
    free(f);
    return result;
}
