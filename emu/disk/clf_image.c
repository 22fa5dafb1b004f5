/* Clusterfile's files across images (clf_image.h). */
#include "emu/disk/clf_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/disk/family_text.h"
#include "libpio/map/pattern.h"
#include "vertex/contract/clusterfile.h"

#define TEXT_BYTES (CLF_TEXT_BYTES + 64)

struct clf_image_file {
    struct pio_volumes *volumes;
    char text[TEXT_BYTES + 1];
    uint32_t inode, generation, age;
    struct pattern *pattern; /* whose elements are the subfiles */
    int64_t stripe;
    uint32_t q;                      /* volumes, */
    uint32_t index[CLF_VOLUMES_MAX]; /* which each is */
    struct volume_file **part;       /* [elements * q]; NULL: never written */
    struct plan **plan;              /* [elements] */
};

/* ---- The text ---- */

static const struct family_text kind = {"clf", "Clusterfile", "clf 1\n"};

static int find_text(struct clf_image_file *f, const char *path, char *error)
{
    struct volume_stat st;
    int result = family_text_find(f->volumes, &kind, path, f->text, TEXT_BYTES, &st, error);

    f->inode = result == 0 ? st.inode : 0;
    f->generation = result == 0 ? st.generation : 0;
    return result;
}

static int add_volume(struct clf_image_file *f, const char *name, char *error)
{
    uint32_t i = 0;
    int result = family_text_volume(f->volumes, name, &i, error);

    if (result == 0 && f->q == CLF_VOLUMES_MAX)
        return error_line(error, "more than %u volumes", (unsigned)CLF_VOLUMES_MAX);
    if (result == 0)
        f->index[f->q++] = i;
    return result;
}

/* Cuts the text to pieces. */
static int parse(struct clf_image_file *f, const char *path, char *error)
{
    char why[PATTERN_WHY_BYTES], *save = NULL, *line = strtok_r(f->text, "\n", &save), *names = NULL;
    int result = 0;
    bool ends = false;

    for (; line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "age ", 4) == 0)
            f->age = (uint32_t)strtoul(line + 4, NULL, 10);
        else if (strncmp(line, "stripe ", 7) == 0)
            f->stripe = strtoll(line + 7, NULL, 10);
        else if (strncmp(line, "volumes ", 8) == 0)
            names = line + 8;
        else if (strncmp(line, "pattern ", 8) == 0 && !f->pattern && pattern_parse(line + 8, &f->pattern, why) < 0)
            return error_line(error, "clf:%s: its pattern: %s", path, why);
        ends = strcmp(line, "end") == 0;
    }
    for (char *name = names ? strtok_r(names, " ", &save) : NULL; name && result == 0;
         name = strtok_r(NULL, " ", &save))
        result = add_volume(f, name, error);
    if (result == 0 && (!ends || !f->pattern || f->stripe <= 0 || f->q == 0 || f->age == 0))
        result = error_line(error, "clf:%s: its text is damaged", path);
    return result;
}

/* ---- Parts ---- */

/* Subfile i lies on volumes *first to before *end of the file's. */
static void place(const struct clf_image_file *f, uint32_t i, uint32_t *first, uint32_t *end)
{
    const uint32_t n = (uint32_t)f->pattern->elements, q = f->q;

    *first = n >= q ? i % q : i * q / n;
    *end = n >= q ? *first + 1 : (i + 1) * q / n;
}

/* The place in a subfile of a part's byte, of `stripes`. */
static int64_t subfile_place(const struct clf_image_file *f, int64_t at, uint32_t stripe, uint32_t stripes)
{
    return (at / f->stripe * stripes + stripe) * f->stripe + at % f->stripe;
}

/* Opens what a volume has of a subfile, and lets *size reach to its last byte. */
static int open_part(struct clf_image_file *f, uint32_t i, uint32_t s, uint64_t *size, char *error)
{
    struct volume *v;
    char path[80];
    uint32_t first, end;
    uint64_t bytes;

    place(f, i, &first, &end);
    size_t n = (size_t)snprintf(path, sizeof path, "/.clf/%u.%u/%u", f->inode, f->age + f->generation, i);
    if (end - first > 1)
        snprintf(path + n, sizeof path - n, ".%u", s);
    if (pio_volume(f->volumes, f->index[s], &v, error) < 0)
        return -1;
    if (!volume_has(v, path))
        return 0;
    struct volume_file **part = &f->part[i * f->q + s];
    if (volume_file_open(v, path, part, &bytes, error) < 0)
        return -1;
    if (bytes > 0) {
        const int64_t last = subfile_place(f, (int64_t)bytes - 1, s - first, end - first);
        const int64_t x = pattern_file(f->pattern, (int32_t)i, last) + 1;

        *size = x > 0 && (uint64_t)x > *size ? (uint64_t)x : *size;
    }
    return 0;
}

static int open_parts(struct clf_image_file *f, const char *path, uint64_t *size, char *error)
{
    const uint32_t n = (uint32_t)f->pattern->elements;
    int result = 0;

    f->part = memory_new((size_t)n * f->q, sizeof(struct volume_file *));
    f->plan = memory_new(n, sizeof(struct plan *));
    *size = 0;
    for (uint32_t i = 0; i < n && result == 0; i++) {
        uint32_t first, end;

        place(f, i, &first, &end);
        for (uint32_t s = first; s < end && result == 0; s++)
            result = open_part(f, i, s, size, error);
        if (result == 0 && plan_make_file(f->pattern, (int32_t)i, &f->plan[i]) < 0)
            result = error_line(error, "clf:%s: subfile %u is none", path, i);
    }
    return result;
}

int clf_image_open(struct pio_volumes *v, const char *path, struct clf_image_file **out, uint64_t *bytes, char *error)
{
    struct clf_image_file *f = memory_new(1, sizeof *f);

    f->volumes = v;
    int result = find_text(f, path, error);
    if (result == 0)
        result = parse(f, path, error);
    if (result == 0)
        result = open_parts(f, path, bytes, error);
    if (result < 0)
        return clf_image_close(f, result, error);
    *out = f;
    return 0;
}

int clf_image_close(struct clf_image_file *f, int result, char *error)
{
    if (!f)
        return result;
    const uint32_t n = f->pattern ? (uint32_t)f->pattern->elements : 0;
    for (uint32_t i = 0; f->part && i < n * f->q; i++)
        result = volume_file_close(f->part[i], result, error);
    for (uint32_t i = 0; f->plan && i < n; i++)
        plan_free(f->plan[i]);
    free(f->part);
    free(f->plan);
    pattern_free(f->pattern);
    free(f);
    return result;
}

/* ---- Reading ---- */

struct reading {
    const struct clf_image_file *f;
    uint32_t subfile;
    char *buf; /* of the file from `from` on */
    int64_t from;
    char *error;
    int result;
};

/* Reads a run of a subfile, stripe by stripe. */
static bool read_run(void *ctx, const struct plan_run *run)
{
    struct reading *r = ctx;
    const struct clf_image_file *f = r->f;
    uint32_t first, end;
    int64_t at = run->in[PLAN_B];

    place(f, r->subfile, &first, &end);
    for (int64_t done = 0, n; done < run->bytes && r->result == 0; done += n, at += n) {
        const int64_t room = f->stripe - at % f->stripe, stripes = end - first;
        const int64_t s = stripes > 1 ? at / f->stripe % stripes : 0;
        const int64_t in_part = stripes > 1 ? at / f->stripe / stripes * f->stripe + at % f->stripe : at;

        n = stripes > 1 && room < run->bytes - done ? room : run->bytes - done;
        struct volume_file *part = f->part[r->subfile * f->q + first + (uint32_t)s];
        if (part)
            r->result =
                volume_file_read(part, (uint64_t)in_part, r->buf + (run->file + done - r->from), (size_t)n, r->error);
    }
    return r->result == 0;
}

int clf_image_read(struct clf_image_file *f, uint64_t offset, void *buf, size_t n, char *error)
{
    struct reading r = {.f = f, .buf = buf, .from = (int64_t)offset, .error = error};

    memset(buf, 0, n);
    for (; r.subfile < (uint32_t)f->pattern->elements && r.result == 0; r.subfile++)
        plan_runs(f->plan[r.subfile], r.from, r.from + (int64_t)n, read_run, &r);
    return r.result;
}
