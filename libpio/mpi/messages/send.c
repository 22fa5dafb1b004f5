/*
 * Sends (request.h): at once, with an answer, or when there is room.
 */
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/mpi/messages/request.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

static struct mpi_list asked;   /* whose answers are awaited */
static struct mpi_list waiting; /* for room, in the order of their starts */
struct send_message send_out;
#define out send_out

bool sends_are_under_way(void)
{
    return asked.first || waiting.first;
}

static int error_of(const struct mpi_request *r, long result)
{
    return result < 0 ? mpi_error_of_message(r->comm, result, r->peer) : MPI_SUCCESS;
}

/* ---- To the process itself ---- */

static void send_to_self(struct mpi_request *r)
{
    struct mpi_comm *c = r->comm;
    struct mpi_entry *e = match_find_receive(&c->posted, r->peer, r->tag);
    bool is_kept = !e && r->mode != MODE_SYNCHRONOUS && r->bytes <= wire_eager_bytes;
    struct mpi_arrival *m = malloc(sizeof *m + (is_kept ? (size_t)r->bytes : 0));

    if (!m) {
        request_finish(r, mpi_error(MPI_ERR_NO_MEM, "no memory for a message of %ld bytes to itself", r->bytes, 0));
        return;
    }
    *m = (struct mpi_arrival){.entry = {.source = r->peer, .tag = r->tag},
                              .comm = c,
                              .process = r->process,
                              .bytes = r->bytes,
                              .own = is_kept ? NULL : r};
    if (e) {
        receive_unpost(c, e);
        receive_arrival((struct mpi_request *)e, m);
        return;
    }
    if (is_kept)
        mpi_pack(r->type, r->count, r->buf, 0, r->bytes, m->data);
    match_add(&c->unexpected, &m->entry);
    if (is_kept)
        request_finish(r, MPI_SUCCESS);
}

/* ---- To others ---- */

static long write_message(const struct mpi_request *r, const void *message, long bytes)
{
    return trap_cwrite(message, bytes, r->process, r->comm->number, mpi_world.group.context);
}

/* Bare, if it can be: then dense data is sent from where it lies. */
static void send_short(struct mpi_request *r, struct wire_peer *p)
{
    struct wire_header *h = (struct wire_header *)out.data - 1;
    bool is_bare = (unsigned)r->tag < r->comm->bare_tags && !wire_owes_much(p);
    const void *message = is_bare ? out.data : (const char *)h;
    long result;

    if (is_bare && r->type->is_dense)
        message = r->buf;
    else
        mpi_pack(r->type, r->count, r->buf, 0, r->bytes, out.data);
    if (is_bare) {
        result = trap_cwrite(message, r->bytes, r->process, r->comm->bare_type + r->tag, mpi_world.group.context);
    } else {
        *h = (struct wire_header){r->tag, wire_word(WIRE_SHORT, wire_give_back(p))};
        result = write_message(r, h, (long)sizeof *h + r->bytes);
    }
    request_finish(r, error_of(r, result));
}

static void describe(struct mpi_request *r, struct wire_peer *p, enum wire_kind kind)
{
    r->number = wire_new_number(p);
    out.header = (struct wire_long){{r->tag, wire_word(kind, wire_give_back(p))}, (uint64_t)r->bytes, r->number, 0};
}

/* A short one whose answer is awaited. */
static long send_with_data(struct mpi_request *r, struct wire_peer *p)
{
    describe(r, p, WIRE_SYNC);
    mpi_pack(r->type, r->count, r->buf, 0, r->bytes, out.data);
    return write_message(r, &out, (long)sizeof out.header + r->bytes);
}

static long send_header(struct mpi_request *r, struct wire_peer *p, bool is_let)
{
    describe(r, p, WIRE_ASKS);
    out.header.is_let = is_let;
    p->may_ask -= is_let;
    return write_message(r, &out, (long)sizeof out.header);
}

static long send_pieces(struct mpi_request *r, long bytes, int type)
{
    long result = 0;

    for (long at = 0, end; result >= 0 && at < bytes; at = end) {
        const char *piece = (const char *)r->buf + at;

        end = bytes - at < WIRE_PIECE_BYTES ? bytes : at + WIRE_PIECE_BYTES;
        if (!r->type->is_dense) {
            mpi_pack(r->type, r->count, r->buf, at, end, out.data);
            piece = out.data;
        }
        result = trap_cwrite(piece, end - at, r->process, type, mpi_world.group.context);
    }
    return result;
}

static void await_answer(struct mpi_request *r, long result)
{
    if (result < 0)
        request_finish(r, error_of(r, result));
    else
        list_add(&asked, r);
}

static long room_for(const struct mpi_request *r)
{
    return WIRE_UNIT + (r->bytes <= wire_eager_bytes ? r->bytes : 0);
}

/* False: there is no room. */
static bool send_if_room(struct mpi_request *r, struct wire_peer *p)
{
    long room = room_for(r);
    bool is_let = room > p->room, asks = r->bytes > wire_eager_bytes || is_let;

    if (is_let && p->may_ask == 0)
        return false;
    p->room -= asks ? WIRE_UNIT : (int32_t)room;
    if (asks)
        await_answer(r, send_header(r, p, is_let));
    else if (r->mode == MODE_SYNCHRONOUS)
        await_answer(r, send_with_data(r, p));
    else
        send_short(r, p);
    return true;
}

/* Takes the room that has been given back. */
static void look_for_room(void)
{
    struct wire_control control;
    int process = N_ANY, type = WIRE_CONTROL;

    while (trap_test_context(&process, &type, mpi_world.group.context) >= 0) {
        if (trap_read_context(&control, sizeof control, &process, &type, mpi_world.group.context) >= 0)
            send_continue(process, &control);
        process = N_ANY;
        type = WIRE_CONTROL;
    }
}

void send_start(struct mpi_request *r)
{
    r->done = r->waits = false;
    mpi_under_way++;
    status_set(&r->status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    if (r->process == mpi_world.process) {
        send_to_self(r);
        return;
    }
    struct wire_peer *p = wire_peer(r->process);
    if (p->room < room_for(r))
        look_for_room();
    if (p->blocked == 0 && send_if_room(r, p))
        return;
    r->waits = true;
    p->blocked++;
    list_add(&waiting, r);
}

/* ---- Answers ---- */

/* In their order, as far as there is room. */
static void send_waiting(int process, struct wire_peer *p)
{
    for (struct mpi_request *r = waiting.first, *next; r && p->blocked > 0; r = next) {
        next = r->next;
        if (r->process != process)
            continue;
        if (room_for(r) > p->room && p->may_ask == 0)
            return;
        list_remove(&waiting, r);
        r->waits = false;
        p->blocked--;
        send_if_room(r, p);
    }
}

void send_room(int process, uint32_t room)
{
    struct wire_peer *p = wire_peer(process);

    p->room += (int32_t)room;
    if (p->blocked > 0)
        send_waiting(process, p);
}

static struct mpi_request *find_asked(int process, uint32_t number)
{
    struct mpi_request *r = asked.first;

    while (r && (r->process != process || r->number != number))
        r = r->next;
    return r;
}

void send_continue(int process, const struct wire_control *control)
{
    struct mpi_request *r = control->answer == WIRE_ROOM ? NULL : find_asked(process, control->number);
    long wanted = (long)control->bytes;

    if (r) {
        list_remove(&asked, r);
        long result = 0;
        if (control->answer == WIRE_ANSWER)
            result = send_pieces(r, wanted < r->bytes ? wanted : r->bytes, WIRE_DATA + (int)r->number);
        request_finish(r, error_of(r, result));
    }
    wire_peer(process)->may_ask += (uint16_t)control->may_ask;
    send_room(process, control->room);
}

void send_lose(int process)
{
    for (struct mpi_request *r = asked.first, *next; r; r = next) {
        next = r->next;
        if (r->process == process) {
            list_remove(&asked, r);
            request_finish(r, error_of(r, -N_EIO));
        }
    }
}
