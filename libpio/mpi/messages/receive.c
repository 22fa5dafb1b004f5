/*
 * Receives (request.h): matching, and data that comes in pieces.
 */
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/mpi/messages/request.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

int mpi_under_way, mpi_kept;
struct engine_message engine_in;
static struct mpi_list landing; /* receives whose data has been asked for */
static struct mpi_chain early;  /* arrivals for communicators that are not made yet */
struct mpi_arrival *receive_reserve;
#define reserve receive_reserve

/* ---- Lists ---- */

void list_add(struct mpi_list *l, struct mpi_request *r)
{
    r->next = NULL;
    r->before = l->last;
    if (l->last)
        l->last->next = r;
    else
        l->first = r;
    l->last = r;
}

void list_remove(struct mpi_list *l, struct mpi_request *r)
{
    if (r->before)
        r->before->next = r->next;
    else
        l->first = r->next;
    if (r->next)
        r->next->before = r->before;
    else
        l->last = r->before;
}

void request_finish(struct mpi_request *r, int error)
{
    r->done = true;
    r->error = error;
    if (error != MPI_SUCCESS)
        r->note = mpi_noted(error);
    mpi_under_way--;
    if (r->forget)
        r->forget(r);
}

/* ---- Memory for messages that nobody waits for ---- */

int receive_prepare(void)
{
    if (!reserve)
        reserve = malloc(sizeof *reserve + WIRE_EAGER_BYTES);
    return reserve ? MPI_SUCCESS : mpi_error(MPI_ERR_NO_MEM, "no memory for messages that wait for a receive", 0, 0);
}

void receive_end(void)
{
    free(reserve);
    reserve = NULL;
}

static long count_kept(void)
{
    long n = 0;

    for (int i = 0; i < 2 * COMMS_MAX; i++)
        n += mpi_world.comm[i] ? mpi_world.comm[i]->unexpected.count : 0;
    return n;
}

static struct mpi_arrival *new_arrival(long bytes)
{
    struct mpi_arrival *m = malloc(sizeof *m + (size_t)bytes);

    if (m)
        return m;
    m = reserve;
    reserve = NULL;
    if (!m) {
        mpi_fail(mpi_world.comm[0],
                 mpi_error(MPI_ERR_NO_MEM, "none for a message that comes; %ld wait for a receive", count_kept(), 0));
        mpi_end_job(1); /* the message is lost */
    }
    return m;
}

/* ---- A message for a receive ---- */

void receive_unpost(struct mpi_comm *c, struct mpi_entry *e)
{
    match_remove(&c->posted, e);
    wire_wanted--;
}

static void note_source(struct mpi_request *r, int source, int tag, long bytes)
{
    status_set(&r->status, source, tag, bytes < r->bytes ? bytes : r->bytes);
}

static int judge_length(const struct mpi_request *r, long bytes)
{
    return bytes <= r->bytes
               ? MPI_SUCCESS
               : mpi_error(MPI_ERR_TRUNCATE, "a message of %ld bytes for a receive of %ld", bytes, r->bytes);
}

static void take_short(struct mpi_request *r, int process, const void *data, long bytes)
{
    mpi_unpack(r->type, r->count, r->buf, 0, r->status.mpi_bytes, data);
    wire_release(process, bytes);
    request_finish(r, judge_length(r, bytes));
}

/* What an error of the answer means is known when data is awaited. */
static void begin_data(struct mpi_request *r, int process, uint32_t number, long bytes)
{
    r->process = process;
    r->number = number;
    r->error = judge_length(r, bytes);
    r->note = mpi_noted(r->error);
    r->coming = r->status.mpi_bytes;
    int result = wire_tell(process, WIRE_ANSWER, number, (uint64_t)r->coming);
    if (result < 0 || r->coming == 0) {
        wire_release(process, 0);
        request_finish(r, result < 0 ? mpi_error_of_message(r->comm, result, r->status.MPI_SOURCE) : r->error);
        return;
    }
    list_add(&landing, r);
}

void receive_give(struct mpi_request *r, int process, const void *message, long bytes)
{
    const struct wire_long *h = message;
    enum wire_kind kind = (enum wire_kind)(h->header.kind_and_room & 3);
    long head = kind == WIRE_SHORT ? (long)sizeof h->header : (long)sizeof *h;
    long length = kind == WIRE_SHORT || kind == WIRE_SYNC ? bytes - head : (long)h->bytes;

    note_source(r, collect_rank_of(&r->comm->group, process), h->header.tag, length);
    if (kind == WIRE_SYNC)
        wire_tell(process, WIRE_MATCHED, h->number, 0);
    if (kind == WIRE_SHORT || kind == WIRE_SYNC)
        take_short(r, process, (const char *)message + head, length);
    else
        begin_data(r, process, h->number, length);
    if (kind == WIRE_ASKS && h->is_let)
        wire_let_came(process);
}

/* ---- Messages without a receive ---- */

static void keep(int number, int process, const void *message, long bytes)
{
    const struct wire_long *h = message;
    enum wire_kind kind = (enum wire_kind)(h->header.kind_and_room & 3);
    long head = kind == WIRE_SHORT ? (long)sizeof h->header : (long)sizeof *h;
    struct mpi_comm *comm = mpi_world.comm[number];
    struct mpi_arrival *m = new_arrival(bytes - head);

    *m = (struct mpi_arrival){.entry = {.tag = h->header.tag, .source = number},
                              .comm = comm,
                              .process = process,
                              .kind = kind,
                              .bytes = kind == WIRE_SHORT || kind == WIRE_SYNC ? bytes - head : (long)h->bytes,
                              .room = WIRE_UNIT + (kind == WIRE_ASKS ? 0 : bytes - head),
                              .number = kind == WIRE_SHORT ? 0 : h->number};
    wire_keep(process, m->room);
    if (kind == WIRE_ASKS && h->is_let)
        wire_let_came(process);
    memcpy(m->data, (const char *)message + head, (size_t)(bytes - head));
    if (comm) {
        m->entry.source = collect_rank_of(&comm->group, process);
        match_add(&comm->unexpected, &m->entry);
        return;
    }
    m->entry.all = (struct mpi_links){NULL, early.last};
    if (early.last)
        early.last->all.next = &m->entry;
    else
        early.first = &m->entry;
    early.last = &m->entry;
}

/* Takes those of this communicator, whose number is in `source`. */
void receive_early(struct mpi_comm *comm)
{
    struct mpi_chain left = {NULL, NULL};

    for (struct mpi_entry *e = early.first, *next; e; e = next) {
        struct mpi_arrival *m = (struct mpi_arrival *)e;

        next = e->all.next;
        if (e->source == comm->number) {
            m->comm = comm;
            e->source = collect_rank_of(&comm->group, m->process);
            match_add(&comm->unexpected, e);
            continue;
        }
        e->all = (struct mpi_links){NULL, left.last};
        if (left.last)
            left.last->all.next = e;
        else
            left.first = e;
        left.last = e;
    }
    early = left;
}

void receive_drop_all(struct mpi_comm *comm, bool gives_back)
{
    struct mpi_entry *e;

    while ((e = comm->unexpected.all.first)) {
        struct mpi_arrival *m = (struct mpi_arrival *)e;

        match_remove(&comm->unexpected, e);
        if (gives_back && m->room > 0) {
            wire_keep(m->process, -m->room);
            wire_release(m->process, m->room - WIRE_UNIT);
        }
        free(m);
    }
}

void receive_message(int number, int process, const void *message, long bytes)
{
    struct mpi_comm *comm = mpi_world.comm[number];
    const struct wire_header *h = message;
    struct mpi_entry *e =
        comm ? match_find_receive(&comm->posted, collect_rank_of(&comm->group, process), h->tag) : NULL;

    if (!e) {
        keep(number, process, message, bytes);
        return;
    }
    receive_unpost(comm, e);
    receive_give((struct mpi_request *)e, process, message, bytes);
}

/* ---- Receives ---- */

/* From this process's own memory. */
static void take_own(struct mpi_request *r, struct mpi_request *send)
{
    mpi_copy(send->type, send->count, send->buf, r->type, r->count, r->buf, r->status.mpi_bytes);
    request_finish(r, judge_length(r, send->bytes));
    request_finish(send, MPI_SUCCESS);
}

void receive_arrival(struct mpi_request *r, struct mpi_arrival *m)
{
    note_source(r, m->entry.source, m->entry.tag, m->bytes);
    if (m->room > 0)
        wire_keep(m->process, -m->room);
    if (m->own) {
        take_own(r, m->own);
    } else if (m->process == mpi_world.process) {
        mpi_unpack(r->type, r->count, r->buf, 0, r->status.mpi_bytes, m->data);
        request_finish(r, judge_length(r, m->bytes));
    } else if (m->kind == WIRE_SHORT || m->kind == WIRE_SYNC) {
        if (m->kind == WIRE_SYNC)
            wire_tell(m->process, WIRE_MATCHED, m->number, 0);
        take_short(r, m->process, m->data, m->bytes);
    } else {
        begin_data(r, m->process, m->number, m->bytes);
    }
    free(m);
}

void receive_start(struct mpi_request *r)
{
    struct mpi_entry *m = match_find_message(&r->comm->unexpected, r->peer, r->tag);

    r->done = false;
    r->moved = 0;
    mpi_under_way++;
    r->entry.source = r->peer;
    r->entry.tag = r->tag;
    if (m) {
        match_remove(&r->comm->unexpected, m);
        receive_arrival(r, (struct mpi_arrival *)m);
    } else {
        match_add(&r->comm->posted, &r->entry);
        wire_want(r->peer < 0 ? -1 : r->process);
    }
}

/* Whether it is in the queue of those that wait for a message. */
static bool is_posted(const struct mpi_request *r)
{
    for (const struct mpi_entry *e = r->comm->posted.all.first; e; e = e->all.next)
        if (e == &r->entry)
            return true;
    return false;
}

bool receive_cancel(struct mpi_request *r)
{
    if (r->done || !is_posted(r))
        return false;
    receive_unpost(r->comm, &r->entry);
    status_set(&r->status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    r->status.mpi_cancelled = 1;
    request_finish(r, MPI_SUCCESS);
    return true;
}

/* ---- Data ---- */

bool receives_data(void)
{
    return landing.first;
}

/* Reads a piece into its place, or through the memory of what has been read. Returns its bytes or a negative error. */
static long read_piece(struct mpi_request *r, int type)
{
    long left = r->coming - r->moved, bytes = left < WIRE_PIECE_BYTES ? left : WIRE_PIECE_BYTES;
    void *place = r->type->is_dense ? (char *)r->buf + r->moved : engine_in.data;
    int process = r->process;

    long n = trap_read_context(place, bytes, &process, &type, mpi_world.group.context);
    if (n > 0 && !r->type->is_dense)
        mpi_unpack(r->type, r->count, r->buf, r->moved, r->moved + n, engine_in.data);
    return n;
}

static void note_piece(struct mpi_request *r, long n)
{
    if (n > 0)
        r->moved += n;
    if (n > 0 && r->moved < r->coming)
        return;
    list_remove(&landing, r);
    wire_release(r->process, 0);
    request_finish(r, n < 0 ? mpi_error_of_message(r->comm, n, r->status.MPI_SOURCE)
                            : mpi_error_again(&r->note, r->error));
}

static struct mpi_request *find_landing(int process, uint32_t number)
{
    struct mpi_request *r = landing.first;

    while (r && (r->process != process || r->number != number))
        r = r->next;
    return r;
}

void receive_data(int process, int type, const void *piece, long bytes)
{
    struct mpi_request *r = find_landing(process, (uint32_t)(type - WIRE_DATA));

    if (!r) { /* of a receive that was given up */
        if (!piece)
            trap_read_context(&engine_in.header, ENGINE_MOST_BYTES, &process, &type, mpi_world.group.context);
        return;
    }
    if (piece)
        mpi_unpack(r->type, r->count, r->buf, r->moved, r->moved + bytes, piece);
    note_piece(r, piece ? bytes : read_piece(r, type));
}

/* ---- Losses ---- */

void receive_lose(int process, int type)
{
    struct mpi_comm *comm = type < 2 * COMMS_MAX ? mpi_world.comm[type] : NULL;
    struct mpi_request *r = type >= WIRE_DATA ? find_landing(process, (uint32_t)(type - WIRE_DATA)) : NULL;

    if (r)
        note_piece(r, -N_EIO);
    if (!comm)
        return;
    int rank = collect_rank_of(&comm->group, process), given_up = 0;
    for (struct mpi_entry *e = comm->posted.all.first, *next; e; e = next) {
        next = e->all.next;
        if (e->source != rank && (e->source != MATCH_ANY || given_up > 0))
            continue;
        receive_unpost(comm, e);
        status_set(&((struct mpi_request *)e)->status, rank, e->tag, 0);
        request_finish((struct mpi_request *)e, mpi_error_of_message(comm, -N_EIO, rank));
        given_up++;
    }
}
