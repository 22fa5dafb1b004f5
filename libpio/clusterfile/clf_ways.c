/*
 * How accesses are made (clf_client.h): by requests, in two phases, in which some members hold parts of the file
 * [P3 section 7.2.1], or, of reads, by data sieving [Thakur, Gropp, Lusk: Data sieving and
 * collective I/O in ROMIO, Frontiers 1999]. Each has the file a second time, with a view of its own: a holder sees its
 * part, and sieving the whole file. Cache managers [P3 section 3.1.3] have parts of the file, as servers have: it is
 * the file with another layout, and the same view. List I/O is a way of the requests (clf_list.c).
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/group/two_phase.h"
#include "libpio/servers/server_calls.h"
#include "vertex/contract/errors.h"

#define WINDOW_BYTES (256 << 10)
#define BLOCK_BYTES  (64 << 10)
#define SIEVE_BYTES  (4 << 20)
#define CACHED_BYTES (16 << 10) /* [P3 section 7.1] */

struct clf_way_of {
    struct clf_method method;
    struct clf_open *file;   /* the second time; NULL: this member holds nothing */
    struct two_phase engine; /* CLF_WAY_TWO_PHASE */
    struct pattern *parts;
    int *holder; /* [parts->elements] */
    struct clf_managers *managers;
};

/* ---- Two phases ---- */

/* The part's bytes are what the holder's view has. */
static int64_t move_part(void *ctx, bool writes, void *buf, int64_t bytes, int64_t at)
{
    const uint64_t since = server_calls.cycles ? server_calls.cycles() : 0;
    const int64_t moved = clf_move(ctx, writes, buf, (uint64_t)bytes, at);

    clf_counts.access_cycles += server_calls.cycles ? server_calls.cycles() - since : 0;
    return moved;
}

static int open_part(struct clf_open *f, struct clf_way_of *w, int32_t part)
{
    struct pattern *view;
    int error = clf_file_again(f, NULL, &w->file);

    if (error == 0)
        error = clf_view_copy(w->parts, part, &view);
    if (error < 0)
        return error;
    w->file->place = (uint32_t)part;
    return clf_view_set(w->file, view);
}

static int make_holders(struct clf_open *f, struct clf_way_of *w)
{
    struct group *g = &f->members->g;
    const int n = w->method.holders;
    int error = pattern_stripe(w->method.block, n, &w->parts);

    w->holder = malloc((size_t)n * sizeof *w->holder);
    if (error == 0 && !w->holder)
        error = -N_ENOMEM;
    if (error < 0)
        return error;
    w->parts->displacement = f->layout->pattern->displacement;
    for (int h = 0; h < n; h++) {
        w->holder[h] = two_phase_holder(g, n, h);
        if (w->holder[h] == g->rank && error == 0)
            error = open_part(f, w, h);
    }
    w->engine = (struct two_phase){.g = g,
                                   .parts = w->parts,
                                   .holder = w->holder,
                                   .store = {.move = move_part, .ctx = w->file},
                                   .window_bytes = w->method.buffer};
    return error;
}

/* ---- Data sieving ---- */

/* Windows begin with the next byte that is wanted; the last one ends with the last. */
static int64_t sieve(struct clf_open *f, char *buf, int64_t n, int64_t at)
{
    const struct clf_way_of *w = f->way;
    const int64_t first = f->layout->pattern->displacement;
    int64_t x = clf_view_file(f->sight, at), end = clf_view_file(f->sight, at + n - 1) + 1, done = 0;
    char *window = malloc((size_t)w->method.buffer);
    struct plan *plan = NULL;
    int64_t error = x < 0 || end <= 0 ? -N_EINVAL : !window ? -N_ENOMEM : plan_make_file(f->sight->pattern, 0, &plan);

    while (error == 0 && done < n) {
        const int64_t bytes = end - x < w->method.buffer ? end - x : w->method.buffer;
        const int64_t got = clf_move(w->file, false, window, (uint64_t)bytes, x - first);

        if (got > 0)
            done += plan_gather(plan, x, x + got, buf + done, window, x);
        error = got < 0 ? got : 0;
        if (got < bytes)
            break;
        x = clf_view_file(f->sight, at + done);
    }
    clf_counts.gathered += (uint64_t)done;
    plan_free(plan);
    free(window);
    return done > 0 ? done : error;
}

/* ---- Cache managers ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The members of the file's group are the same at the managers. */
static int open_managers(struct clf_open *f, struct clf_way_of *w)
{
    const int nodes = server_calls.nodes(), n = w->method.managers;
    int *node = malloc((size_t)n * sizeof *node);
    const struct clf_dealing d = {n, node, w->method.block};
    struct clf_layout *l;

    for (int i = 0; node && i < n; i++)
        node[i] = w->method.manager ? w->method.manager[i] : nodes - n + i;
    int error = node ? clf_layout_managers(f->layout, &d, &l) : -N_ENOMEM;
    free(node);
    if (error == 0)
        error = clf_managers_new(f, l, d.block, &w->managers);
    if (error < 0) {
        clf_layout_free(l);
        return error;
    }
    error = clf_file_again(f, l, &w->file);
    if (error == 0 && f->members)
        error = clf_group_make_room(f->members, larger(clf_move_room(f->layout), clf_move_room(l)));
    if (error < 0)
        return error;
    w->file->managers = w->managers;
    w->file->members = f->members;
    w->file->place = f->place;
    f->elsewhere = true;
    return clf_managers_meet(w->managers, w->file);
}

static int64_t move_cached(struct clf_open *f, bool write, void *buf, uint64_t n, int64_t at, bool collective)
{
    struct clf_open *file = f->way->file;

    f->collective = false;
    if (collective && f->members->ended != 0)
        return clf_group_find_ended(f->members);
    file->collective = collective;
    return clf_move(file, write, buf, n, at);
}

/* The managers learn the view, with the others of a group. */
static int show_managers(struct clf_open *f)
{
    struct pattern *view = NULL;
    int error = clf_view_copy(f->sight->pattern, 0, &view);

    return error < 0 ? clf_group_agree(f->way->file, error) : clf_view_set(f->way->file, view);
}

/* ---- Choosing ---- */

static int learn(struct clf_open *f)
{
    const enum clf_way way = f->way ? (enum clf_way)f->way->method.way : CLF_WAY_VIEW;

    return way == CLF_WAY_TWO_PHASE ? two_phase_learn(&f->way->engine, f->sight->pattern)
           : way == CLF_WAY_CACHE   ? show_managers(f)
                                    : 0;
}

int clf_way_set_group(struct clf_open *f, struct group *g)
{
    return clf_group_set(f, g, f->folder ? 0 : clf_move_room(f->layout));
}

int clf_way_set_view(struct clf_open *f, struct pattern *view)
{
    int error = clf_view_set(f, view);

    return error < 0 ? error : learn(f);
}

int clf_way_refuse_view(struct clf_open *f, int error)
{
    return f ? clf_group_agree(f, error) : error;
}

int64_t clf_way_refuse(struct clf_open *f, bool write, int error)
{
    if (!f->collective || !f->members)
        return error;
    if (f->way && f->way->method.way == CLF_WAY_TWO_PHASE)
        two_phase_move(&f->way->engine, write, NULL, -1, 0);
    else if (f->elsewhere)
        move_cached(f, write, NULL, 0, 0, true);
    else
        clf_move(f, write, NULL, 0, 0);
    f->collective = false;
    return error;
}

int clf_way_set_size(struct clf_open *f, int64_t size)
{
    int error = clf_file_set_size(f, size);

    return error < 0 || !f->elsewhere ? error : clf_file_set_size(f->way->file, size);
}

int64_t clf_way_move(struct clf_open *f, bool write, void *buf, uint64_t n, int64_t at)
{
    const enum clf_way way = f->way ? (enum clf_way)f->way->method.way : CLF_WAY_VIEW;
    const int64_t bytes = n < PATTERN_OFFSET_MAX ? (int64_t)n : PATTERN_OFFSET_MAX;
    const bool collective = f->collective && f->members;

    if (way == CLF_WAY_TWO_PHASE && collective) {
        f->collective = false;
        return two_phase_move(&f->way->engine, write, buf, bytes, at);
    }
    if (way == CLF_WAY_CACHE)
        return move_cached(f, write, buf, n, at, collective);
    return way == CLF_WAY_SIEVE && !collective && !write && n > 0 ? sieve(f, buf, bytes, at)
                                                                  : clf_move(f, write, buf, n, at);
}

int clf_way_context(const struct clf_open *f)
{
    return f->elsewhere                                        ? CONTEXT_GROUP
           : f->way && f->way->method.way == CLF_WAY_TWO_PHASE ? f->members->g.context
                                                               : CONTEXT_PROGRAM;
}

void clf_way_end(struct clf_open *f, bool forked)
{
    struct clf_way_of *w = f->way;

    if (!w)
        return;
    if (w->engine.g)
        two_phase_end(&w->engine);
    if (w->file && w->managers)
        w->file->members = NULL; /* they are the file's */
    if (w->file && forked)
        clf_file_forked(w->file);
    if (w->file)
        clf_file_close(w->file);
    clf_managers_free(w->managers);
    pattern_free(w->parts);
    free(w->holder);
    free(w);
    f->way = NULL;
    f->lists = f->elsewhere = false;
}

static int check_managers(const struct clf_method *m)
{
    const int nodes = server_calls.nodes();

    if (m->managers < 1 || m->managers > nodes)
        return clf_fail(-N_EINVAL, "%d cache managers on the %d nodes of the job", m->managers, nodes);
    if (m->block > CLF_BLOCK_MOST)
        return clf_fail(-N_EINVAL, "blocks of %lld bytes for cache managers", (long long)m->block);
    for (int i = 0; i < m->managers && m->manager; i++)
        if (m->manager[i] < 0 || m->manager[i] >= nodes)
            return clf_fail(-N_EINVAL, "a cache manager on node %d of %d", m->manager[i], nodes);
    return 0;
}

static int check(const struct clf_open *f, const struct clf_method *m)
{
    if (f->folder || (unsigned)m->way > CLF_WAY_CACHE)
        return clf_fail(-N_EINVAL, f->folder ? "a folder has no method" : "no method %d", m->way);
    if (m->holders < 0 || m->block < 0 || m->buffer < 0)
        return clf_fail(-N_EINVAL, "a negative number");
    if (m->way == CLF_WAY_TWO_PHASE && !f->members)
        return clf_fail(-N_EINVAL, "the descriptor has no group");
    if (m->way == CLF_WAY_TWO_PHASE && m->holders > f->members->g.size)
        return clf_fail(-N_EINVAL, "%d holders of a group of %d", m->holders, f->members->g.size);
    return m->way == CLF_WAY_CACHE ? check_managers(m) : 0;
}

static int make(struct clf_open *f, struct clf_method m)
{
    struct clf_way_of *w = calloc(1, sizeof *w);

    if (!w)
        return -N_ENOMEM;
    f->way = w;
    if (m.way == CLF_WAY_TWO_PHASE && m.holders == 0)
        m.holders = f->members->g.size;
    m.block = m.block > 0 ? m.block : m.way == CLF_WAY_CACHE ? CACHED_BYTES : BLOCK_BYTES;
    m.buffer = m.buffer > 0 ? m.buffer : m.way == CLF_WAY_SIEVE ? SIEVE_BYTES : WINDOW_BYTES;
    w->method = m;
    f->lists = m.way == CLF_WAY_LIST;
    switch (m.way) {
    case CLF_WAY_TWO_PHASE:
        return make_holders(f, w);
    case CLF_WAY_SIEVE:
        return clf_file_again(f, NULL, &w->file);
    case CLF_WAY_CACHE:
        return open_managers(f, w);
    default:
        return 0;
    }
}

/* Members choose the same way, or all of them get an error. */
static int agree(struct clf_open *f, int way, int error)
{
    if (!f->members)
        return error;
    const int least = clf_group_least(f->members, error);
    const int lowest = clf_group_least(f->members, way), highest = clf_group_least(f->members, ~way);

    if (least < 0)
        return error < 0 ? error : least;
    if (highest < 0 && lowest == ~highest)
        return 0;
    return lowest < 0 ? lowest : clf_fail(-N_EINVAL, "members choose different methods");
}

int clf_way_set(struct clf_open *f, const struct clf_method *m)
{
    const bool comes_back = f->elsewhere;
    int error = agree(f, (int)m->way, check(f, m));

    if (error < 0)
        return error;
    clf_way_end(f, false);
    error = m->way == CLF_WAY_VIEW ? 0 : make(f, *m);
    if (m->way == CLF_WAY_TWO_PHASE || m->way == CLF_WAY_CACHE || comes_back)
        error = clf_group_agree(f, error);
    if (error == 0)
        error = learn(f);
    if (error < 0)
        clf_way_end(f, false);
    return error;
}

int clf_way_count(struct clf_open *f, int manager, struct clf_manager_counts *counts)
{
    struct clf_manager told;

    if (!f->elsewhere || manager < 0 || manager >= f->way->managers->n)
        return clf_fail(-N_EINVAL, "the descriptor has no cache manager %d", manager);
    struct clf_question q = clf_part_question(f->way->file, (uint32_t)manager, N_CLF_MANAGER);
    q.head = &told;
    q.head_bytes = sizeof told;
    int error = clf_ask(&q, 1);
    if (error == 0)
        *counts = (struct clf_manager_counts){told.counts.cache.hits, told.counts.cache.misses, told.counts.given,
                                              told.counts.read, told.counts.written};
    return error;
}
