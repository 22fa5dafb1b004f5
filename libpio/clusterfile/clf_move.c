/*
 * Reads and writes through a view [P3 section 6.3.3]. An access is cut into rounds, each within the window of the plans
 * and small enough for the buffers:
 *
 *   round    for each subfile that the interval meets         a leg: its bytes k0 .. k1-1
 *              for each part of it                            a leg: its bytes m0 .. m1-1
 *                requests of at most io_bytes
 *   then     await all; of a read, scatter the parts' legs into their subfile's, these into the program's memory
 *
 * A leg whose bytes lie together in what it comes from is no copy: it points there. So a byte is copied once between
 * program and message where the paper's Figure 6.1 copies (cases b and d), twice where the subfile is striped as well
 * and the stripes do not lie together, and else not at all.
 *
 * The lowest byte of the view that was not moved bounds the count.
 *
 * Parts are asked in the parallel I/O schedule [P3 section 7.1]: of those who access a file together, number i begins
 * with part i modulo their number, so that not all send to the same server at a time. In a collective write a server
 * answers when all members have sent it theirs, and a process has a limited number of requests under way. If members
 * had to wait for one request before they send the next, those who have different orders might wait for each other. So
 * the order is another one only within so many parts as a member can ask without waiting for any of these; then the
 * lowest part that some member waits for has been sent by all, or is next for those who have not.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/servers/server_calls.h"
#include "vertex/contract/errors.h"

#define ROUND_BYTES       (4 << 20) /* most of a round */
#define ROUND_LEAST_BYTES (16 << 10)

struct leg {
    int64_t from, end; /* bytes of it, counted as above */
    char *buf;         /* the first of them */
    bool own;          /* buf is the leg's, to be scattered or freed */
};

struct piece { /* a request */
    uint32_t part;
    int64_t at; /* m */
    uint32_t bytes;
    char *buf;
    long number; /* or the result, when it has ended */
};

struct move {
    struct clf_open *f;
    struct clf_sight *s;
    bool write, lists;
    enum clf_turn turn; /* of a collective call; CLF_ALONE: it is none */
    char *buf;          /* the program's, of the access's first byte, */
    int64_t at, n;      /* which is that of the view; bytes */
    int64_t good;       /* bytes from the start on without an error, */
    int error;          /* which is behind them */
    int64_t size;       /* of the file; -1: not asked for yet */
    int64_t missing;    /* of a read: the lowest byte that was behind its part's end; n: there is none */
    /* a round */
    int64_t from, to;    /* of the view */
    int64_t low, high;   /* of the file */
    struct leg *subfile; /* [subfiles] */
    struct leg *part;    /* [parts] */
    uint32_t pieces, ended;
    struct piece piece[CLF_UNDER_WAY]; /* those between, by their numbers modulo its length */
};

/* ---- Places ---- */

/* The subfile's byte k of those that it has in common with the view, in the view. */
static int64_t view_of_k(const struct move *m, uint32_t subfile, int64_t k)
{
    return clf_view_rank(m->s, plan_file(m->s->share[subfile].plan, k));
}

/* The part's byte m of those that it has in common with the view: which of its subfile's it is. */
static int64_t k_of_m(const struct move *m, uint32_t part, int64_t at)
{
    const struct clf_meet *meet = &m->s->meet[part];
    const struct pattern *subfile = m->s->share[m->f->layout->part[part].subfile].subfile;

    return meet->plan ? pattern_rank(subfile, 0, plan_file(meet->plan, at)) : at;
}

/* How many bytes of the part are below its subfile's byte k. */
static int64_t m_of_k(const struct move *m, uint32_t part, int64_t k)
{
    const struct clf_meet *meet = &m->s->meet[part];
    const struct pattern *subfile = m->s->share[m->f->layout->part[part].subfile].subfile;

    return !meet->plan ? k : k == 0 ? 0 : plan_bytes(meet->plan, pattern_file(subfile, 0, k - 1) + 1);
}

/* Byte m of a part in the access. */
static int64_t place_in_access(const struct move *m, uint32_t part, int64_t at)
{
    return view_of_k(m, m->f->layout->part[part].subfile, k_of_m(m, part, at)) - m->at;
}

/* What is at byte m of a part and behind was not moved. */
static void fail(struct move *m, uint32_t part, int64_t at, int error)
{
    const int64_t good = place_in_access(m, part, at);

    if (good < m->good) {
        m->good = good;
        m->error = error;
    }
}

/* ---- Legs ---- */

/* Makes a leg of bytes that begin at byte `first` of `space`, whose byte `origin` is at `at`. last: where its last byte
 * is. *own: it has memory of its own. */
static int leg_make(struct leg *leg, int64_t first, int64_t last, char *at, int64_t origin)
{
    const int64_t bytes = leg->end - leg->from;

    leg->own = last - first + 1 != bytes;
    leg->buf = leg->own ? malloc((size_t)bytes) : at + (first - origin);
    return leg->buf ? 0 : -N_ENOMEM;
}

static int subfile_leg(struct move *m, uint32_t i)
{
    const struct plan *plan = m->s->share[i].plan;
    struct leg *leg = &m->subfile[i];

    *leg = (struct leg){plan_bytes(plan, m->low), plan_bytes(plan, m->high), NULL, false};
    if (!m->s->share[i].subfile || leg->from == leg->end)
        return 0;
    return leg_make(leg, view_of_k(m, i, leg->from), view_of_k(m, i, leg->end - 1), m->buf, m->at);
}

/* Whether a part has any byte between the first and the last one of its subfile's leg. */
static bool has_any(const struct move *m, uint32_t p, const struct leg *whole)
{
    const struct clf_part_place *place = &m->f->layout->part[p];
    const struct pattern *subfile = m->s->share[place->subfile].subfile, *stripes;

    stripes = m->f->layout->striping[place->subfile];
    return !stripes || pattern_rank(stripes, place->stripe, pattern_file(subfile, 0, whole->from)) <
                           pattern_rank(stripes, place->stripe, pattern_file(subfile, 0, whole->end - 1) + 1);
}

static int part_leg(struct move *m, uint32_t p)
{
    const struct leg *whole = &m->subfile[m->f->layout->part[p].subfile];
    struct leg *leg = &m->part[p];

    *leg = (struct leg){0};
    if (!m->s->meet[p].made && !has_any(m, p, whole))
        return 0;
    int error = clf_sight_part(m->f->layout, m->s, p);
    if (error < 0)
        return error;
    *leg = (struct leg){m_of_k(m, p, whole->from), m_of_k(m, p, whole->end), NULL, false};
    if (leg->from == leg->end)
        return 0;
    return leg_make(leg, k_of_m(m, p, leg->from), k_of_m(m, p, leg->end - 1), whole->buf, whole->from);
}

/* Moves the bytes between the program's memory and a subfile's leg that has memory of its own. */
static void copy_subfile(const struct move *m, uint32_t i)
{
    const struct leg *leg = &m->subfile[i];
    const struct plan *plan = m->s->share[i].plan;

    if (!leg->own || !leg->buf)
        return;
    clf_counts.gathered += (uint64_t)(leg->end - leg->from);
    if (m->write)
        plan_gather(plan, m->low, m->high, leg->buf, m->buf, m->at);
    else
        plan_scatter(plan, m->low, m->high, m->buf, m->at, leg->buf);
}

static void copy_part(const struct move *m, uint32_t p)
{
    const uint32_t i = m->f->layout->part[p].subfile;
    const struct leg *leg = &m->part[p], *whole = &m->subfile[i];
    const struct pattern *subfile = m->s->share[i].subfile;

    if (!leg->own || !leg->buf)
        return;
    const int64_t low = pattern_file(subfile, 0, whole->from), high = pattern_file(subfile, 0, whole->end - 1) + 1;
    clf_counts.gathered += (uint64_t)(leg->end - leg->from);
    if (m->write)
        plan_gather(m->s->meet[p].plan, low, high, leg->buf, whole->buf, whole->from);
    else
        plan_scatter(m->s->meet[p].plan, low, high, whole->buf, whole->from, leg->buf);
}

static void free_legs(struct move *m)
{
    for (int32_t i = 0; i < m->f->layout->pattern->elements; i++) {
        if (m->subfile[i].own)
            free(m->subfile[i].buf);
        m->subfile[i] = (struct leg){0};
    }
    for (uint32_t p = 0; p < m->f->layout->parts; p++) {
        if (m->part[p].own)
            free(m->part[p].buf);
        m->part[p] = (struct leg){0};
    }
}

/* Lays out the legs of a round. -N_ENOMEM: it is too long. */
static int make_legs(struct move *m)
{
    const struct clf_layout *l = m->f->layout;
    int error = 0;

    for (int32_t i = 0; i < l->pattern->elements && error == 0; i++)
        error = subfile_leg(m, (uint32_t)i);
    for (uint32_t p = 0; p < l->parts && error == 0; p++) {
        if (m->subfile[l->part[p].subfile].buf)
            error = part_leg(m, p);
        m->f->part[p].wanted = m->part[p].buf != NULL;
    }
    if (error < 0)
        free_legs(m);
    return error;
}

/* ---- Pieces ---- */

static long start_piece(const struct move *m, const struct piece *p);

/* A server without memory for a request of a call that others have not ended yet has it sent again when they have. */
static long await_piece(const struct move *m, struct piece *p)
{
    long result;

    do
        result = clf_end(p->number, NULL, 0, m->write ? NULL : p->buf, m->write ? 0 : p->bytes);
    while (result == -N_EAGAIN && m->turn != CLF_ALONE && (p->number = start_piece(m, p)) >= 0);
    return result == -N_EAGAIN ? p->number : result;
}

static void end_piece(struct move *m)
{
    struct piece *p = &m->piece[m->ended++ % CLF_UNDER_WAY];

    p->number = await_piece(m, p);
    if (m->write && p->number >= CLF_MANAGED) {
        p->number -= CLF_MANAGED;
        m->f->managed = p->part + 1;
    }
    if (p->bytes == 0) /* it was only there for the others */
        return;
    if (p->number < 0) {
        fail(m, p->part, p->at, (int)p->number);
    } else if (p->number < (long)p->bytes && m->write) {
        fail(m, p->part, p->at + p->number, -N_ENOSPC);
    } else if (p->number < (long)p->bytes) { /* zeros, if the file has more */
        const int64_t missing = place_in_access(m, p->part, p->at + p->number);

        memset(p->buf + p->number, 0, p->bytes - (size_t)p->number);
        m->missing = missing < m->missing ? missing : m->missing;
    }
}

/* The places lie before the data. */
static long start_list(const struct move *m, const struct piece *p, struct clf_question q)
{
    struct clf_list_place place[CLF_LIST_PLACES];
    const uint32_t n = clf_list_make(m->s->meet[p->part].seen, p->at, p->at + p->bytes, place);
    const size_t bytes = n * sizeof *place;
    char *list = m->write ? malloc(bytes + p->bytes) : (char *)place;

    if (!list)
        return -N_ENOMEM;
    if (m->write) {
        memcpy(list, place, bytes);
        memcpy(list + bytes, p->buf, p->bytes);
    }
    q.r.view = CLF_VIEW_LIST;
    q.r.second = (uint16_t)n;
    q.r.bytes = p->bytes;
    clf_counts.list_bytes += bytes;
    const long number = clf_start(q.volume, q.type, q.r, list, bytes + (m->write ? p->bytes : 0));
    if (m->write)
        free(list);
    return number;
}

static long start_piece(const struct move *m, const struct piece *p)
{
    const struct clf_meet *meet = &m->s->meet[p->part];
    struct clf_question q = clf_part_question(m->f, p->part, m->write ? N_CLF_WRITE : N_CLF_READ);

    if (m->lists && !meet->plain)
        return start_list(m, p, q);
    q.r.view = meet->plain ? 0 : m->s->number;
    q.r.offset = (uint64_t)(meet->plain ? meet->plain_at + p->at : p->at);
    q.r.bytes = p->bytes;
    q.r.op = (uint16_t)m->turn;
    return clf_start(q.volume, q.type, q.r, m->write ? p->buf : NULL, m->write ? p->bytes : 0);
}

/* Sends a piece's request. What is under way ends first where there is no room for it. */
static void try_piece(struct move *m, struct piece *p, bool waits_for_memory)
{
    while ((p->number = start_piece(m, p)) < 0 && m->ended < m->pieces &&
           (p->number == -N_EAGAIN || (p->number == -N_ENOMEM && waits_for_memory)))
        end_piece(m);
    if (p->number < 0)
        return;
    clf_counts.requests++;
    clf_counts.bytes += p->bytes;
}

/* In a collective call, a request for which there is no memory goes without its bytes: the others wait for it. Replies
 * to writes have no bytes whose memory it could wait for. */
static void add_piece(struct move *m, struct piece p)
{
    const bool others_wait = m->turn != CLF_ALONE;

    if (m->pieces - m->ended == CLF_UNDER_WAY)
        end_piece(m);
    try_piece(m, &p, !others_wait || !m->write);
    if (p.number < 0 && others_wait && p.bytes > 0) {
        fail(m, p.part, p.at, (int)p.number);
        p.bytes = 0;
        try_piece(m, &p, true);
    }
    m->piece[m->pieces++ % CLF_UNDER_WAY] = p;
}

static void start_part(struct move *m, uint32_t p)
{
    const struct leg *leg = &m->part[p];
    const int64_t most = m->f->part[p].io_bytes - (m->lists ? CLF_LIST_PLACES * sizeof(struct clf_list_place) : 0);

    if (m->turn != CLF_ALONE) { /* one request, of no bytes, too */
        add_piece(m, (struct piece){p, leg->from, (uint32_t)(leg->end - leg->from), leg->buf, 0});
        return;
    }
    for (int64_t at = leg->from, bytes; at < leg->end; at += bytes) {
        bytes = leg->end - at < most ? leg->end - at : most;
        if (m->lists && !m->s->meet[p].plain)
            bytes = clf_list_end(m->s->meet[p].seen, at, at + bytes, CLF_LIST_PLACES) - at;
        add_piece(m, (struct piece){p, at, (uint32_t)bytes, leg->buf + (at - leg->from), 0});
    }
}

/* ---- The schedule ---- */

/* The part to be asked at or behind part p; their number: there is none. */
static uint32_t next_asked(const struct move *m, uint32_t p)
{
    while (p < m->f->layout->parts && !m->part[p].buf && (m->turn == CLF_ALONE || !m->f->part[p].joined))
        p++;
    return p;
}

/* How many parts can be asked without waiting for any of them, as far as others wait for these requests. */
static uint32_t parts_at_once(const struct move *m)
{
    const long room = m->turn == CLF_ALONE ? 0 : server_calls.test(0);

    return m->turn == CLF_ALONE   ? m->f->layout->parts
           : room < 1             ? 1
           : room < CLF_UNDER_WAY ? (uint32_t)room
                                  : CLF_UNDER_WAY;
}

/* Behind the last one of as many parts from `from` on as are asked at once. */
static uint32_t end_of_some(const struct move *m, uint32_t from, uint32_t at_once)
{
    uint32_t end = from;

    for (uint32_t p = from; p < m->f->layout->parts && at_once > 0; p = next_asked(m, p + 1), at_once--)
        end = p + 1;
    return end;
}

static void ask_part(struct move *m, uint32_t p)
{
    if (next_asked(m, p) != p)
        return;
    if (m->write)
        copy_part(m, p);
    start_part(m, p);
}

/* Asks the parts in from .. to-1, from the place-th on. Of a write, those without bytes come last: a short request that
 * waits for a channel would keep the long ones behind it from channels that are free. */
static void ask_some(struct move *m, uint32_t from, uint32_t to, uint32_t place)
{
    const uint32_t n = to - from;

    for (uint32_t i = 0; i < n; i++)
        if (!m->write || m->part[from + (place + i) % n].buf)
            ask_part(m, from + (place + i) % n);
    for (uint32_t p = from; p < to && m->write; p++)
        if (!m->part[p].buf)
            ask_part(m, p);
}

/* Reads of members are in the order of the parts: servers see to it who gets its bytes first. */
static void ask_parts(struct move *m)
{
    const uint32_t parts = m->f->layout->parts, place = m->turn == CLF_ALONE || m->write ? m->f->place : 0;
    const uint32_t at_once = m->write ? parts_at_once(m) : parts;

    for (uint32_t from = next_asked(m, 0), to; from < parts; from = next_asked(m, to)) {
        to = end_of_some(m, from, at_once);
        ask_some(m, from, to, place);
    }
}

/* ---- Rounds ---- */

static int run_pieces(struct move *m)
{
    const struct clf_layout *l = m->f->layout;
    const int told = m->lists ? clf_parts_attach(m->f) : clf_sight_tell(m->f, m->s);

    clf_counts.calls++;
    if (told < 0 && m->turn == CLF_ALONE)
        return told;
    if (told < 0) { /* the others wait for it all the same */
        free_legs(m);
        m->turn = CLF_TURN_LAST;
    }
    for (int32_t i = 0; i < l->pattern->elements && m->write; i++)
        copy_subfile(m, (uint32_t)i);
    ask_parts(m);
    while (m->ended < m->pieces)
        end_piece(m);
    for (uint32_t p = 0; p < l->parts && !m->write; p++)
        copy_part(m, p);
    for (int32_t i = 0; i < l->pattern->elements && !m->write; i++)
        copy_subfile(m, (uint32_t)i);
    m->pieces = m->ended = 0;
    return told;
}

/* Finds the next round's end: the window's, or as much as there is memory for. */
static int find_round(struct move *m, int64_t most)
{
    const int64_t end = m->at + m->n;

    m->low = clf_view_file(m->s, m->from);
    int error = m->low < 0 ? (int)m->low : clf_sight_move(m->f->layout, m->s, m->low);
    if (error < 0)
        return error;
    m->to = end - m->from < most ? end : m->from + most;
    if (m->s->range.to < PATTERN_OFFSET_MAX) {
        const int64_t window = clf_view_rank(m->s, m->s->range.to);

        m->to = window < m->to ? window : m->to;
    }
    if (m->lists)
        m->to = clf_list_end(m->s->pattern, m->from, m->to, CLF_LIST_CALL);
    m->high = clf_view_file(m->s, m->to - 1) + 1;
    return m->high <= 0 ? -N_EFBIG : 0;
}

/* A server that has no room for its view gets one of a shorter window. */
static bool shorten_window(struct move *m, int error)
{
    struct plan_range *r = &m->s->range;

    if ((error != -N_ENOMEM && error != -N_E2BIG) || r->nodes <= 1 || r->span <= 1 || m->pieces > 0)
        return false;
    r->span = r->to == PATTERN_OFFSET_MAX ? m->high - m->low : r->span / 2;
    r->from = r->to = 0;
    return true;
}

/* Finds a round of at most so many bytes for which there is memory, and lays it out. */
static int begin_round(struct move *m, int64_t most)
{
    int error;

    do {
        error = find_round(m, most);
        if (error == 0)
            error = make_legs(m);
    } while (error == -N_ENOMEM && (most /= 2) >= ROUND_LEAST_BYTES);
    return error;
}

static int run_round(struct move *m)
{
    int error = begin_round(m, ROUND_BYTES);

    if (error == 0)
        error = run_pieces(m);
    free_legs(m);
    if (error < 0 && shorten_window(m, error))
        return run_round(m);
    return error;
}

/* Of a read: where a part ended, the file's end says whether that is a hole. It bounds the count, and the access. */
static void find_end(struct move *m)
{
    int error = m->missing < m->n && m->size < 0 ? clf_file_size(m->f, &m->size) : 0;
    int64_t end = m->missing;

    if (error == 0 && m->missing < m->n)
        end = clf_view_rank(m->s, m->size) - m->at;
    if (end < m->good) {
        m->good = end < 0 ? 0 : end;
        m->error = error;
    }
    m->missing = m->n;
}

/* The file byte of the access's last byte must be one. */
static int check(const struct move *m)
{
    if (m->at < 0)
        return -N_EINVAL;
    if (m->n > PATTERN_OFFSET_MAX - m->at || clf_view_file(m->s, m->at + m->n - 1) < 0)
        return m->write ? -N_EFBIG : -N_EINVAL;
    return 0;
}

/* A turn of a collective call: a request to each server whose part the view meets. */
static int run_turn(struct move *m)
{
    const int64_t end = m->at + m->n;
    int error = 0;

    m->to = m->from;
    if (m->from < end)
        error = begin_round(m, clf_group_turn_bytes(m->f));
    m->turn = error < 0 || m->to >= end ? CLF_TURN_LAST : CLF_TURN;
    const int sent = run_pieces(m);
    free_legs(m);
    return error < 0 ? error : sent;
}

/* Goes on until it has no more, or an error: one turn at least, and each time the servers wait for the others'. */
static int run_turns(struct move *m)
{
    int error;

    do {
        error = run_turn(m);
        if (error < 0 && m->from - m->at < m->good)
            m->good = m->from - m->at;
        m->from = m->to;
        find_end(m);
        if (m->good < m->n) /* one turn more, of no bytes, says that it was the last */
            m->from = m->at + m->n;
    } while (m->turn == CLF_TURN);
    m->turn = CLF_ALONE;
    return error;
}

static int run_rounds(struct move *m)
{
    int error = 0;

    for (; m->from < m->at + m->n && m->good == m->n; m->from = m->to) {
        error = run_round(m);
        if (error < 0)
            break;
        find_end(m);
    }
    if (error < 0 && m->from - m->at < m->good)
        m->good = m->from - m->at;
    return error;
}

size_t clf_move_room(const struct clf_layout *l)
{
    return ((size_t)l->pattern->elements + l->parts) * sizeof(struct leg);
}

static int run(struct move *m, bool collective)
{
    const struct clf_layout *l = m->f->layout;
    char *room = collective ? m->f->members->room : malloc(clf_move_room(l));

    if (!room)
        return -N_ENOMEM;
    m->subfile = (struct leg *)room;
    m->part = m->subfile + l->pattern->elements;
    memset(room, 0, clf_move_room(l));
    const int error = collective ? run_turns(m) : run_rounds(m);
    if (!collective)
        free(room);
    return error;
}

int64_t clf_move(struct clf_open *f, bool write, void *buf, uint64_t n, int64_t at)
{
    struct move m = {.f = f, .s = f->sight, .write = write, .buf = buf, .at = at, .from = at, .size = -1};
    const bool collective = f->collective && f->members;

    f->collective = false;
    m.lists = f->lists && !collective;
    m.n = m.good = m.missing = n < PATTERN_OFFSET_MAX ? (int64_t)n : PATTERN_OFFSET_MAX;
    const int refused = n == 0 ? 0 : check(&m);
    if (!collective && (n == 0 || refused < 0))
        return refused;
    if (refused < 0)
        m.n = m.good = m.missing = 0; /* the others wait for it all the same */
    const int error = run(&m, collective);
    find_end(&m);
    if (f->managed != 0 && write)
        clf_managers_drop(f);
    if (refused < 0)
        return refused;
    if (error < 0 && m.good == 0)
        return error;
    return m.good == 0 && m.error < 0 ? m.error : m.good;
}
