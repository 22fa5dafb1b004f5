/*
 * Turns of two-phase I/O (two_phase_window.h).
 *
 *   write   members pack what they have of each holder's window -> exchange -> laid over each other -> what has been
 *           given, run by run, to the store
 *   read    a holder reads from the first byte that is wanted to the last -> packs each member's -> exchange -> unpack
 */
#include "libpio/group/two_phase_window.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/map/covered.h"
#include "vertex/contract/errors.h"

/* ---- Windows ---- */

struct window {
    int64_t from, to;            /* of the part */
    struct two_phase_range file; /* from the first of these bytes to the last */
};

/* The i-th window of a part that the call meets. False: there is none. */
static bool find_window(const struct two_phase *t, const struct two_phase_call *c, int32_t part, int64_t i,
                        struct window *w)
{
    const int64_t bytes = t->window_bytes;
    const int64_t first = pattern_rank(t->parts, part, c->range.from), end = pattern_rank(t->parts, part, c->range.to);
    const int64_t at = (first / bytes + i) * bytes;

    if (at >= end)
        return false;
    w->from = at > first ? at : first;
    w->to = at + bytes < end ? at + bytes : end;
    w->file.from = pattern_file(t->parts, part, w->from);
    w->file.to = pattern_file(t->parts, part, w->to - 1) + 1;
    return true;
}

static int64_t count_turns(const struct two_phase *t, const struct two_phase_call *c)
{
    int64_t most = 0;

    for (int32_t h = 0; h < t->parts->elements && c->range.from < c->range.to; h++) {
        const int64_t first = pattern_rank(t->parts, h, c->range.from), end = pattern_rank(t->parts, h, c->range.to);
        const int64_t n = first < end ? (end - 1) / t->window_bytes - first / t->window_bytes + 1 : 0;

        most = n > most ? n : most;
    }
    return most;
}

/* What a member has in a window: a range of the file, and the bytes that it and the part have in common there. */
static int64_t common(const struct plan *plan, const struct window *w, const struct two_phase_range *of,
                      struct two_phase_range *both)
{
    both->from = w->file.from > of->from ? w->file.from : of->from;
    both->to = w->file.to < of->to ? w->file.to : of->to;
    return both->from < both->to ? plan_bytes(plan, both->to) - plan_bytes(plan, both->from) : 0;
}

/* Fills in the bytes of a turn, and adds them up. */
static void measure(const struct two_phase *t, struct two_phase_call *c, int64_t i, int64_t *mine, int64_t *theirs)
{
    const int size = t->g->size, part = t->part_of[t->g->rank];
    struct two_phase_range both;
    struct window w;

    *mine = *theirs = 0;
    memset(c->mine, 0, (size_t)size * sizeof *c->mine);
    memset(c->theirs, 0, (size_t)size * sizeof *c->theirs);
    for (int32_t h = 0; h < t->parts->elements; h++)
        if (find_window(t, c, h, i, &w))
            *mine += c->mine[t->holder[h]] = (int)common(t->own[h], &w, &c->of[t->g->rank], &both);
    if (part < 0 || !find_window(t, c, part, i, &w))
        return;
    for (int r = 0; r < size; r++)
        *theirs += c->theirs[r] = (int)common(t->held[r], &w, &c->of[r], &both);
}

bool two_phase_lists(const struct two_phase *t, struct two_phase_call *c)
{
    const size_t size = (size_t)t->g->size;

    c->of = c->of ? c->of : calloc(size, sizeof *c->of);
    c->each = c->each ? c->each : malloc(size * sizeof *c->each);
    c->reach = c->reach ? c->reach : malloc(size * sizeof *c->reach);
    c->mine = c->mine ? c->mine : malloc(size * sizeof *c->mine);
    c->theirs = c->theirs ? c->theirs : malloc(size * sizeof *c->theirs);
    return c->of && c->each && c->reach && c->mine && c->theirs;
}

static bool make_room(char **room, int64_t *has, int64_t bytes)
{
    if (*room && *has >= bytes)
        return true;
    free(*room);
    *room = malloc((size_t)bytes + 1);
    *has = *room ? bytes : 0;
    return *room != NULL;
}

int two_phase_window_reserve(struct two_phase *t, struct two_phase_call *c, int64_t mine, int64_t theirs)
{
    const int part = t->part_of[t->g->rank];
    const bool has_room = make_room(&c->packed, &c->packed_room, mine) && make_room(&c->held, &c->held_room, theirs);

    if (!has_room || part < 0)
        return has_room ? 0 : -N_ENOMEM;
    c->window = c->window ? c->window : malloc((size_t)t->window_bytes);
    c->covered = c->covered ? c->covered : malloc(covered_bytes(t->window_bytes));
    if (!c->window || !c->covered)
        return -N_ENOMEM;
    return t->store.by_file && !c->part_file ? plan_make_file(t->parts, part, &c->part_file) : 0;
}

int two_phase_window_open(struct two_phase *t, struct two_phase_call *c)
{
    int64_t mine, theirs, mine_most = 0, theirs_most = 0;

    c->turns = count_turns(t, c);
    for (int64_t i = 0; i < c->turns; i++) {
        measure(t, c, i, &mine, &theirs);
        mine_most = mine > mine_most ? mine : mine_most;
        theirs_most = theirs > theirs_most ? theirs : theirs_most;
    }
    return two_phase_window_reserve(t, c, mine_most, theirs_most);
}

void two_phase_window_close(struct two_phase_call *c)
{
    free(c->of);
    free(c->each);
    free(c->reach);
    free(c->mine);
    free(c->theirs);
    free(c->packed);
    free(c->held);
    free(c->window);
    free(c->covered);
    plan_free(c->part_file);
}

/* ---- The store ---- */

/* What is at byte `at` of the part was not moved. */
static void fail(const struct two_phase *t, struct two_phase_call *c, int64_t at, int64_t error)
{
    const int64_t file = pattern_file(t->parts, t->part_of[t->g->rank], at);

    if (file < c->failed) {
        c->failed = file;
        c->error = error;
    }
}

struct moving {
    struct two_phase *t;
    struct two_phase_call *c;
    char *buf;
    int64_t part;              /* where buf begins in the part */
    int64_t file, from, bytes; /* by_file: what lies together there, from that byte of the part on */
};

/* Moves what lies together. What comes short is asked for again, since only the next call tells why; of a read, the
 * rest becomes zeros. */
static void move_run(struct moving *m, int64_t from, int64_t bytes, int64_t at)
{
    struct two_phase *t = m->t;
    char *buf = m->buf + (from - m->part);
    int64_t done = 0, n = 1;

    while (done < bytes && n > 0) {
        n = t->store.move(t->store.ctx, m->c->writes, buf + done, bytes - done, at + done);
        done += n > 0 ? n : 0;
        t->counts.moves++;
    }
    t->counts.moved += (uint64_t)done;
    if (done == bytes)
        return;
    fail(t, m->c, from + done, n < 0 ? n : m->c->writes ? -N_ENOSPC : 0);
    if (!m->c->writes)
        memset(buf + done, 0, (size_t)(bytes - done));
}

/* Runs that touch are one. */
static bool add_file_run(void *ctx, const struct plan_run *run)
{
    struct moving *m = ctx;

    if (m->bytes > 0 && m->file + m->bytes == run->file) {
        m->bytes += run->bytes;
        return true;
    }
    move_run(m, m->from, m->bytes, m->file);
    m->file = run->file;
    m->from = run->in[PLAN_B];
    m->bytes = run->bytes;
    return true;
}

/* Moves bytes from .. to-1 of the part. */
static void move_part(struct two_phase *t, struct two_phase_call *c, char *buf, int64_t from, int64_t to)
{
    const int part = t->part_of[t->g->rank];
    struct moving m = {.t = t, .c = c, .buf = buf, .part = from};

    if (!t->store.by_file) {
        move_run(&m, from, to - from, from);
        return;
    }
    plan_runs(c->part_file, pattern_file(t->parts, part, from), pattern_file(t->parts, part, to - 1) + 1, add_file_run,
              &m);
    move_run(&m, m.from, m.bytes, m.file);
}

/* ---- What a window has been given ---- */

struct covering {
    uint64_t *covered;
    int64_t from; /* of the window in the part */
};

static bool cover(void *ctx, const struct plan_run *run)
{
    const struct covering *v = ctx;
    const int64_t at = run->in[PLAN_A] - v->from;

    covered_add(v->covered, at, at + run->bytes);
    return true;
}

static void write_window(struct two_phase *t, struct two_phase_call *c, const struct window *w)
{
    const int64_t bytes = w->to - w->from;

    for (int64_t at = 0, end; (at = covered_find(c->covered, at, bytes, 0)) < bytes; at = end) {
        end = covered_find(c->covered, at, bytes, ~0ull);
        move_part(t, c, c->window + at, w->from + at, w->from + end);
    }
}

/* Reads from the first byte that a member wants to the last. */
static void read_window(struct two_phase *t, struct two_phase_call *c, const struct window *w)
{
    const int part = t->part_of[t->g->rank];
    int64_t from = INT64_MAX, to = 0;
    struct two_phase_range both;

    for (int r = 0; r < t->g->size; r++) {
        if (common(t->held[r], w, &c->of[r], &both) == 0)
            continue;
        const int64_t first = plan_file(t->held[r], plan_bytes(t->held[r], both.from));
        const int64_t last = plan_file(t->held[r], plan_bytes(t->held[r], both.to) - 1);

        from = first < from ? first : from;
        to = last >= to ? last + 1 : to;
    }
    if (from >= to)
        return;
    from = pattern_rank(t->parts, part, from);
    move_part(t, c, c->window + (from - w->from), from, pattern_rank(t->parts, part, to));
}

/* ---- The exchange ---- */

/* Between the member's memory and what it exchanges with the holders, in the order of ranks. */
static void pack_own(struct two_phase *t, struct two_phase_call *c, int64_t i, bool packs)
{
    char *at = c->packed;
    struct two_phase_range both;
    struct window w;

    for (int r = 0; r < t->g->size; at += c->mine[r++]) {
        const int h = t->part_of[r];

        if (c->mine[r] == 0 || !find_window(t, c, h, i, &w))
            continue;
        common(t->own[h], &w, &c->of[t->g->rank], &both);
        if (packs)
            plan_gather(t->own[h], both.from, both.to, at, c->buf, c->at);
        else
            plan_scatter(t->own[h], both.from, both.to, c->buf, c->at, at);
    }
}

/* Between the holder's window and what it exchanges with the members. */
static void pack_window(struct two_phase *t, struct two_phase_call *c, const struct window *w, bool packs)
{
    char *at = c->held;
    struct two_phase_range both;

    for (int r = 0; r < t->g->size; at += c->theirs[r++]) {
        if (c->theirs[r] == 0)
            continue;
        common(t->held[r], w, &c->of[r], &both);
        if (packs) {
            plan_gather(t->held[r], both.from, both.to, at, c->window, w->from);
            continue;
        }
        plan_scatter(t->held[r], both.from, both.to, c->window, w->from, at);
        plan_runs(t->held[r], both.from, both.to, cover, &(struct covering){c->covered, w->from});
    }
}

static void count(struct two_phase *t, const struct two_phase_call *c, int64_t mine, int64_t theirs)
{
    const int64_t own = c->mine[t->g->rank], out = c->writes ? mine : theirs, in = c->writes ? theirs : mine;

    t->counts.turns++;
    t->counts.sent += (uint64_t)(out - own);
    t->counts.received += (uint64_t)(in - own);
}

int two_phase_turn(struct two_phase *t, struct two_phase_call *c, int64_t i)
{
    const int part = t->part_of[t->g->rank];
    struct window w;
    const bool holds = part >= 0 && find_window(t, c, part, i, &w);
    int64_t mine, theirs;
    int error;

    measure(t, c, i, &mine, &theirs);
    count(t, c, mine, theirs);
    if (c->writes) {
        pack_own(t, c, i, true);
        error = group_exchange(t->g, c->packed, c->mine, c->held, c->theirs);
    } else {
        if (holds) {
            read_window(t, c, &w);
            pack_window(t, c, &w, true);
        }
        error = group_exchange(t->g, c->held, c->theirs, c->packed, c->mine);
    }
    if (error < 0)
        return error;
    if (!c->writes) {
        pack_own(t, c, i, false);
    } else if (holds && theirs > 0) {
        memset(c->covered, 0, covered_bytes(t->window_bytes));
        pack_window(t, c, &w, false);
        write_window(t, c, &w);
    }
    return 0;
}
