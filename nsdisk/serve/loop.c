/*
 * The event loop of concurrent service: see loop.h for the way of a request and for the memory.
 *
 *   loop_run      receives, gives requests to volumes, runs the fibers that can go on
 *   accept        finds a request's volume and a place for it; requests that are no files' go to their family
 *   serve_jobs    a fiber: one request of its volume after the other
 *   loop_aside.c  reads that wait without a fiber
 *   loop_disk.c   struct blockdev for a volume: starts a command, and leaves the fiber until it is done
 *   loop_families.c   requests of other families, and their work on fibers
 *
 * A fiber that waits says for which command (volume.awaits); loop_collect marks commands as done, and the loop enters
 * the fibers whose command is.
 */
#include "nsdisk/serve/loop.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/loop_state.h"
#include "nsdisk/serve/merge.h"
#include "nsdisk/serve/pages.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

/* ---- Jobs ---- */

static struct job *new_job(struct loop *l, struct volume *v, const struct arrival *a)
{
    struct job *j = STAILQ_FIRST(&l->free_jobs);

    STAILQ_REMOVE_HEAD(&l->free_jobs, next);
    l->jobs_free--;
    *j = (struct job){.volume = v, .a = *a};
    if (v->sets_aside)
        aside_take(l, j);
    STAILQ_INSERT_TAIL(&v->waiting, j, next);
    return j;
}

/* ---- Replies, each client's in order of arrival ---- */

static void take_ticket(struct loop *l, struct ticket *t, int from)
{
    t->from = from;
    TAILQ_INSERT_TAIL(&l->unanswered, t, next);
}

/* Waits on the volume's fiber. Only requests that arrived earlier are waited for, and each volume serves its own in
 * order of arrival, so the oldest of all never waits. */
static void await_turn(struct volume *v, const struct ticket *t)
{
    while (!loop_is_first_of_client(v->loop, t)) {
        v->turn = true;
        loop_leave(v);
    }
}

static void give_back(struct loop *l, struct ticket *t)
{
    TAILQ_REMOVE(&l->unanswered, t, next);
    for (uint32_t i = 0; i < l->drives; i++)
        if (l->volume[i].leaving && l->volume[i].turn)
            l->volume[i].go_on = true;
    if (l->asides)
        aside_turn(l, t->from);
}

static size_t serve(struct volume *v, const struct job *j, void **reply)
{
    const struct arrival_area area = {v->area, v->loop->area_bytes};

    return arrival_serve(v->loop->server, &j->a, &area, v->short_reply, reply);
}

static void send(struct loop *l, const struct arrival *a, const void *reply, size_t n)
{
    l->replies.reply(l->replies.ctx, a->from, a->type, reply, n);
}

/* Answers when it is the client's turn: waits for that, or holds the reply. */
static void answer_job(struct volume *v, struct job *j, const void *reply, size_t n)
{
    struct loop *l = v->loop;

    if (j->aside && !loop_is_first_of_client(l, &j->ticket)) {
        aside_hold(l, j, reply, n);
        return;
    }
    await_turn(v, &j->ticket);
    send(l, &j->a, reply, n);
    give_back(l, &j->ticket);
}

static void end_job(struct volume *v, struct job *j)
{
    if (j->aside)
        aside_end(v, j);
    else
        loop_free_job(v->loop, j);
}

/* False: the request has been put aside. */
static bool serve_alone(struct volume *v, struct job *j)
{
    void *reply;
    size_t n;

    if (!j->aside)
        n = serve(v, j, &reply);
    else if (!aside_serve(v, j, &reply, &n))
        return false;
    answer_job(v, j, reply, n);
    return true;
}

/* Of a request to all volumes. */
static void serve_part(struct volume *v, struct job *j)
{
    struct loop *l = v->loop;
    struct everywhere *all = j->all;
    int64_t status = serve_everywhere(l->server, v->drive, arrival_node(&j->a), arrival_tag(&j->a));

    if (all->status == 0)
        all->status = status;
    if (all->left == 1 && j->aside && !loop_is_first_of_client(l, &all->ticket)) {
        all->late = true;
        l->turns++;
        loop_free_job(l, j);
        return;
    }
    if (all->left == 1) {
        await_turn(v, &all->ticket);
        arrival_answer(&l->replies, &all->a, all->seq, all->status);
        give_back(l, &all->ticket);
    }
    all->left--;
    loop_free_job(l, j);
}

static const struct work part = {serve_part};

/* ---- Writes that are carried out as one ---- */

/* The writes that are carried out together, on the volume's fiber. */
struct group {
    struct volume *volume;
    struct merge *merge;
    struct job_queue jobs; /* in order of arrival */
    struct job *next;      /* that is to be answered */
};

/* Adds a write that waits to the group, if it fits. */
static bool join(struct group *g, const struct job *j)
{
    if (j->aside && aside_has(g->volume, j->a.from))
        return false;
    return !j->work && j->a.type == (int)N_FWRITE && arrival_join(g->volume->loop->server, &j->a, &g->merge);
}

static void take_more(void *ctx)
{
    struct group *g = ctx;
    struct volume *v = g->volume;
    struct job *j;

    while ((j = STAILQ_FIRST(&v->waiting)) && join(g, j)) {
        STAILQ_REMOVE_HEAD(&v->waiting, next);
        STAILQ_INSERT_TAIL(&g->jobs, j, next);
        if (!g->next)
            g->next = j;
        v->loop->statistics.joined++;
    }
}

static void answer(void *ctx, uint32_t write)
{
    struct group *g = ctx;
    struct job *j = g->next;

    (void)write;
    if (j->aside) {
        const struct file_reply reply = arrival_reply_to_write(&j->a);

        answer_job(g->volume, j, &reply, sizeof reply);
    } else {
        await_turn(g->volume, &j->ticket);
        arrival_answer_write(&g->volume->loop->replies, &j->a);
        give_back(g->volume->loop, &j->ticket);
    }
    g->next = STAILQ_NEXT(j, next);
}

/* Carries out a write, with those that wait behind it. Their places are free when all are done. */
static void serve_write(struct volume *v, struct job *first)
{
    struct group g = {.volume = v, .next = first};
    const struct merge_calls calls = {take_more, answer, &g};
    struct job *j;

    if ((!arrival_is_by_view(&first->a) && STAILQ_EMPTY(&v->waiting)) || !join(&g, first)) {
        serve_alone(v, first);
        return;
    }
    STAILQ_INIT(&g.jobs);
    STAILQ_INSERT_TAIL(&g.jobs, first, next);
    take_more(&g);
    if (g.merge->writes > 1 || g.merge->write[0].view)
        merge_run(g.merge, &calls);
    merge_end(g.merge);
    for (j = g.next; j; j = STAILQ_NEXT(j, next))
        serve_alone(v, j);
    STAILQ_REMOVE_HEAD(&g.jobs, next); /* the caller frees it */
    while ((j = STAILQ_FIRST(&g.jobs))) {
        STAILQ_REMOVE_HEAD(&g.jobs, next);
        end_job(v, j);
    }
}

/* ---- Fibers ---- */

/* A request in the landing area becomes one in the volume's. */
static void take_area(struct volume *v, struct job *j)
{
    struct loop *l = v->loop;

    if (j->a.bytes != l->landing)
        return;
    l->landing = v->area;
    l->held = false;
    v->area = j->a.bytes;
}

static struct job *next_job(struct volume *v)
{
    struct job *j = STAILQ_FIRST(&v->waiting);

    if (v->ended)
        aside_take_in(v);
    if (v->sets_aside)
        return aside_next(v);
    if (j)
        STAILQ_REMOVE_HEAD(&v->waiting, next);
    return j;
}

static void serve_jobs(void *arg)
{
    struct volume *v = arg;
    struct job *j;

    for (;;) {
        while ((j = next_job(v))) {
            v->busy = true;
            v->type = j->a.type | DISK_CHANGES;
            if (j->work) {
                j->work->run(v, j);
                continue;
            }
            if (j->aside && aside_put(v, j))
                continue;
            if (take_area(v, j), j->a.type == (int)N_FWRITE)
                serve_write(v, j);
            else if (!serve_alone(v, j))
                continue;
            end_job(v, j);
        }
        v->busy = false;
        fiber_leave(&v->fiber);
    }
}

static void run(struct volume *v)
{
    v->loop->running = v;
    fiber_enter(&v->fiber);
    v->loop->running = NULL;
}

/* Runs every fiber that can go on, the lowest drive first. Returns whether there was one, as it may let others go
 * on. */
static inline bool run_all(struct loop *l)
{
    bool any = false;

    for (uint32_t i = 0; i < l->drives; i++) {
        struct volume *v = &l->volume[i];

        if (v->leaving ? v->go_on : !STAILQ_EMPTY(&v->waiting) || v->ended || !STAILQ_EMPTY(&v->ready)) {
            run(v);
            any = true;
        }
    }
    return any;
}

static bool is_idle(const struct loop *l)
{
    for (uint32_t i = 0; i < l->drives; i++)
        if (l->volume[i].busy || !STAILQ_EMPTY(&l->volume[i].waiting))
            return false;
    return !l->asides || aside_is_idle(l);
}

/* ---- Receiving ---- */

static struct everywhere *free_everywhere(struct loop *l)
{
    for (uint32_t i = 0; i < EVERYWHERE_MAX; i++)
        if (l->everywhere[i].left == 0)
            return &l->everywhere[i];
    return NULL;
}

static bool can_receive(struct loop *l)
{
    return !l->closing && !l->held && l->jobs_free >= SERVE_DRIVES && free_everywhere(l);
}

/* Nothing is received until the family has room for it: fibers have given it back, or commands that have ended. */
static void give_to_family(struct loop *l, const struct arrival *a)
{
    while (!families_take(l, a)) {
        if (!run_all(l) && l->under_way == 0) {
            family_refuse(l, a, -N_ENOMEM);
            return;
        }
        if (l->under_way > 0)
            loop_collect(l, true);
        families_commands_ended(l);
        while (run_all(l))
            ;
    }
}

/* The request needs no disk, or is another family's. */
static void serve_at_once(struct loop *l, const struct arrival *a)
{
    if (N_IS_FAMILY_REQUEST(a->type)) {
        give_to_family(l, a);
        return;
    }
    size_t n = serve_request(l->server, arrival_node(a), arrival_tag(a), a->bytes, a->n, l->short_reply,
                             sizeof l->short_reply);

    send(l, a, l->short_reply, n);
}

static void queue_everywhere(struct loop *l, const struct arrival *a)
{
    struct everywhere *all = free_everywhere(l);
    struct file_request r;

    memcpy(&r, a->bytes, sizeof r);
    *all = (struct everywhere){.a = {a->from, a->type, NULL, 0}, .seq = r.seq};
    if (a->type == (int)N_FEXIT)
        families_client_ended(l, a->from);
    for (uint32_t i = 0; i < l->drives; i++)
        if (server_volume(l->server, i)) {
            struct job *j = new_job(l, &l->volume[i], &all->a);

            j->all = all;
            j->work = &part;
            all->left++;
        }
    if (all->left == 0)
        arrival_answer(&l->replies, a, r.seq, 0);
    else
        take_ticket(l, &all->ticket, a->from);
}

static void queue_request(struct loop *l, struct volume *v, const struct arrival *a)
{
    bool busy = v->busy || !STAILQ_EMPTY(&v->waiting);
    struct job *j = new_job(l, v, a);

    take_ticket(l, &j->ticket, a->from);
    if (j->aside && aside_keep(j))
        return;
    if (busy && a->n <= l->parked_bytes && l->parking_free > 0) {
        j->a.bytes = l->parking[--l->parking_free];
        memcpy(j->a.bytes, a->bytes, a->n);
    } else {
        l->held = true;
    }
}

/* The volume of a request of a file, of the same client, that is not answered. NULL: there is none, or it does not
 * matter to this request. */
static struct volume *volume_in_use(struct loop *l, const struct arrival *a)
{
    for (uint32_t i = 0; i < l->jobs && !N_IS_FAMILY_REQUEST(a->type); i++)
        if (l->job[i].volume && l->job[i].a.from == a->from)
            return l->job[i].volume;
    return NULL;
}

static void accept(struct loop *l, const struct arrival *a)
{
    int target = serve_target(l->server, arrival_node(a), arrival_tag(a), a->bytes, a->n);
    struct volume *other = target == SERVE_NOWHERE ? volume_in_use(l, a) : NULL;

    if (other)
        queue_request(l, other, a);
    else if (target == SERVE_NOWHERE)
        serve_at_once(l, a);
    else if (target == SERVE_EVERYWHERE)
        queue_everywhere(l, a);
    else
        queue_request(l, &l->volume[target], a);
}

static void shut_down(struct loop *l)
{
    l->closing = true;
    families_shut_down(l);
}

static void receive(struct loop *l)
{
    struct arrival a = {-1, -1, l->landing, 0};
    long n = l->node.receive(l->node.ctx, l->landing, l->area_bytes, &a.from, &a.type);

    if (n < 0)
        return;
    a.n = (size_t)n;
    if (a.type == N_SHUTDOWN && a.from == (int)NODE_HOST)
        shut_down(l);
    else if (arrival_is_request(a.type))
        accept(l, &a);
}

void loop_run(struct loop *l)
{
    aside_begin(l);
    for (;;) {
        while (loop_collect(l, false))
            ;
        do
            if (l->ended)
                families_commands_ended(l);
        while (run_all(l) || l->ended);
        if (l->closing && is_idle(l))
            return;
        if (can_receive(l))
            receive(l);
        else
            loop_collect(l, true);
    }
}

/* ---- Making ---- */

/* Shares the memory out: areas of the landing and of each volume, parking places, stacks. */
static void make_places(struct loop *l)
{
    uint8_t *at = l->memory;

    l->landing = at;
    at += l->area_bytes;
    for (uint32_t i = 0; i < l->drives; i++, at += l->area_bytes)
        l->volume[i].area = at;
    for (uint32_t i = 0; i < LOOP_PARKED; i++, at += l->parked_bytes)
        l->parking[i] = at;
    l->parking_free = LOOP_PARKED;
    for (uint32_t i = 0; i < l->drives; i++, at += FIBER_STACK_BYTES) {
        struct volume *v = &l->volume[i];

        v->loop = l;
        v->drive = i;
        STAILQ_INIT(&v->waiting);
        STAILQ_INIT(&v->ready);
        TAILQ_INIT(&v->aside);
        fiber_make(&v->fiber, at, serve_jobs, v);
    }
}

struct loop *loop_new(struct server *s, const struct loop_node *node, uint32_t drives, uint32_t io_bytes)
{
    struct loop *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->server = s;
    l->node = *node;
    l->drives = drives;
    l->area_bytes = service_area_bytes(io_bytes);
    l->parked_bytes = service_parked_bytes(io_bytes);
    size_t all = (drives + 1) * l->area_bytes + LOOP_PARKED * l->parked_bytes + drives * FIBER_STACK_BYTES;
    l->memory = aligned_alloc(16, all);
    if (!l->memory) {
        free(l);
        return NULL;
    }
    pages_touch(l->memory, all);
    STAILQ_INIT(&l->free_jobs);
    TAILQ_INIT(&l->unanswered);
    TAILQ_INIT(&l->held_replies);
    STAILQ_INIT(&l->later);
    STAILQ_INIT(&l->free_later);
    l->job = l->own_job;
    for (uint32_t i = 0; i < JOBS; i++)
        STAILQ_INSERT_TAIL(&l->free_jobs, &l->job[i], next);
    l->jobs = l->jobs_free = JOBS;
    make_places(l);
    serve_hold_replies(s, &l->replies, node->reply, node->reply_ctx);
    families_begin(l);
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    families_free(l);
    aside_free(l);
    free(l->memory);
    free(l);
}

struct loop_statistics loop_statistics(const struct loop *l)
{
    struct loop_statistics s = l->statistics;

    for (uint32_t i = 0; i < l->drives; i++) {
        size_t used = fiber_deepest(&l->volume[i].fiber);

        s.stack_most = used > s.stack_most ? used : s.stack_most;
    }
    return s;
}
