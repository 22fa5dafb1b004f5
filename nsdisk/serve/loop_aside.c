/*
 * Volumes whose data cache has misses = "aside" (loop.h).
 *
 *   waiting -> aside_next -> serve ---------------------------------> replied
 *                 ^            |`-> aside: waits for the drive, or      |
 *                 |            |    until it is its client's first      |
 *               ready <--------+----------'                             |
 *                              `-> held: a short reply, until the client's earlier requests are answered
 *
 * The fiber of such a volume waits for commands of writes and of metadata, and never for a client's turn: a request
 * with a long reply is begun when no earlier one of its client is unanswered, as there is one place for such a reply
 * (so is an open, which may have to wait for a lock), and a short reply is kept in the job's record. A client's
 * requests to one volume are carried out in their order: those behind a read that is aside stay behind it.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/loop_state.h"
#include "vertex/contract/drive_cache.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define ASIDE_JOBS 256u /* beside JOBS: with short requests, which need no place */
#define ASKS_MOST  8u   /* of one read, before it waits on the fiber */
#define LATER      (SERVE_DRIVES * (DRIVE_CACHE_COMMANDS_MAX + DRIVE_CACHE_BUFFERS_WAITED))

struct aside {
    struct data_waiter waiter; /* the first member */
    struct job *job;
    TAILQ_ENTRY(aside) next; /* in volume.aside or loop.held_replies */
    struct job_queue behind; /* of the same client */
    uint32_t missed;         /* blocks */
    uint32_t asked;          /* times */
    bool waits_drive, waits_turn;
    bool waits_no_more; /* the drive has failed: the read says so */
    bool over;          /* carried out */
    size_t held_bytes;  /* of a reply; 0: none */
    uint64_t held[SERVE_REPLY_MIN_BYTES / sizeof(uint64_t)];
    uint64_t request[(sizeof(struct file_request) + 7) / sizeof(uint64_t)];
};

_Static_assert((JOBS + ASIDE_JOBS) * (sizeof(struct aside) + sizeof(struct job)) + LATER * sizeof(struct later) <=
                   SERVICE_ASIDE_BYTES,
               "ncube counts on it");
_Static_assert(sizeof(struct loop) + 4096 <= SERVICE_STATE_BYTES, "the same");

/* ---- Making ---- */

static bool make(struct loop *l)
{
    uint32_t jobs = JOBS + ASIDE_JOBS;
    struct later *later = calloc(LATER, sizeof *later);

    l->asides = calloc(jobs, sizeof *l->asides);
    struct job *job = l->asides && later ? calloc(jobs, sizeof *job) : NULL;
    if (!job) {
        free(later);
        free(l->asides);
        l->asides = NULL;
        return false;
    }
    l->laters = later;
    l->job = job;
    l->jobs = l->jobs_free = jobs;
    STAILQ_INIT(&l->free_jobs);
    for (uint32_t i = 0; i < jobs; i++)
        STAILQ_INSERT_TAIL(&l->free_jobs, &job[i], next);
    for (uint32_t i = 0; i < LATER; i++)
        STAILQ_INSERT_TAIL(&l->free_later, &later[i], next);
    return true;
}

static void report_memory(const struct ext2 *fs)
{
    char text[100];

    text_print(text, sizeof text, "%s: not enough memory for misses = \"aside\"; requests wait for those before them",
               fs->volume);
    fs->env.log.write(fs->env.log.ctx, text);
}

void aside_begin(struct loop *l)
{
    for (uint32_t i = 0; i < l->drives; i++) {
        const struct ext2 *fs = server_volume(l->server, i);

        if (!fs || !fs->data || !data_cache_sets_aside(fs->data))
            continue;
        l->volume[i].sets_aside = l->asides || make(l);
        if (!l->volume[i].sets_aside)
            report_memory(fs);
    }
}

void aside_free(struct loop *l)
{
    if (!l->asides)
        return;
    free(l->laters);
    free(l->asides);
    free(l->job);
}

void aside_take(struct loop *l, struct job *j)
{
    struct aside *x = &l->asides[j - l->job];

    x->job = j;
    STAILQ_INIT(&x->behind);
    x->asked = x->missed = 0;
    x->waits_drive = x->waits_turn = x->waits_no_more = x->over = false;
    x->held_bytes = 0;
    j->aside = x;
}

bool aside_keep(struct job *j)
{
    struct aside *x = j->aside;

    if (j->a.n > sizeof x->request)
        return false;
    memcpy(x->request, j->a.bytes, j->a.n);
    j->a.bytes = (uint8_t *)x->request;
    return true;
}

/* ---- Going on ---- */

static bool is_first(const struct loop *l, const struct aside *x)
{
    return loop_is_first_of_client(l, &x->job->ticket);
}

/* Whether it needs to wait no longer; then it is ready. */
static bool try(struct volume *v, struct aside *x)
{
    if (x->waits_drive || (x->waits_turn && !is_first(v->loop, x)))
        return false;
    v->loop->turns -= x->waits_turn;
    TAILQ_REMOVE(&v->aside, x, next);
    STAILQ_INSERT_TAIL(&v->ready, x->job, next);
    return true;
}

static void has_come(struct data_waiter *w, const uint8_t *bytes, int error)
{
    struct aside *x = (struct aside *)w;

    (void)bytes;
    x->waits_drive = false;
    x->waits_no_more = error < 0 && error != -N_EAGAIN;
    try(x->job->volume, x);
}

void aside_take_in(struct volume *v)
{
    struct ext2 *fs = server_volume(v->loop->server, v->drive);

    v->ended = false;
    v->type = (int)N_FREAD | DISK_CHANGES;
    if (fs && fs->data)
        data_cache_reap(fs->data);
}

static struct aside *aside_of(const struct volume *v, int from)
{
    struct aside *x;

    TAILQ_FOREACH(x, &v->aside, next)
        if (x->job->a.from == from)
            return x;
    return NULL;
}

bool aside_has(const struct volume *v, int from)
{
    return aside_of(v, from) != NULL;
}

struct job *aside_next(struct volume *v)
{
    struct job *j = STAILQ_FIRST(&v->ready);

    if (j)
        STAILQ_REMOVE_HEAD(&v->ready, next);
    while (!j && (j = STAILQ_FIRST(&v->waiting))) {
        struct aside *before = j->aside ? aside_of(v, j->a.from) : NULL;

        STAILQ_REMOVE_HEAD(&v->waiting, next);
        if (!before)
            return j;
        STAILQ_INSERT_TAIL(&before->behind, j, next);
        j = NULL;
    }
    return j;
}

/* Those behind it come before those that have arrived since. A job whose reply is held stays until that is sent. */
void aside_end(struct volume *v, struct job *j)
{
    struct loop *l = v->loop;
    struct aside *x = j->aside;

    STAILQ_CONCAT(&x->behind, &v->waiting);
    STAILQ_CONCAT(&v->waiting, &x->behind);
    if (x->missed != 0)
        data_cache_count_misses(server_volume(l->server, v->drive)->data, x->missed);
    x->over = true;
    if (x->held_bytes != 0)
        loop_free_bytes(l, j);
    else
        loop_free_job(l, j);
}

/* ---- Waiting ---- */

static void put(struct volume *v, struct aside *x)
{
    v->loop->statistics.aside++;
    TAILQ_INSERT_TAIL(&v->aside, x, next);
}

/* Whether the request is a plain read, of so few blocks that they stay until all are there. */
static bool may_ask(const struct ext2 *fs, const struct job *j)
{
    const struct aside *x = j->aside;
    const struct file_request *r = (const struct file_request *)j->a.bytes;

    if (j->a.type != (int)N_FREAD || j->a.n < sizeof *r || x->asked == ASKS_MOST || x->waits_no_more)
        return false;
    return r->view == 0 && data_cache_holds(fs->data, (r->bytes >> fs->block_shift) + 2);
}

/* Counts what a read has asked for when it is done. */
static void has_asked(struct aside *x, struct data_cache *data, struct data_looks before)
{
    x->waits_drive = true;
    x->asked++;
    x->missed += data_cache_count_again(data, before);
}

/* If the turn of a read has not come, this asks for the blocks that are absent. */
bool aside_put(struct volume *v, struct job *j)
{
    struct loop *l = v->loop;
    struct aside *x = j->aside;
    uint32_t node = arrival_node(&j->a), tag = arrival_tag(&j->a);

    x->waits_turn = false;
    if (is_first(l, x))
        return false;
    if (j->a.type != (int)N_FOPEN && serve_reply_bytes(tag, j->a.bytes, j->a.n) <= SERVE_REPLY_MIN_BYTES)
        return false;
    x->waits_turn = true;
    l->turns++;
    const struct ext2 *fs = server_volume(l->server, v->drive);
    struct data_looks before = data_cache_looks(fs->data);
    x->waiter.done = has_come;
    if (may_ask(fs, j) && serve_asks(l->server, node, tag, j->a.bytes, j->a.n, &x->waiter))
        has_asked(x, fs->data, before);
    put(v, x);
    return true;
}

bool aside_serve(struct volume *v, struct job *j, void **reply, size_t *n)
{
    struct loop *l = v->loop;
    struct aside *x = j->aside;
    struct ext2 *fs = server_volume(l->server, v->drive);
    const struct arrival_area area = {v->area, l->area_bytes};
    bool asks = may_ask(fs, j);
    struct data_looks before = data_cache_looks(fs->data);

    x->waiter.done = has_come;
    fs->asker = asks ? &x->waiter : NULL;
    *n = arrival_serve(l->server, &j->a, &area, v->short_reply, reply);
    if (!asks || fs->asker) {
        fs->asker = NULL;
        return true;
    }
    has_asked(x, fs->data, before);
    put(v, x);
    return false;
}

/* ---- Turns ---- */

void aside_hold(struct loop *l, struct job *j, const void *reply, size_t n)
{
    struct aside *x = j->aside;

    l->statistics.held++;
    l->turns++;
    memcpy(x->held, reply, n);
    x->held_bytes = n;
    TAILQ_INSERT_TAIL(&l->held_replies, x, next);
}

static bool send_held(struct loop *l, int from)
{
    struct aside *x;

    TAILQ_FOREACH(x, &l->held_replies, next)
        if (x->job->a.from == from && is_first(l, x))
            break;
    if (!x)
        return false;
    TAILQ_REMOVE(&l->held_replies, x, next);
    l->turns--;
    l->replies.reply(l->replies.ctx, from, x->job->a.type, x->held, x->held_bytes);
    TAILQ_REMOVE(&l->unanswered, &x->job->ticket, next);
    x->held_bytes = 0;
    if (x->over)
        loop_free_job(l, x->job);
    return true;
}

static bool send_late(struct loop *l, int from)
{
    for (uint32_t i = 0; i < EVERYWHERE_MAX; i++) {
        struct everywhere *all = &l->everywhere[i];

        if (!all->late || all->a.from != from || !loop_is_first_of_client(l, &all->ticket))
            continue;
        all->late = false;
        l->turns--;
        all->left = 0;
        arrival_answer(&l->replies, &all->a, all->seq, all->status);
        TAILQ_REMOVE(&l->unanswered, &all->ticket, next);
        return true;
    }
    return false;
}

void aside_turn(struct loop *l, int from)
{
    if (l->turns == 0)
        return;
    while (send_held(l, from) || send_late(l, from))
        ;
    for (uint32_t i = 0; i < l->drives; i++) {
        struct aside *x, *next;

        for (x = TAILQ_FIRST(&l->volume[i].aside); x; x = next) {
            next = TAILQ_NEXT(x, next);
            if (x->waits_turn && x->job->a.from == from)
                try(&l->volume[i], x);
        }
    }
}

bool aside_is_idle(const struct loop *l)
{
    for (uint32_t i = 0; i < l->drives; i++)
        if (!TAILQ_EMPTY(&l->volume[i].aside) || !STAILQ_EMPTY(&l->volume[i].ready))
            return false;
    return TAILQ_EMPTY(&l->held_replies);
}
