/* See echo_family.h. */
#include "tests/nsdisk/echo_family.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/ext2/ext2.h"
#include "nsdisk/serve/family.h"
#include "vertex/contract/errors.h"

/* A request that waits. */
struct waiting {
    struct waiting *next;
    struct arrival a; /* a copy, whose bytes are behind this */
    struct echo_request r;
};

struct reading {
    struct family_work work;
    struct echo *echo;
    struct echo_request r;
    int from;
    bool used;
    char path[200];
};

struct echo {
    struct loop *loop;
    struct waiting *waiting;
    uint64_t random;
    uint64_t answered_late, ended;
    struct reading reading[ECHO_READS];
};

static uint32_t draw(struct echo *e, uint32_t n)
{
    e->random = e->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(e->random >> 33) % n;
}

/* Answers with the request's own data, behind another head. */
static void answer(struct echo *e, const struct arrival *a, int64_t status, uint64_t place, size_t data_bytes)
{
    const struct echo_reply reply = {{family_sequence(a), (int32_t)status}, place};

    family_reply_parts(e->loop, a->from, a->type, &reply, status < 0 ? sizeof reply.head : sizeof reply,
                       a->bytes + sizeof(struct echo_request), status < 0 ? 0 : data_bytes);
}

static size_t data_bytes(const struct arrival *a)
{
    return a->n - sizeof(struct echo_request);
}

/* ---- What waits ---- */

static bool is_of(const struct waiting *w, int type, uint64_t key)
{
    return w->a.type == type && w->r.key == key;
}

static uint32_t count(const struct echo *e, int type, uint64_t key)
{
    uint32_t n = 0;

    for (const struct waiting *w = e->waiting; w; w = w->next)
        n += is_of(w, type, key);
    return n;
}

static void drop(struct waiting **link)
{
    struct waiting *w = *link;

    *link = w->next;
    free(w);
}

/* Answers all of them, in a random order. Returns how many there were. */
static uint32_t release(struct echo *e, int type, uint64_t key)
{
    uint32_t all = count(e, type, key);

    for (uint32_t left = all; left > 0; left--) {
        struct waiting **link = &e->waiting;

        for (uint32_t skip = draw(e, left); skip > 0 || !is_of(*link, type, key); link = &(*link)->next)
            skip -= is_of(*link, type, key);
        answer(e, &(*link)->a, (int64_t)data_bytes(&(*link)->a), ++e->answered_late, data_bytes(&(*link)->a));
        drop(link);
    }
    return all;
}

static void hold(struct echo *e, const struct arrival *a, const struct echo_request *r)
{
    struct waiting *w = malloc(sizeof *w + a->n);

    if (!w) {
        answer(e, a, -N_ENOMEM, 0, 0);
        return;
    }
    *w = (struct waiting){e->waiting, *a, *r};
    w->a.bytes = (uint8_t *)(w + 1);
    memcpy(w->a.bytes, a->bytes, a->n);
    e->waiting = w;
    if (a->type == N_MEET && count(e, N_MEET, r->key) >= r->arg)
        release(e, N_MEET, r->key);
}

/* ---- Reading, on the volume's fiber ---- */

static void read_file(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct reading *r = (struct reading *)work;
    const struct arrival a = {r->from, N_READ, area->bytes, sizeof r->r};
    struct ext2_inode *inode;
    int64_t n = ext2_lookup(fs, (struct ext2_path){r->path, (uint32_t)strlen(r->path)}, true, &inode);

    if (n == 0) {
        n = !ext2_is_file(inode) ? -N_EISDIR : ext2_read(inode, r->r.key, area->bytes + sizeof r->r, ECHO_READ_BYTES);
        ext2_inode_put(inode);
    }
    memcpy(area->bytes, &r->r, sizeof r->r);
    answer(r->echo, &a, n, 0, n > 0 ? (size_t)n : 0);
    r->used = false;
}

static struct reading *free_reading(struct echo *e)
{
    for (uint32_t i = 0; i < ECHO_READS; i++)
        if (!e->reading[i].used)
            return &e->reading[i];
    return NULL;
}

static bool start_reading(struct echo *e, const struct arrival *a, const struct echo_request *r)
{
    struct reading *reading = free_reading(e);
    size_t n = data_bytes(a);

    if (!reading)
        return false;
    if (n == 0 || n >= sizeof reading->path || a->bytes[sizeof *r] != '/') {
        answer(e, a, -N_EPROTO, 0, 0);
        return true;
    }
    *reading = (struct reading){.work.run = read_file, .echo = e, .r = *r, .from = a->from, .used = true};
    memcpy(reading->path, a->bytes + sizeof *r, n);
    int error = family_run(e->loop, r->arg, &reading->work, a->from, a->type);
    if (error < 0) {
        answer(e, a, error, 0, 0);
        reading->used = false;
    }
    return true;
}

/* ---- The family ---- */

static void *begin(struct loop *l)
{
    struct echo *e = calloc(1, sizeof *e);

    if (e)
        e->loop = l;
    return e;
}

static bool take(void *state, const struct arrival *a)
{
    struct echo *e = state;
    struct echo_request r;

    if (a->n < sizeof r || data_bytes(a) > ECHO_DATA_BYTES) {
        family_refuse(e->loop, a, a->n < sizeof r ? -N_EPROTO : -N_EMSGSIZE);
        return true;
    }
    memcpy(&r, a->bytes, sizeof r);
    if (a->type == N_ECHO)
        answer(e, a, (int64_t)data_bytes(a), 0, data_bytes(a));
    else if (a->type == N_HOLD || a->type == N_MEET)
        hold(e, a, &r);
    else if (a->type == N_RELEASE)
        answer(e, a, release(e, N_HOLD, r.key), 0, 0);
    else if (a->type == N_KNOWN)
        answer(e, a, count(e, N_HOLD, r.key), e->ended, 0);
    else if (a->type == N_READ)
        return start_reading(e, a, &r);
    else if (a->type == N_NO_ROOM)
        return false;
    else if (a->type == N_END)
        exit((int)r.arg);
    else
        answer(e, a, -N_ENOSYS, 0, 0);
    return true;
}

static void client_ended(void *state, int from)
{
    struct echo *e = state;
    struct waiting **link = &e->waiting;

    e->ended++;
    while (*link)
        if ((*link)->a.from == from)
            drop(link);
        else
            link = &(*link)->next;
}

static void shut_down(void *state)
{
    struct echo *e = state;

    for (; e->waiting; drop(&e->waiting))
        answer(e, &e->waiting->a, (int64_t)data_bytes(&e->waiting->a), ++e->answered_late, data_bytes(&e->waiting->a));
}

static void end(void *state)
{
    free(state);
}

static void *begin_without_memory(struct loop *l)
{
    (void)l;
    return NULL;
}

static const struct family echo_family = {
    TYPES_CLUSTERFILE, TYPES_CLUSTERFILE_LAST, begin, take, client_ended, NULL, shut_down, end};
static const struct family without_memory = {
    NO_MEMORY, TYPES_CFS_LAST, begin_without_memory, take, client_ended, NULL, shut_down, end};

/* In place of nsdisk/serve/families.c */
const struct family *const families[FAMILIES_MAX] = {&echo_family, &without_memory};
