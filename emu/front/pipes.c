/* Numbers and names of pipes (pipes.h). */
#include "emu/front/pipes.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"

#define NAME_BYTES 64u

struct held { /* a request that waits for the other end */
    SLIST_ENTRY(held) entry;
    uint32_t from, tag, seq;
};

struct end {
    uint32_t job;   /* 0: no program has asked for it */
    uint32_t first; /* address */
    uint32_t nodes;
    uint32_t asked; /* how many of them have */
    SLIST_HEAD(, held) held;
};

struct meeting {
    SLIST_ENTRY(meeting) entry;
    char name[NAME_BYTES];
    uint32_t number;
    struct end end[2]; /* reads, writes */
};

struct bond {
    SLIST_ENTRY(bond) entry;
    uint32_t job[2];
};

static uint32_t new_number(struct pipes *p)
{
    return PIPES_MAX + p->given++ % (PIPE_NUMBERS - PIPES_MAX);
}

/* ---- Answers ---- */

static void answer(struct pipes *p, const struct held *h, int32_t status, const struct load_peer *peer)
{
    struct {
        struct file_reply reply;
        struct load_peer peer;
    } message = {.reply = {.seq = h->seq, .status = status}};

    if (peer)
        message.peer = *peer;
    p->send(p->ctx, h->from, TAG(N_REPLY(N_PIPE), 0, TAG_FROM(h->tag)), &message,
            peer ? sizeof message : sizeof message.reply);
}

static void answer_all(struct pipes *p, struct end *end, int32_t status, const struct end *other)
{
    const struct load_peer peer = {other->first, other->nodes};
    struct held *h;

    while ((h = SLIST_FIRST(&end->held))) {
        SLIST_REMOVE_HEAD(&end->held, entry);
        answer(p, h, status, &peer);
        free(h);
    }
}

/* ---- Meetings ---- */

static void drop_held(struct end *end, uint32_t from)
{
    for (struct held *h = SLIST_FIRST(&end->held), *next; h; h = next) {
        next = SLIST_NEXT(h, entry);
        if (h->from != from && from != UINT32_MAX)
            continue;
        SLIST_REMOVE(&end->held, h, held, entry);
        free(h);
    }
}

static void drop_meeting(struct pipes *p, struct meeting *m)
{
    SLIST_REMOVE(&p->meetings, m, meeting, entry);
    drop_held(&m->end[0], UINT32_MAX);
    drop_held(&m->end[1], UINT32_MAX);
    free(m);
}

static bool is_complete(const struct end *end)
{
    return end->job != 0 && end->asked == end->nodes;
}

/* The meeting in which the program's nodes ask for that end; or one whose end is free, or a new one. NULL: no
 * memory. */
static struct meeting *find_meeting(struct pipes *p, const char *name, bool writes, uint32_t first)
{
    struct meeting *m, *free_one = NULL, *last = NULL;

    SLIST_FOREACH(m, &p->meetings, entry) {
        last = m;
        if (strcmp(m->name, name) != 0)
            continue;
        if (m->end[writes].job != 0 && m->end[writes].first == first && !is_complete(&m->end[writes]))
            return m;
        if (m->end[writes].job == 0 && m->end[!writes].first != first && !free_one)
            free_one = m;
    }
    if (free_one)
        return free_one;
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    strcpy(m->name, name);
    m->number = new_number(p);
    if (last)
        SLIST_INSERT_AFTER(last, m, entry);
    else
        SLIST_INSERT_HEAD(&p->meetings, m, entry);
    return m;
}

static void bind_jobs(struct pipes *p, uint32_t a, uint32_t b)
{
    struct bond *bond = a != b ? calloc(1, sizeof *bond) : NULL;

    if (!bond)
        return;
    *bond = (struct bond){.job = {a, b}};
    SLIST_INSERT_HEAD(&p->bonds, bond, entry);
}

static const char *join(struct pipes *p, struct meeting *m, bool writes, uint32_t job, const struct file_request *r,
                        struct held *h)
{
    struct end *own = &m->end[writes], *other = &m->end[!writes];

    if (own->job == 0) {
        own->job = job;
        own->first = (uint32_t)r->sfid;
        own->nodes = (uint32_t)r->offset;
        if (other->job != 0)
            bind_jobs(p, job, other->job);
    }
    own->asked++;
    SLIST_INSERT_HEAD(&own->held, h, entry);
    if (other->job != 0) {
        answer_all(p, own, (int32_t)m->number, other);
        answer_all(p, other, (int32_t)m->number, own);
    }
    if (is_complete(own) && is_complete(other))
        drop_meeting(p, m);
    return NULL;
}

const char *pipes_request(struct pipes *p, uint32_t job, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct file_request r;
    char name[NAME_BYTES] = "";

    if (n < sizeof r)
        return "it is too short";
    memcpy(&r, bytes, sizeof r);
    struct held now = {.from = from, .tag = tag, .seq = r.seq};
    if (n != sizeof r + r.name_bytes || r.flags > 1 || r.offset > 1u << NODE_MAX_DIM) {
        answer(p, &now, -N_EPROTO, NULL);
    } else if (r.name_bytes == 0) {
        answer(p, &now, (int32_t)new_number(p), NULL);
    } else if (r.name_bytes >= NAME_BYTES) {
        answer(p, &now, -N_ENAMETOOLONG, NULL);
    } else {
        memcpy(name, (const char *)bytes + sizeof r, r.name_bytes);
        struct held *h = malloc(sizeof *h);
        struct meeting *m = h ? find_meeting(p, name, r.flags, (uint32_t)r.sfid) : NULL;

        if (!m) {
            free(h);
            answer(p, &now, -N_ENOMEM, NULL);
            return NULL;
        }
        *h = now;
        return join(p, m, r.flags, job, &r, h);
    }
    return NULL;
}

/* ---- Ends ---- */

void pipes_drop_node(struct pipes *p, uint32_t node)
{
    struct meeting *m;

    SLIST_FOREACH(m, &p->meetings, entry) {
        drop_held(&m->end[0], node);
        drop_held(&m->end[1], node);
    }
}

void pipes_drop_job(struct pipes *p, uint32_t job)
{
    for (struct meeting *m = SLIST_FIRST(&p->meetings), *next; m; m = next) {
        next = SLIST_NEXT(m, entry);
        if (m->end[0].job == job || m->end[1].job == job)
            drop_meeting(p, m);
    }
    for (struct bond *b = SLIST_FIRST(&p->bonds), *next; b; b = next) {
        next = SLIST_NEXT(b, entry);
        if (b->job[0] != job && b->job[1] != job)
            continue;
        SLIST_REMOVE(&p->bonds, b, bond, entry);
        free(b);
    }
}

bool pipes_wait(const struct pipes *p, uint32_t job)
{
    struct meeting *m;

    SLIST_FOREACH(m, &p->meetings, entry)
        for (int i = 0; i < 2; i++)
            if (m->end[i].job == job && !SLIST_EMPTY(&m->end[i].held))
                return true;
    return false;
}

uint32_t pipes_next_bond(const struct pipes *p, uint32_t job, uint32_t after)
{
    uint32_t least = 0;
    struct bond *b;

    SLIST_FOREACH(b, &p->bonds, entry) {
        uint32_t other = b->job[0] == job ? b->job[1] : b->job[1] == job ? b->job[0] : 0;

        if (other > after && (least == 0 || other < least))
            least = other;
    }
    return least;
}

void pipes_free(struct pipes *p)
{
    while (!SLIST_EMPTY(&p->meetings))
        drop_meeting(p, SLIST_FIRST(&p->meetings));
    for (struct bond *b; (b = SLIST_FIRST(&p->bonds));) {
        SLIST_REMOVE_HEAD(&p->bonds, entry);
        free(b);
    }
}
