/*
 * What both ends of a pipe do (pipe.h): mappings are exchanged, plans made, messages sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/map/numbers.h"
#include "libpio/pipes/pipe.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

#define IDENTITY_BLOCK 65536 /* of an end of one node; any size would do */
/* Rows that become columns come from one writer after the other in a reader's order. For all writers to be at work, a
 * reader needs room for what each has for it; and each slot costs a message to each writer. */
#define SLOT_BYTES        16384
#define SLOT_WRITER_BYTES (32768 / PIPE_SLOTS)
#define SLOT_BYTES_MAX    (256ll << 10)
#define MAP_BYTES         4096 /* room for a mapping at first */
#define PAGE_BYTES        4096
/* Of all plans of an end, 360 KB; but a plan of less than some would be made again and again. */
#define NODES_MOST 4096
#define NODES_MIN  32

const struct pattern *pipe_readers_map(const struct pipe_end *e)
{
    return e->writes ? e->their : e->map;
}

/* ---- Messages ---- */

int pipe_send(struct pipe_end *e, int32_t pe, enum pipe_kind kind, const void *bytes, size_t n)
{
    long result = trap_cwrite(bytes, (long)n, (long)e->other.first + pe, PIPE_TYPE(e->number, kind), CONTEXT_PIPE);

    e->looks = result > 0;
    if (result >= 0)
        return 0;
    if (!e->error)
        e->error = (int)result;
    return (int)result;
}

bool pipe_has_come(const struct pipe_end *e, enum pipe_kind kind)
{
    int node = -1, type = PIPE_TYPE(e->number, kind);

    return trap_test_context(&node, &type, CONTEXT_PIPE) != -N_EAGAIN;
}

char *pipe_new_buffer(size_t n)
{
    char *buffer = malloc(n);

    for (size_t i = 0; buffer && i < n; i += PAGE_BYTES)
        *(volatile char *)&buffer[i] = 0;
    return buffer;
}

int pipe_check_hashes(const struct pipe_end *e, uint32_t writers, uint32_t readers)
{
    uint32_t own = e->writes ? writers : readers, their = e->writes ? readers : writers;

    return own == e->hash && their == e->their_hash ? 0 : -EINVAL;
}

bool pipe_is_over(const struct pipe_end *e)
{
    if (!e->ready)
        return e->error == -EPIPE;
    if (!e->writes)
        return e->ends == (int32_t)e->other.nodes;
    for (int32_t i = 0; i < e->partners; i++)
        if (!e->partner[i].ended)
            return false;
    return e->partners > 0;
}

struct pipe_partner *pipe_partner_of(const struct pipe_end *e, int node)
{
    int32_t pe = node - (int32_t)e->other.first, k = FIRST_NOT(0, e->partners, i, e->partner[i].pe < pe);

    return k < e->partners && e->partner[k].pe == pe ? &e->partner[k] : NULL;
}

int pipe_go_on(struct pipe_partner *p)
{
    int error = plan_window_next(&p->window);

    if (error)
        return error;
    p->next = plan_window_file(&p->window, p->at);
    p->slot_end = -1;
    return 0;
}

/* ---- Telling the mapping ---- */

/* FNV-1a, of 32 bits. */
static uint32_t hash_of(const char *bytes, size_t n)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

/* The length of the mapping in one of the forms, which it has. */
static size_t measure(const struct pattern *map, enum pipe_form *form)
{
    int64_t packed = map ? pattern_pack_all(map, NULL, 0) : 0;

    *form = !map ? PIPE_NO_MAP : packed >= 0 ? PIPE_PACKED : PIPE_TEXT;
    return *form == PIPE_TEXT ? pattern_format(map, NULL, 0) + 1 : (size_t)packed;
}

/* Makes the message with the mapping. The caller frees it. NULL: no memory. */
static struct pipe_map *describe(struct pipe_end *e, size_t *n)
{
    enum pipe_form form;
    size_t length = measure(e->map, &form);
    struct pipe_map *m = malloc(sizeof *m + length);

    if (!m)
        return NULL;
    if (form == PIPE_PACKED)
        pattern_pack_all(e->map, m + 1, length);
    if (form == PIPE_TEXT)
        pattern_format(e->map, (char *)(m + 1), length);
    e->hash = hash_of((char *)(m + 1), length);
    *m = (struct pipe_map){.hash = e->hash, .form = form};
    *n = sizeof *m + length;
    return m;
}

void pipe_announce(struct pipe_end *e)
{
    size_t n;
    struct pipe_map *m = e->announced ? NULL : describe(e, &n);

    if (e->announced)
        return;
    if (!m) {
        e->error = -ENOMEM;
        return;
    }
    e->announced = true;
    for (int32_t pe = e->own; pe < (int32_t)e->other.nodes; pe += e->nodes)
        pipe_send(e, pe, PIPE_MAP, m, n);
    free(m);
}

int pipe_know(struct pipe_end *e, bool waits)
{
    int from = -1, type = PIPE_TYPE(e->number, PIPE_PEER);

    if (e->known || e->error)
        return e->error;
    if (!waits && trap_test_context(&from, &type, CONTEXT_PIPE) == -N_EAGAIN)
        return -EAGAIN;
    from = -1;
    long n = trap_read_context(&e->other, sizeof e->other, &from, &type, CONTEXT_PIPE);
    e->known = n == (long)sizeof e->other;
    if (!e->known)
        e->error = n < 0 ? (int)n : -EPROTO;
    return e->error;
}

int pipe_set_map(struct pipe_end *e, const struct pattern *map)
{
    if (e->map)
        return -EBUSY;
    if (pipe_is_for_messages(e))
        return -EPROTO;
    int error = map ? 0 : pattern_stripe(IDENTITY_BLOCK, 1, &e->identity);
    if (error)
        return error;
    e->map = map ? map : e->identity;
    e->by_user = map != NULL;
    if (pipe_know(e, false) == 0)
        pipe_announce(e);
    return e->error;
}

/* ---- Learning the other end's ---- */

/* Waits for the message with the other end's mapping. Returns its length, and *map, which the caller frees; or a
 * negative errno. */
static long await_map(const struct pipe_end *e, struct pipe_map **map)
{
    long room = sizeof **map + MAP_BYTES;

    for (;;) {
        int from = -1, type = PIPE_TYPE(e->number, PIPE_MAP);
        struct pipe_map *m = malloc((size_t)room);
        long n = m ? trap_read_context(m, room, &from, &type, CONTEXT_PIPE) : -ENOMEM;

        if (n >= (long)sizeof *m) {
            *map = m;
            return n;
        }
        free(m);
        if (n != -N_EMSGSIZE)
            return n < 0 ? n : -EPROTO;
        from = -1;
        room = trap_test_context(&from, &type, CONTEXT_PIPE);
    }
}

static int take_map(struct pipe_end *e, const struct pipe_map *m, size_t n)
{
    char why[PATTERN_WHY_BYTES];
    const char *bytes = (const char *)(m + 1);

    if (m->form == PIPE_NO_MAP)
        return -EPIPE;
    if (hash_of(bytes, n) != m->hash || (m->form == PIPE_TEXT && memchr(bytes, '\0', n) == NULL))
        return -EPROTO;
    e->their_hash = m->hash;
    int error = m->form == PIPE_TEXT ? pattern_parse(bytes, &e->their, why) : pattern_unpack_all(bytes, n, &e->their);
    if (error)
        return error;
    return e->their->elements <= (int32_t)e->other.nodes ? 0 : -EINVAL;
}

static int learn_map(struct pipe_end *e)
{
    struct pipe_map *m;
    long n = await_map(e, &m);

    if (n < 0)
        return (int)n;
    int error = take_map(e, m, (size_t)n - sizeof *m);
    free(m);
    return error;
}

/* ---- Plans ---- */

int64_t pipe_slot_bytes(const struct pipe_end *e, int32_t pe)
{
    int64_t writers = e->writes ? e->nodes : (int32_t)e->other.nodes;
    int64_t bytes = writers * SLOT_WRITER_BYTES > SLOT_BYTES ? writers * SLOT_WRITER_BYTES : SLOT_BYTES;
    const struct pattern *readers = pipe_readers_map(e);

    bytes = bytes < SLOT_BYTES_MAX ? bytes : SLOT_BYTES_MAX;
    int64_t share = readers->element[pe].bytes;
    if (readers->element[pe].ascending)
        return bytes;
    if (share > PIPE_PERIOD_BYTES)
        return -ENOBUFS;
    return share < bytes ? bytes / share * share : share;
}

int64_t pipe_slot_begin(const struct pipe_end *e, int32_t pe, int64_t slot)
{
    const struct pattern *readers = pipe_readers_map(e);
    int64_t bytes = pipe_slot_bytes(e, pe), share = readers->element[pe].bytes, x;

    if (bytes < 0)
        return bytes;
    if (readers->element[pe].ascending)
        x = pattern_file(readers, pe, slot * bytes);
    else
        x = readers->displacement + slot * (bytes / share) * readers->period;
    return x < 0 ? INT64_MAX : x;
}

/* Whether all bytes of this node's element are among the common ones. */
static bool is_whole(const struct pipe_end *e, const struct plan *plan)
{
    int64_t first;

    return e->map->element[e->own].ascending && plan->body.bytes == plan->step[PLAN_A] &&
           falls_find(&plan->body, falls_select(&plan->body, 0), PLAN_A, &first) && first == 0;
}

/* Inserts a partner, in the order of their numbers, whose window it gets. */
static struct pipe_partner *insert_partner(struct pipe_end *e, int32_t pe, const struct plan_window *window)
{
    int32_t i = e->partners++;

    for (; i > 0 && e->partner[i - 1].pe > pe; i--)
        e->partner[i] = e->partner[i - 1];
    e->partner[i] = (struct pipe_partner){.pe = pe,
                                          .window = *window,
                                          .checked = e->nodes == 1 && e->other.nodes == 1,
                                          .whole = is_whole(e, window->plan),
                                          .next = plan_window_file(window, 0),
                                          .slots = e->writes ? PIPE_SLOTS : -1,
                                          .slot_end = -1};
    return &e->partner[i];
}

/* ---- Finding partners. A plan costs a node some 10,000 cycles, and most nodes of a large end are no partners ---- */

#define MISSES_MOST 8 /* bytes in a row that belong to partners that are known */

struct search {
    int64_t period; /* common to both mappings */
    int64_t own;    /* this node's bytes in it; -1: not counted, as plans are of a part of it */
    int64_t found;  /* of these, what the partners have that are known */
};

static bool is_complete(const struct search *s)
{
    return s->found == s->own;
}

/* Makes the plan with a node of the other end, as a partner if it has anything in common with this one. Returns it in
 * *partner, or NULL. Where the plan is of a part of the stream, that is not known, so any that has bytes is one. */
static int add_partner(struct pipe_end *e, int32_t pe, struct search *s, struct pipe_partner **partner)
{
    int32_t most = NODES_MOST / e->their->elements;
    struct plan_window w;
    int error =
        plan_window_open(&w, &(struct plan_pair){e->map, e->their, e->own, pe}, most > NODES_MIN ? most : NODES_MIN);

    *partner = NULL;
    if (error)
        return error;
    if (plan_window_is_last(&w) ? w.plan->body.bytes == 0 : e->their->element[pe].bytes == 0) {
        plan_window_close(&w);
        return 0;
    }
    if (plan_window_is_last(&w))
        s->found += s->period / w.plan->period * w.plan->body.bytes;
    else
        s->own = -1;
    *partner = insert_partner(e, pe, &w);
    return 0;
}

static struct pipe_partner *find_partner(const struct pipe_end *e, int32_t pe)
{
    return pipe_partner_of(e, (int)e->other.first + pe);
}

/* How many bytes of a plan lie together from stream byte x on, which is one of them. */
static int64_t run_from(const struct plan *plan, int64_t x)
{
    int64_t end = falls_run_end(&plan->body, (x - plan->from) % plan->period);

    return end - (x - plan->from) % plan->period;
}

/* Asks for the owners of some of this node's bytes, and makes plans with them. From one that was known already it goes
 * on twice as far each time. */
static int ask_owners(struct pipe_end *e, struct search *s)
{
    int64_t first = e->map->displacement > e->their->displacement ? e->map->displacement : e->their->displacement;
    int64_t at = plan_bytes(e->part, first), y = 0, offset;
    int misses = 0, error = 0;

    while (!error && !is_complete(s) && misses < MISSES_MOST) {
        int64_t x = plan_file(e->part, at + y);
        int32_t pe;

        if (x < first || pattern_place(e->their, x, &pe, &offset) != 0)
            break;
        struct pipe_partner *partner = find_partner(e, pe);
        misses = partner ? misses + 1 : 0;
        if (!partner)
            error = add_partner(e, pe, s, &partner);
        if (error || !partner || s->own < 0)
            break;
        y = (y + (run_from(partner->window.plan, x) << misses)) % s->own;
    }
    return error;
}

/* Makes the plans with all partners: with those that were found by their bytes, and with those that have the rest. */
static int find_partners(struct pipe_end *e)
{
    struct search s = {.period = pattern_common_period(e->map, e->their)};
    struct pipe_partner *partner;
    bool endless = s.period < PATTERN_OFFSET_MAX;
    int error = 0;

    s.own = endless ? s.period / e->map->period * e->map->element[e->own].bytes : -1;
    if (endless)
        error = ask_owners(e, &s);
    for (int32_t pe = 0; pe < e->their->elements && !error && !is_complete(&s); pe++)
        if (!find_partner(e, pe))
            error = add_partner(e, pe, &s, &partner);
    return error;
}

static int make_plans(struct pipe_end *e)
{
    if (!pipe_has_bytes(e))
        return 0;
    int error = plan_make_file(e->map, e->own, &e->part);
    e->partner = calloc((size_t)e->their->elements, sizeof *e->partner);
    if (!e->partner)
        return -ENOMEM;
    return error ? error : find_partners(e);
}

/* A program that was written for a terminal ignores the error, and its output would vanish without a word. */
static void tell_unmapped(struct pipe_end *e)
{
    static const char writes[] =
        "a pipe of several nodes: say who writes what by a mapping (N_SETMAP), or print in global mode\n";
    static const char reads[] =
        "a pipe of several nodes: say who reads what by a mapping (N_SETMAP), or read in global mode\n";

    if (e->own == 0 && !e->told)
        write(STDERR_FILENO, e->writes ? writes : reads, e->writes ? sizeof writes - 1 : sizeof reads - 1);
    e->told = true;
}

/* An end of one node has the whole stream. */
static int find_own_map(struct pipe_end *e)
{
    if (e->map)
        return 0;
    if (pipe_is_for_messages(e))
        return -EPROTO;
    if (e->nodes > 1) {
        tell_unmapped(e);
        return -EDESTADDRREQ;
    }
    return pipe_set_map(e, NULL);
}

int pipe_make_ready(struct pipe_end *e)
{
    if (e->ready || e->error)
        return e->error;
    int error = find_own_map(e);
    if (error)
        return error; /* a mapping may still be set */
    pipe_know(e, true);
    if (!e->error && e->other.nodes == 0)
        e->error = -EPIPE;
    if (!e->error)
        pipe_announce(e);
    if (!e->error)
        e->error = learn_map(e);
    if (!e->error)
        e->error = make_plans(e);
    e->ready = e->error == 0;
    return e->error;
}
