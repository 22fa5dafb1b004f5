/*
 * Makes views of PIO files (viewed.h): plans what each volume has of the element, tells the servers, and only then
 * changes the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "libpio/file/pio.h"
#include "libpio/file/transport.h"
#include "libpio/file/viewed.h"

/* What a view of the file becomes, complete before anything changes. */
struct setting {
    const struct pio_file *file;
    struct pio_view *view;
    struct plan **plan; /* [disks] */
};

static void free_setting(struct setting *s)
{
    for (int k = 0; s->plan && k < s->file->description.map.disks; k++)
        plan_free(s->plan[k]);
    free(s->plan);
    pio_view_free(s->view);
}

/* Plans what each subfile has of the view's element; without a view, what the file has of it, which stripes need not.
 */
static int plan_parts(struct setting *s)
{
    const struct pio_map *map = &s->file->description.map;
    struct pattern *stripes = NULL;
    int error = map->pattern || !s->view ? 0 : pattern_stripe(map->block_bytes, map->disks, &stripes);
    const struct pattern *disks = map->pattern ? map->pattern : stripes;

    for (int k = 0; disks && k < map->disks && !error; k++)
        error = s->view ? plan_make(s->view->pattern, 0, disks, k, &s->plan[k]) : plan_make_file(disks, k, &s->plan[k]);
    pattern_free(stripes);
    return error;
}

static int prepare(struct setting *s, const void *packed, size_t n)
{
    s->plan = calloc((size_t)s->file->description.map.disks, sizeof *s->plan);
    s->view = n > 0 ? calloc(1, sizeof *s->view) : NULL;
    if (!s->plan || (n > 0 && !s->view))
        return -ENOMEM;
    int error = n > 0 ? pattern_unpack(packed, n, &s->view->pattern) : 0;
    if (!error && n > 0)
        error = plan_make_file(s->view->pattern, 0, &s->view->own);
    return error ? error : plan_parts(s);
}

/* Tells volume k's server which bytes of its subfile the plan has; a plan without bytes is never asked for. */
static int tell_server(const struct pio_file *file, int k, const struct plan *plan)
{
    struct pattern *view;

    if (!plan || plan->body.bytes == 0)
        return pio_transport->set_view(file->subfile[k].fd, NULL, 0);
    int error = plan_project(plan, PLAN_B, &view);
    if (error)
        return error;
    int64_t bytes = pattern_pack(view, 0, NULL, 0);
    void *packed = bytes > 0 ? malloc((size_t)bytes) : NULL;
    error = bytes < 0 ? (int)bytes : packed ? 0 : -ENOMEM;
    if (!error && pattern_pack(view, 0, packed, (size_t)bytes) == bytes)
        error = pio_transport->set_view(file->subfile[k].fd, packed, (size_t)bytes);
    free(packed);
    pattern_free(view);
    return error;
}

static int tell_servers(const struct pio_file *file, const struct setting *s)
{
    int error = 0;

    for (int k = 0; k < file->description.map.disks && !error; k++) {
        error = tell_server(file, k, s->view ? s->plan[k] : NULL);
        if (error)
            pio_fail_at_volume(file, k, error);
    }
    return error;
}

static void take_over(struct pio_file *file, struct setting *s)
{
    for (int k = 0; k < file->description.map.disks; k++) {
        struct plan *before = file->subfile[k].plan;

        file->subfile[k].plan = s->plan[k];
        s->plan[k] = before;
    }
    pio_view_free(file->view);
    file->view = s->view;
    s->view = NULL;
}

static int set_view(struct pio_file *file, const void *packed, size_t n)
{
    struct setting s = {.file = file};
    int error = file->flags & O_APPEND ? -EINVAL : prepare(&s, packed, n);

    if (!error)
        error = tell_servers(file, &s);
    if (!error)
        take_over(file, &s);
    free_setting(&s);
    return error;
}

/* The servers have what they were told before the one that refused; then they have no view, and neither has the file.
 */
int pio_setview(int pfd, const void *packed, size_t n)
{
    struct pio_file *file = pio_file_get(pfd);

    if (!file)
        return (int)pio_result(-EBADF);
    if (file->started)
        return (int)pio_result(-EBUSY);
    int error = set_view(file, packed, n);
    if (error && n > 0)
        set_view(file, NULL, 0);
    return (int)pio_result(error);
}
