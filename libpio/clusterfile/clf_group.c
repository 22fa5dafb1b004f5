/*
 * Groups of an open file, whose reads and writes are collective [P3 sections 7.3, 7.4] (clf_client.h).
 *
 * A member is in its group at the servers of those parts that its view meets; the others never wait for it. In a
 * collective call it sends these servers one request after the other, perhaps of no bytes, until it has no more: the
 * servers know who is done, so the members need not tell each other, and one that ends is waited for no longer.
 *
 * Members exchange messages only when they set views. A member that waits for these now and then asks the server of the
 * file's first part which member has ended: the server knows each by an attachment of its own, and is told of ends.
 */
#include <stdlib.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/servers/server_calls.h"
#include "vertex/contract/errors.h"

#define TURN_BYTES (256 << 10)    /* most of a turn; a server keeps those of all members */
#define SECOND     20000000u      /* cycles: 20 MHz [P0] */
#define WAIT_MOST  (60u * SECOND) /* between two questions; the first comes after a second */
#define QUESTIONS  64             /* after which a member is waited for without */
#define FOR_EVER   UINT64_MAX
#define PRESENCE   ((uint64_t)1 << 63) /* of a group's number: its members, whatever they see */

static bool joins(const struct clf_open *f, uint32_t p)
{
    return f->sight->meet[p].seen || f->sight->range.to < PATTERN_OFFSET_MAX;
}

/* Tells the servers of parts that the view meets, and no longer meets. One that is planned window by window may meet
 * all. */
static int tell_servers(struct clf_open *f)
{
    struct clf_question *q = calloc(f->layout->parts, sizeof *q);
    uint32_t n = 0;

    if (!q)
        return -N_ENOMEM;
    for (uint32_t p = 0; p < f->layout->parts; p++)
        if (f->part[p].joined != joins(f, p)) {
            f->part[p].joined = !f->part[p].joined;
            q[n] = clf_part_question(f, p, N_CLF_GROUP);
            q[n].r.offset = (uint64_t)f->members->g.rank;
            q[n++].r.handle = f->part[p].joined ? f->members->number : 0;
        }
    int error = n > 0 ? clf_ask(q, n) : 0;
    free(q);
    return error;
}

/* ---- Who has ended ---- */

static struct clf_question presence_question(const struct clf_open *f, uint32_t attachment, uint64_t number)
{
    struct clf_question q = clf_part_question(f, 0, N_CLF_GROUP);

    q.r.attachment = attachment;
    q.r.handle = number | PRESENCE;
    return q;
}

int clf_presence_begin(struct clf_open *f, uint32_t *attachment)
{
    struct clf_attached a;
    struct clf_question q = clf_attach_question(f, 0, &a);
    int error = clf_ask(&q, 1);

    *attachment = error < 0 ? 0 : a.attachment;
    return error;
}

int clf_presence_join(const struct clf_open *f, uint32_t attachment, uint64_t number, uint32_t member)
{
    struct clf_question q = presence_question(f, attachment, number);

    q.r.offset = member;
    return clf_ask(&q, 1);
}

int clf_presence_ended(const struct clf_open *f, uint32_t attachment, uint64_t number, uint32_t *ended)
{
    struct clf_question q = presence_question(f, attachment, number);

    q.r.op = 1;
    q.head = ended;
    q.head_bytes = sizeof *ended;
    return clf_ask(&q, 1);
}

uint64_t clf_presence_number(uint32_t attachment, uint32_t low)
{
    return (uint64_t)(attachment & INT32_MAX) << 32 | low;
}

void clf_presence_end(struct clf_open *f, uint32_t attachment)
{
    struct clf_question q = clf_part_question(f, 0, N_CLF_DETACH);

    q.r.attachment = attachment;
    if (attachment != 0)
        clf_ask(&q, 1);
}

int clf_group_find_ended(void *members)
{
    struct clf_members *m = members;
    uint32_t ended = 0;

    if (m->ended == 0 && m->presence != 0 && clf_presence_ended(m->f, m->presence, m->number, &ended) == 0)
        m->ended = (int)ended;
    return m->ended == 0 ? 0 : clf_fail(-N_ESRCH, "rank %d of the file's group has ended", m->ended - 1);
}

long clf_take(const struct clf_awaited *from, void *buf, long bytes, int (*find_ended)(void *ctx), void *ctx)
{
    uint64_t cycles = SECOND;

    for (int i = 0; i < QUESTIONS && find_ended; i++) {
        const long result = server_calls.take(buf, bytes, from->process, from->type, from->context, cycles);
        int error = result == -N_EAGAIN ? find_ended(ctx) : 0;

        if (result != -N_EAGAIN || error < 0)
            return error < 0 ? error : result;
        cycles = 2 * cycles < WAIT_MOST ? 2 * cycles : WAIT_MOST;
    }
    return server_calls.take(buf, bytes, from->process, from->type, from->context, FOR_EVER);
}

/* A group's take (group.h): waits for a message, or for the end of a member. */
static int take(struct group *g, int process, void *buf, long bytes, int type)
{
    struct clf_members *m = (struct clf_members *)g;
    const struct clf_awaited from = {process, type, g->context};

    return (int)clf_take(&from, buf, bytes, m->presence != 0 ? clf_group_find_ended : NULL, m);
}

int clf_group_least(struct clf_members *m, int value)
{
    int64_t least = value;
    int result = clf_group_find_ended(m);

    if (result == 0)
        result = group_all_reduce(&m->g, &least, 1, GROUP_INT64, GROUP_LEAST);
    return result < 0 ? result : (int)least;
}

/* ---- Making ---- */

int64_t clf_group_turn_bytes(const struct clf_open *f)
{
    int64_t bytes = TURN_BYTES;

    for (uint32_t p = 0; p < f->layout->parts; p++)
        if (f->part[p].joined && f->part[p].io_bytes < bytes)
            bytes = f->part[p].io_bytes;
    return bytes;
}

int clf_group_agree(struct clf_open *f, int error)
{
    if (!f->members)
        return error;
    if (f->elsewhere)
        return clf_group_least(f->members, error);
    if (error == 0)
        error = clf_sight_all(f->layout, f->sight);
    int result = clf_group_least(f->members, error); /* nobody is in a call any more */
    for (uint32_t p = 0; p < f->layout->parts; p++)
        f->part[p].wanted = joins(f, p);
    if (result == 0)
        result = clf_parts_attach(f);
    if (result == 0)
        result = clf_sight_tell(f, f->sight);
    if (result == 0)
        result = tell_servers(f);
    result = clf_group_least(f->members, result);
    return error < 0 ? error : result;
}

static void free_members(struct clf_members *m)
{
    if (!m)
        return;
    if (m->f)
        group_free(&m->g);
    free(m->told);
    free(m->room);
    free(m);
}

static int make_members(struct clf_open *f, struct group *g, size_t room_bytes, struct clf_members **out)
{
    struct clf_members *m = calloc(1, sizeof *m);
    int *rank = malloc((size_t)g->size * sizeof *rank);
    int error = m && rank ? 0 : -N_ENOMEM;

    for (int r = 0; r < g->size && error == 0; r++)
        rank[r] = r;
    if (error == 0)
        error = group_make_in(&m->g, g, rank, g->size);
    free(rank);
    if (error < 0) {
        free(m);
        return error;
    }
    m->f = f;
    f->place = (uint32_t)m->g.rank;
    m->g.take = take;
    m->room = malloc(room_bytes);
    *out = m;
    return m->room ? 0 : -N_ENOMEM;
}

int clf_group_make_room(struct clf_members *m, size_t room_bytes)
{
    void *room = realloc(m->room, room_bytes);

    if (!room)
        return -N_ENOMEM;
    m->room = room;
    return 0;
}

/* The server gives no attachment's number twice, so no other group has this one, also of an earlier program. */
static uint64_t number_of(const struct group *g, uint32_t presence)
{
    return clf_presence_number(presence, (uint32_t)(g->process ? g->process[0] + 1 : 1));
}

int clf_group_set(struct clf_open *f, struct group *g, size_t room_bytes)
{
    struct clf_members *m = NULL;

    if (!g)
        return clf_fail(-N_EINVAL, "no group");
    int error = f->folder      ? clf_fail(-N_EINVAL, "a folder has no group")
                : f->members   ? clf_fail(-N_EINVAL, "the file has a group")
                : f->elsewhere ? clf_fail(-N_EINVAL, "a group is given before cache managers are")
                               : make_members(f, g, room_bytes, &m);
    int64_t least = error; /* one that is refused lets nobody wait */
    const int told = group_all_reduce(g, &least, 1, GROUP_INT64, GROUP_LEAST);
    if (told < 0 || least < 0) {
        free_members(m);
        return error < 0 ? error : told < 0 ? told : (int)least;
    }
    error = clf_presence_begin(f, &m->presence);
    m->number = error < 0 ? 0 : number_of(g, m->presence);
    const int sent = group_broadcast(&m->g, &m->number, sizeof m->number, 0);
    f->members = m;
    if (sent < 0) {
        clf_group_end(f, false);
        return sent;
    }
    if (error == 0)
        error = m->number == 0 ? -N_EIO : clf_presence_join(f, m->presence, m->number, (uint32_t)m->g.rank);
    return clf_group_agree(f, error);
}

void clf_group_end(struct clf_open *f, bool forked)
{
    struct clf_members *m = f->members;

    if (!m)
        return;
    if (!forked)
        clf_presence_end(f, m->presence);
    free_members(m);
    f->members = NULL;
}
