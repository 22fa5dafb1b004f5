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
#include "libpio/map/window.h"

/* A server takes views of 400 nodes (FILE_VIEW_MAX_BYTES of vertex/contract/proto.h). Those of windows are smaller, so
 * that the views of 64 nodes fit into the 1.5 MB that it has for all on a node of 16 MB. */
#define NODES_MOST   400
#define WINDOW_NODES 100

/* What a view of the file becomes, complete before anything changes. */
struct setting {
    const struct pio_file *file;
    struct pio_view *view;
    struct plan **plan;  /* [disks] */
    struct pattern *own; /* the stripes of a file without a map */
    const struct pattern *disks;
};

static void free_setting(struct setting *s)
{
    for (int k = 0; s->plan && k < s->file->description.map.disks; k++)
        plan_free(s->plan[k]);
    free(s->plan);
    pio_view_free(s->view);
    pattern_free(s->own);
}

/* ---- Planning ---- */

/* Plans what each subfile has of the view's element from `from` to before `to` (struct plan_maker). */
static int plan_range(void *ctx, int64_t from, int64_t to, int32_t nodes_most, int32_t *nodes, int64_t *reached)
{
    struct setting *s = ctx;
    int error = 0;

    *nodes = 0;
    for (int k = 0; k < s->disks->elements && !error; k++) {
        const struct plan_pair pair = {s->view->pattern, s->disks, 0, k};

        plan_free(s->plan[k]);
        s->plan[k] = NULL;
        error = plan_make_some(&pair, from, to, nodes_most, reached, &s->plan[k]);
        if (!error && s->plan[k]->body.nodes > *nodes)
            *nodes = s->plan[k]->body.nodes;
    }
    return error;
}

static struct plan_maker maker_of(struct setting *s)
{
    return (struct plan_maker){s->view->pattern->displacement, NODES_MOST, WINDOW_NODES, plan_range, s};
}

/* The common period of the view's element and any subfile, and the longest of theirs. */
static int64_t find_periods(const struct setting *s, int64_t *longest)
{
    int64_t most = 1;

    *longest = 1;
    for (int k = 0; k < s->disks->elements; k++) {
        const struct plan_pair pair = {s->view->pattern, s->disks, 0, k};
        int64_t longer, common = plan_periods(&pair, &longer);

        *longest = longer > *longest ? longer : *longest;
        most = common > most ? common : most;
    }
    return most;
}

/* Plans all that come, if that has few nodes; else the first window. */
static int plan_first(struct setting *s)
{
    const struct plan_maker maker = maker_of(s);
    int64_t longest, common = find_periods(s, &longest);

    return plan_range_first(&s->view->range, &maker, common, longest);
}

/* Which disk has which byte, as a pattern. */
static int find_disks(struct setting *s)
{
    const struct pio_map *map = &s->file->description.map;
    int error = map->pattern ? 0 : pattern_stripe(map->block_bytes, map->disks, &s->own);

    s->disks = map->pattern ? map->pattern : s->own;
    return error;
}

/* Without a view, plans what each subfile has of the file, which stripes need not. */
static int plan_file_itself(struct setting *s)
{
    const struct pio_map *map = &s->file->description.map;
    int error = 0;

    for (int k = 0; map->pattern && k < map->disks && !error; k++)
        error = plan_make_file(map->pattern, k, &s->plan[k]);
    return error;
}

static int plan_parts(struct setting *s)
{
    if (!s->view)
        return plan_file_itself(s);
    int error = find_disks(s);
    return error ? error : plan_first(s);
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

/* ---- Telling ---- */

/* What tells a server which bytes of its subfile the plan has; a plan without bytes is never asked for. The caller
 * frees the buffer. */
static int prepare_question(struct pio_question *q, const struct plan *plan)
{
    struct pattern *view;

    if (!plan || plan->body.bytes == 0)
        return 0;
    int error = plan_project(plan, PLAN_B, &view);
    if (error)
        return error;
    int64_t bytes = pattern_pack(view, 0, NULL, 0);
    q->buffer = bytes > 0 ? malloc((size_t)bytes) : NULL;
    error = bytes < 0 ? (int)bytes : q->buffer ? 0 : -ENOMEM;
    if (!error)
        q->bytes = (size_t)pattern_pack(view, 0, q->buffer, (size_t)bytes);
    pattern_free(view);
    return error;
}

/* Tells the servers of n volumes from `first` on, all at the same time. */
static int tell_some(const struct pio_file *file, const struct setting *s, int first, int n, int *failed)
{
    struct pio_question q[PIO_QUESTIONS_MAX];
    int error = 0, made = 0;

    for (; made < n && !error; made++) {
        q[made] = (struct pio_question){.kind = PIO_ASK_VIEW, .fd = file->subfile[first + made].fd};
        *failed = first + made;
        error = prepare_question(&q[made], s->view ? s->plan[first + made] : NULL);
    }
    if (!error)
        pio_transport->ask(q, n);
    for (int i = 0; i < made; i++) {
        if (!error && q[i].result < 0) {
            *failed = first + i;
            error = q[i].result;
        }
        free(q[i].buffer);
    }
    return error;
}

/* *failed: the volume whose server refuses, the first of them. */
static int tell_servers(const struct pio_file *file, const struct setting *s, int *failed)
{
    int disks = file->description.map.disks, error = 0;

    for (int first = 0; first < disks && !error; first += PIO_QUESTIONS_MAX)
        error =
            tell_some(file, s, first, disks - first < PIO_QUESTIONS_MAX ? disks - first : PIO_QUESTIONS_MAX, failed);
    return error;
}

static void take_plans(struct pio_file *file, struct setting *s)
{
    for (int k = 0; k < file->description.map.disks; k++) {
        struct plan *before = file->subfile[k].plan;

        file->subfile[k].plan = s->plan[k];
        s->plan[k] = before;
    }
}

static int set_view(struct pio_file *file, const void *packed, size_t n)
{
    struct setting s = {.file = file};
    int error = file->flags & O_APPEND ? -EINVAL : prepare(&s, packed, n), failed;

    if (!error) {
        error = tell_servers(file, &s, &failed);
        if (error)
            pio_fail_at_volume(file, failed, error);
    }
    if (!error) {
        struct pio_view *before = file->view;

        take_plans(file, &s);
        file->view = s.view;
        s.view = before;
    }
    free_setting(&s);
    return error;
}

/* ---- Moving ---- */

/* Plans and tells a window. A server that has no room for it gets a shorter one: it has room for as much as it had. */
static int move_to(struct setting *s, int64_t x, int64_t behind, int *volume)
{
    struct plan_range *r = &s->view->range;
    const struct plan_maker maker = maker_of(s);
    int error;

    do {
        error = plan_range_at(r, &maker, x, behind);
        if (!error)
            error = tell_servers(s->file, s, volume);
    } while ((error == -ENOMEM || error == -E2BIG) && r->nodes > 1 && (r->span /= 2) > 0);
    return error;
}

int pio_view_move(struct pio_file *file, int64_t x, int *volume)
{
    struct plan_range *r = &file->view->range;
    struct setting s = {
        .file = file, .view = file->view, .plan = calloc((size_t)file->description.map.disks, sizeof *s.plan)};
    int64_t behind = r->to;

    *volume = 0;
    if (x >= r->to && r->to > 0)
        r->span = plan_span_next(r->span, r->nodes, WINDOW_NODES);
    int error = s.plan ? find_disks(&s) : -ENOMEM;
    if (!error)
        error = move_to(&s, x, behind, volume);
    if (!error)
        take_plans(file, &s);
    else
        r->from = r->to = 0;
    s.view = NULL;
    free_setting(&s);
    return error;
}

/* ---- The call ---- */

/* The servers have what they were told before the one that refused; then they have no view, and neither has the file.
 */
int pio_setview(int pfd, const void *packed, size_t n)
{
    struct pio_file *file = pio_file_get(pfd);

    if (!file)
        return (int)PIO_RESULT(-EBADF);
    if (file->started)
        return (int)PIO_RESULT(-EBUSY);
    int error = set_view(file, packed, n);
    if (error && n > 0)
        set_view(file, NULL, 0);
    return (int)PIO_RESULT(error);
}
