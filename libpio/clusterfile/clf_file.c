/*
 * Open files (clf_client.h). A part is attached when something of it is needed first. A file is as long as the part
 * that reaches furthest says.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"

void clf_file_forked(struct clf_open *f)
{
    clf_group_end(f, true);
    for (uint32_t p = 0; f->layout && p < f->layout->parts; p++) {
        f->part[p].attachment = 0;
        f->part[p].joined = false;
        f->sight->meet[p].told = false;
    }
}

/* ---- All parts ---- */

/* Asks the servers of all parts that are attached, with what `fill` adds to the question. */
static int ask_parts(struct clf_open *f, int type,
                     void (*fill)(const struct clf_open *f, uint32_t p, struct clf_question *q, uint64_t *answer),
                     int64_t size, uint64_t *answer)
{
    struct clf_question *q = calloc(f->layout->parts, sizeof *q);
    uint32_t n = 0;

    if (!q)
        return -N_ENOMEM;
    for (uint32_t p = 0; p < f->layout->parts; p++)
        if (f->part[p].attachment != 0) {
            q[n] = clf_part_question(f, p, type);
            q[n].r.offset = size >= 0 ? (uint64_t)clf_part_bytes(f->layout, p, size) : 0;
            if (fill)
                fill(f, p, &q[n], answer);
            n++;
        }
    int error = n > 0 ? clf_ask(q, n) : 0;
    for (uint32_t p = 0, i = 0; p < f->layout->parts && type == (int)N_CLF_SIZE; p++)
        if (f->part[p].attachment != 0 && q[i++].result == CLF_MANAGED)
            f->managed = p + 1;
    free(q);
    return error;
}

static void want_all(struct clf_open *f)
{
    for (uint32_t p = 0; p < f->layout->parts; p++)
        f->part[p].wanted = true;
}

static void want_none(struct clf_open *f)
{
    for (uint32_t p = 0; p < f->layout->parts; p++)
        f->part[p].wanted = false;
}

static void fill_size(const struct clf_open *f, uint32_t p, struct clf_question *q, uint64_t *answer)
{
    (void)f;
    q->head = &answer[p];
    q->head_bytes = sizeof answer[p];
}

static void fill_set_size(const struct clf_open *f, uint32_t p, struct clf_question *q, uint64_t *answer)
{
    fill_size(f, p, q, answer);
    q->r.op = 1;
}

int clf_file_size(struct clf_open *f, int64_t *size)
{
    const struct clf_layout *l = f->layout;
    uint64_t *bytes = calloc(l->parts, sizeof *bytes);
    int error = bytes ? ask_parts(f, N_CLF_SIZE, fill_size, -1, bytes) : -N_ENOMEM;

    *size = 0;
    for (uint32_t p = 0; p < l->parts && error == 0; p++)
        f->part[p].wanted = f->part[p].attachment == 0;
    if (error == 0)
        error = clf_parts_attach(f);
    for (uint32_t p = 0; p < l->parts && error == 0; p++) {
        const uint64_t n = f->part[p].wanted ? f->part[p].size_bytes : bytes[p];
        const int64_t end = clf_part_end(l, p, n > PATTERN_OFFSET_MAX ? PATTERN_OFFSET_MAX : (int64_t)n);

        *size = end > *size ? end : *size;
    }
    want_none(f);
    free(bytes);
    return error;
}

int clf_file_set_size(struct clf_open *f, int64_t size)
{
    uint64_t *bytes = calloc(f->layout->parts, sizeof *bytes);
    int error = bytes ? 0 : -N_ENOMEM;

    want_all(f);
    if (error == 0)
        error = clf_parts_attach(f);
    if (error == 0)
        error = ask_parts(f, N_CLF_SIZE, fill_set_size, size, bytes);
    want_none(f);
    if (f->managed != 0 && !f->elsewhere) /* else the client tells its managers */
        clf_managers_drop(f);
    free(bytes);
    return error;
}

/* Managers may have written to parts that this client has not attached. */
int clf_file_sync(struct clf_open *f)
{
    int error = 0;

    if (f->elsewhere) {
        want_all(f);
        error = clf_parts_attach(f);
        want_none(f);
    }
    return error < 0 ? error : ask_parts(f, N_CLF_SYNC, NULL, -1, NULL);
}

/* ---- Opening and closing ---- */

static void free_file(struct clf_open *f)
{
    if (f->layout)
        clf_sight_free(f->layout, f->sight);
    if (!f->borrows)
        clf_layout_free(f->layout);
    free(f->part);
    free(f->name);
    free(f->folder);
    free(f);
}

void clf_file_close(struct clf_open *f)
{
    clf_group_end(f, false);
    if (f->layout)
        ask_parts(f, N_CLF_DETACH, NULL, -1, NULL);
    free_file(f);
}

static int open_data(struct clf_open *f, bool made)
{
    struct pattern *view;

    f->part = calloc(f->layout->parts, sizeof *f->part);
    int error = f->part ? clf_view_whole(f->layout, &view) : -N_ENOMEM;
    if (error == 0)
        error = clf_sight_make(f->layout, view, 1, false, &f->sight);
    if (error == 0 && (f->flags & N_O_TRUNC) && (f->flags & N_O_ACCMODE) != N_O_RDONLY && !made)
        error = clf_file_set_size(f, 0);
    return error;
}

static int open_again(uint64_t handle, struct clf_layout *layout, bool borrows, uint32_t flags, bool manages,
                      struct clf_open **out)
{
    struct clf_open *f = calloc(1, sizeof *f);

    if (!f) {
        if (!borrows)
            clf_layout_free(layout);
        return -N_ENOMEM;
    }
    f->handle = handle;
    f->layout = layout;
    f->borrows = borrows;
    f->manages = manages;
    f->flags = flags & N_O_ACCMODE;
    int error = open_data(f, true);
    if (error < 0)
        clf_file_close(f);
    else
        *out = f;
    return error;
}

int clf_file_of(uint64_t handle, struct clf_layout *layout, struct clf_open **out)
{
    return open_again(handle, layout, false, N_O_RDWR, true, out);
}

int clf_file_again(const struct clf_open *f, struct clf_layout *layout, struct clf_open **out)
{
    return open_again(f->handle, layout ? layout : f->layout, !layout, f->flags, false, out);
}

/* The text of a layout; NULL: the default. The caller frees it. */
static int write_text(const struct clf_layout *layout, char **text)
{
    struct clf_layout *own = NULL;
    int error = layout ? 0 : clf_layout_make(NULL, NULL, &own);
    long n = error;

    *text = malloc(CLF_TEXT_BYTES + 1);
    if (error == 0)
        n = *text ? clf_layout_format(layout ? layout : own, *text, CLF_TEXT_BYTES + 1) : -N_ENOMEM;
    clf_layout_free(own);
    return n < 0 ? (int)n : 0;
}

int clf_file_open(const char *name, uint32_t flags, uint32_t mode, const struct clf_layout *layout,
                  struct clf_open **out)
{
    struct clf_named named = {.handle = 0};
    struct clf_open *f = calloc(1, sizeof *f);
    char *text = NULL;
    int error = !f ? -N_ENOMEM : flags & N_O_CREAT ? write_text(layout, &text) : 0;

    if (error == 0)
        error = clf_name_open(name, flags | (uint64_t)mode << 32, text ? text : "", &named, &f->layout);
    free(text);
    if (error == 0) {
        f->handle = named.handle;
        f->flags = flags;
        f->stat = named.stat;
        error = named.handle == 0       ? server_folder_open(name, flags, &f->folder)
                : flags & N_O_DIRECTORY ? -N_ENOTDIR
                                        : open_data(f, named.made != 0);
    }
    if (error < 0 && f)
        clf_file_close(f);
    else
        *out = f;
    return error;
}
