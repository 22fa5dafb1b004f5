/* Schedules (schedule.h): their steps, and how they run on. */
#include "libpio/mpi/collectives/schedule.h"

#include <stdlib.h>

enum step_kind { STEP_SEND, STEP_RECEIVE, STEP_COMBINE, STEP_COPY, STEP_ROUND };

struct schedule_step {
    enum step_kind kind;
    int count, peer, from_count;
    struct mpi_comm *comm; /* of a message */
    void *buf;             /* of a message; what is written by others */
    const struct mpi_type *type;
    const void *from; /* of a copy; `low` */
    const struct mpi_type *from_type;
    const void *high;
};

struct schedule_child {
    struct mpi_request request; /* first */
    struct schedule *of;
};

struct schedule_memory {
    struct schedule_memory *next;
    long pad; /* what follows is aligned to 16 */
};

static struct schedule *ready; /* whose round is over */

/* ---- The shadow of a communicator ---- */

/* Made when it is needed first. NULL: no memory. */
static struct mpi_comm *find_shadow(struct mpi_comm *c)
{
    struct mpi_comm *shadow = mpi_world.comm[COMMS_MAX + c->number];

    if (shadow)
        return shadow;
    shadow = calloc(1, sizeof *shadow);
    if (!shadow)
        return NULL;
    shadow->group = c->group;
    shadow->number = COMMS_MAX + c->number;
    shadow->errhandler = MPI_ERRORS_ARE_FATAL;
    mpi_world.comm[shadow->number] = shadow;
    receive_early(shadow);
    return shadow;
}

/* ---- Begin and end ---- */

static void drop(struct schedule *s)
{
    for (struct schedule_memory *m = s->memory, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free(s->reduction.memory);
    free(s->child);
    free(s->step);
    free(s);
}

static int no_memory(void)
{
    return mpi_error(MPI_ERR_NO_MEM, "no memory for the steps of a collective call", 0, 0);
}

bool schedule_ready_for(struct mpi_comm *c)
{
    return find_shadow(c) && (!c->local || find_shadow(c->local));
}

struct schedule *schedule_new(struct mpi_comm *c, int *error)
{
    struct schedule *s = calloc(1, sizeof *s);

    *error = s ? receive_prepare() : no_memory();
    if (s) {
        s->comm = c;
        s->failed = !schedule_ready_for(c);
        s->shadow = find_shadow(c);
        s->name = mpi_call.name;
    }
    return s;
}

void *schedule_take(struct schedule *s, long bytes)
{
    struct schedule_memory *m = malloc(sizeof *m + (size_t)bytes);

    if (!m) {
        s->failed = true;
        return NULL;
    }
    m->next = s->memory;
    s->memory = m;
    return m + 1;
}

/* ---- Steps ---- */

static void add(struct schedule *s, struct schedule_step step)
{
    if (s->steps == s->room) {
        int room = s->room ? 2 * s->room : 8;
        struct schedule_step *more = realloc(s->step, (size_t)room * sizeof *more);

        s->failed |= !more;
        if (!more)
            return;
        s->step = more;
        s->room = room;
    }
    s->step[s->steps++] = step;
}

static void add_message(struct schedule *s, enum step_kind kind, struct mpi_comm *comm, void *buf, int count,
                        const struct mpi_type *t, int peer)
{
    if (peer != MPI_PROC_NULL)
        add(s, (struct schedule_step){.kind = kind, .comm = comm, .buf = buf, .count = count, .type = t, .peer = peer});
}

void schedule_send(struct schedule *s, const void *buf, int count, const struct mpi_type *t, int peer)
{
    add_message(s, STEP_SEND, s->shadow, (void *)buf, count, t, peer);
}

void schedule_receive(struct schedule *s, void *buf, int count, const struct mpi_type *t, int peer)
{
    add_message(s, STEP_RECEIVE, s->shadow, buf, count, t, peer);
}

static struct mpi_comm *local_shadow(const struct schedule *s)
{
    return s->comm->local ? mpi_world.comm[COMMS_MAX + s->comm->local->number] : s->shadow;
}

void schedule_send_local(struct schedule *s, const void *buf, int count, const struct mpi_type *t, int peer)
{
    add_message(s, STEP_SEND, local_shadow(s), (void *)buf, count, t, peer);
}

void schedule_receive_local(struct schedule *s, void *buf, int count, const struct mpi_type *t, int peer)
{
    add_message(s, STEP_RECEIVE, local_shadow(s), buf, count, t, peer);
}

void schedule_combine(struct schedule *s, void *into, void *low, void *high)
{
    add(s, (struct schedule_step){.kind = STEP_COMBINE, .buf = into, .from = low, .high = high});
}

void schedule_copy(struct schedule *s, const void *from, int from_count, const struct mpi_type *from_type, void *to,
                   int to_count, const struct mpi_type *to_type)
{
    add(s, (struct schedule_step){.kind = STEP_COPY,
                                  .buf = to,
                                  .count = to_count,
                                  .type = to_type,
                                  .from = from,
                                  .from_count = from_count,
                                  .from_type = from_type});
}

void schedule_round(struct schedule *s)
{
    add(s, (struct schedule_step){.kind = STEP_ROUND});
}

/* The most messages between two rounds. */
static int most_messages(const struct schedule *s)
{
    int most = 0, n = 0;

    for (int i = s->at; i < s->steps; i++) {
        n = s->step[i].kind == STEP_ROUND ? 0 : n + (s->step[i].kind <= STEP_RECEIVE);
        most = n > most ? n : most;
    }
    return most;
}

/* ---- On the way ---- */

static void note(struct schedule *s, int error)
{
    if (error != MPI_SUCCESS && s->error == MPI_SUCCESS) {
        s->error = error;
        s->note = mpi_noted(error);
    }
}

static void end_child(struct mpi_request *r)
{
    struct schedule *s = ((struct schedule_child *)r)->of;

    if (r->error != MPI_SUCCESS)
        mpi_error_again(&r->note, r->error);
    note(s, r->error);
    if (--s->pending > 0)
        return;
    s->next = ready;
    ready = s;
}

static void start_message(struct schedule *s, const struct schedule_step *step)
{
    struct schedule_child *child = &s->child[s->used++];

    child->of = s;
    child->request = (struct mpi_request){.mode = step->kind == STEP_SEND ? MODE_STANDARD : MODE_RECEIVE,
                                          .comm = step->comm,
                                          .buf = step->buf,
                                          .count = step->count,
                                          .type = step->type,
                                          .peer = step->peer,
                                          .tag = s->tag,
                                          .process = collect_process(&step->comm->group, step->peer),
                                          .bytes = step->count * step->type->size,
                                          .forget = end_child};
    s->pending++;
    if (step->kind == STEP_SEND)
        send_start(&child->request);
    else
        receive_start(&child->request);
}

static void do_step(struct schedule *s, const struct schedule_step *step)
{
    switch (step->kind) {
    case STEP_COMBINE:
        reduction_combine(&s->reduction, step->buf, step->from, step->high);
        return;
    case STEP_COPY:
        if (step->from_count * step->from_type->size != step->count * step->type->size)
            note(s, mpi_error(MPI_ERR_TRUNCATE, "the own part has %ld bytes, not %ld",
                              step->from_count * step->from_type->size, step->count * step->type->size));
        else
            mpi_copy(step->from_type, step->from_count, step->from, step->type, step->count, step->buf,
                     step->count * step->type->size);
        return;
    default:
        start_message(s, step);
    }
}

static void finish(struct schedule *s)
{
    struct mpi_request *r = s->request;
    int error = s->error == MPI_SUCCESS ? s->error : mpi_error_again(&s->note, s->error);

    drop(s);
    request_finish(r, error);
}

/* To the end of a round that is not over. While it starts messages, those that end at once must not make it ready, so
 * one more counts as pending. */
static void go_on(struct schedule *s)
{
    s->pending = 1;
    for (;;) {
        while (s->at < s->steps && s->step[s->at].kind != STEP_ROUND)
            do_step(s, &s->step[s->at++]);
        if (s->pending > 1)
            break;
        s->used = 0;
        if (s->at < s->steps) {
            s->at++;
        } else if (s->error != MPI_SUCCESS || !s->end || !s->end(s)) {
            finish(s);
            return;
        }
    }
    s->pending--;
}

static bool go_on_with_ready(void)
{
    struct schedule *s = ready;

    if (!s)
        return false;
    ready = s->next;
    go_on(s);
    return true;
}

/* ---- Start ---- */

/* Counts as under way from here on; the memory for its steps is there. */
static int start(struct schedule *s, struct mpi_request *r)
{
    s->request = r;
    s->tag = s->shadow->next_tag++ & INT32_MAX;
    r->mode = MODE_SCHEDULE;
    r->comm = s->comm;
    r->name = s->name;
    r->peer = r->tag = MPI_NO_PEER;
    r->done = false;
    r->forget = NULL;
    status_set(&r->status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    mpi_under_way++;
    mpi_go_on = go_on_with_ready;
    go_on(s);
    return MPI_SUCCESS;
}

/* A class; after an error there is no schedule. */
static int prepare(struct schedule *s, int error)
{
    if (!s)
        return error;
    s->children = most_messages(s);
    if (error == MPI_SUCCESS && !s->failed && s->children > 0)
        s->child = malloc((size_t)s->children * sizeof *s->child);
    if (error == MPI_SUCCESS && (s->failed || (s->children > 0 && !s->child)))
        error = no_memory();
    if (error != MPI_SUCCESS)
        drop(s);
    return error;
}

int schedule_begin(struct schedule *s, int error, MPI_Request *request)
{
    if (error == MPI_SUCCESS && !request)
        error = mpi_error(MPI_ERR_ARG, "no place for the request", 0, 0);
    error = prepare(s, error);
    struct mpi_request *r = error == MPI_SUCCESS ? requests_new() : NULL;
    if (error == MPI_SUCCESS && !r) {
        drop(s);
        error = no_memory();
    }
    if (error != MPI_SUCCESS)
        return error;
    r->is_active = true;
    *request = r->handle;
    return start(s, r);
}

int schedule_run(struct schedule *s, int error)
{
    struct mpi_request r;

    error = prepare(s, error);
    if (error != MPI_SUCCESS)
        return error;
    start(s, &r);
    return engine_wait(&r);
}
