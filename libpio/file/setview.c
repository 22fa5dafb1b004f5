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
 * that the views of 64 nodes fit into the 256 KB that it has for all. */
#define NODES_MOST   400
#define WINDOW_NODES 100

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

/* ---- Planning ---- */

/* Plans what each subfile has of the view's element from `from` to before `to`. On -E2BIG, *reached is as for
 * plan_make_some. */
static int plan_range(struct setting *s, const struct pattern *disks, int64_t from, int64_t to, int32_t nodes_most,
                      int64_t *reached)
{
    int error = 0;

    s->view->nodes = 0;
    for (int k = 0; k < disks->elements && !error; k++) {
        const struct plan_pair pair = {s->view->pattern, disks, 0, k};

        plan_free(s->plan[k]);
        s->plan[k] = NULL;
        error = plan_make_some(&pair, from, to, nodes_most, reached, &s->plan[k]);
        if (!error && s->plan[k]->body.nodes > s->view->nodes)
            s->view->nodes = s->plan[k]->body.nodes;
    }
    return error;
}

/* Where a window of the view that has file byte x begins: behind the one before, or at a multiple of its length. */
static int64_t window_begin(const struct pio_view *v, int64_t x, int64_t behind)
{
    int64_t first = v->pattern->displacement;

    return behind > first && x >= behind && x - behind < v->span ? behind : x - (x - first) % v->span;
}

/* Plans a window that has file byte x, with at most so many nodes. */
static int plan_window(struct setting *s, const struct pattern *disks, int64_t x, int64_t behind)
{
    struct pio_view *v = s->view;
    int64_t reached;
    int error;

    for (;; v->span = plan_span_shorter(v->span, v->from, reached)) {
        v->from = window_begin(v, x, behind);
        v->to = v->span < PATTERN_OFFSET_MAX - v->from ? v->from + v->span : PATTERN_OFFSET_MAX;
        error = plan_range(s, disks, v->from, v->to, WINDOW_NODES, &reached);
        if (error != -E2BIG)
            return error;
    }
}

/* The common period of the view's element and any subfile, and the longest of theirs. */
static int64_t find_periods(const struct pio_view *v, const struct pattern *disks, int64_t *longest)
{
    int64_t most = 1;

    *longest = 1;
    for (int k = 0; k < disks->elements; k++) {
        const struct plan_pair pair = {v->pattern, disks, 0, k};
        int64_t longer, common = plan_periods(&pair, &longer);

        *longest = longer > *longest ? longer : *longest;
        most = common > most ? common : most;
    }
    return most;
}

/* Plans all that come, if that has few nodes; else the first window. */
static int plan_first(struct setting *s, const struct pattern *disks)
{
    struct pio_view *v = s->view;
    int64_t common = find_periods(v, disks, &v->span), reached, turns = common / v->span;
    int error = turns > 1 ? plan_window(s, disks, v->pattern->displacement, 0) : 0;

    if (error || turns > NODES_MOST / (v->nodes + 1))
        return error;
    const struct pio_view first = *v;
    v->from = 0;
    v->to = PATTERN_OFFSET_MAX;
    error = plan_range(s, disks, v->from, v->to, NODES_MOST, &reached);
    if (error != -E2BIG)
        return error;
    *v = first;
    return plan_window(s, disks, v->pattern->displacement, 0);
}

/* The stripes of a file as a pattern; *own is what the caller frees. */
static int find_disks(const struct pio_file *file, struct pattern **own, const struct pattern **disks)
{
    const struct pio_map *map = &file->description.map;
    int error = map->pattern ? 0 : pattern_stripe(map->block_bytes, map->disks, own);

    *disks = map->pattern ? map->pattern : *own;
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
    struct pattern *own = NULL;
    const struct pattern *disks;

    if (!s->view)
        return plan_file_itself(s);
    int error = find_disks(s->file, &own, &disks);
    if (!error)
        error = plan_first(s, disks);
    pattern_free(own);
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
static int move_to(struct setting *s, const struct pattern *disks, int64_t x, int64_t behind, int *volume)
{
    struct pio_view *v = s->view;
    int error;

    do {
        error = plan_window(s, disks, x, behind);
        if (!error)
            error = tell_servers(s->file, s, volume);
    } while ((error == -ENOMEM || error == -E2BIG) && v->nodes > 1 && (v->span /= 2) > 0);
    return error;
}

int pio_view_move(struct pio_file *file, int64_t x, int *volume)
{
    struct pio_view *v = file->view;
    struct setting s = {.file = file, .view = v, .plan = calloc((size_t)file->description.map.disks, sizeof *s.plan)};
    struct pattern *own = NULL;
    const struct pattern *disks;
    int64_t behind = v->to;

    *volume = 0;
    if (x >= v->to && v->to > 0)
        v->span = plan_span_next(v->span, v->nodes, WINDOW_NODES);
    int error = s.plan ? find_disks(file, &own, &disks) : -ENOMEM;
    if (!error)
        error = move_to(&s, disks, x, behind, volume);
    if (!error)
        take_plans(file, &s);
    else
        v->from = v->to = 0;
    pattern_free(own);
    s.view = NULL;
    if (s.plan)
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
