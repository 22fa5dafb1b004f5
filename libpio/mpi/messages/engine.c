/*
 * The way on (request.h): whatever call waits, or looks, handles all that comes. A call that waits does so in the trap
 * cread, or in poll while it waits for a message of a collective call as well, so ncube sees who waits.
 */
#include <stdlib.h>
#include <sysn.h>

#include "libpio/mpi/messages/request.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

#define in engine_in

/* ---- What comes ---- */

/* The communicator's number, if it is a bare message's type; else the type. */
static int type_of(int type)
{
    return type >= WIRE_BARE && type < WIRE_CONTROL ? (type - WIRE_BARE) / WIRE_BARE_TAGS : type;
}

/* Gives a bare message that has been read a header: type and length change. Returns where the message begins. */
static const void *unwrap(int *type, long *bytes)
{
    if (*bytes < 0 || *type < WIRE_BARE || *type >= WIRE_CONTROL)
        return &in.header;
    in.bare = (struct wire_header){(*type - WIRE_BARE) % WIRE_BARE_TAGS, wire_word(WIRE_SHORT, 0)};
    *type = type_of(*type);
    *bytes += (long)sizeof in.bare;
    return &in.bare;
}

/* A message of a type that a wildcard sees. */
static void handle(int process, int type, const void *message, long bytes)
{
    if (type < 2 * COMMS_MAX) {
        uint32_t room = ((const struct wire_header *)message)->kind_and_room >> 2;

        if (room > 0)
            send_room(process, room);
        receive_message(type, process, message, bytes);
    } else if (type == WIRE_CONTROL) {
        send_continue(process, message);
    } else {
        receive_data(process, type, message, bytes);
    }
}

/* EIO: a message from that process is lost. */
static void handle_error(int process, int type, long error)
{
    if (error == -N_EIO) {
        receive_lose(process, type_of(type));
        if (type == WIRE_CONTROL)
            send_lose(process);
        return;
    }
    mpi_fail(mpi_world.comm[0], mpi_error_of_message(mpi_world.comm[0], error, -1));
    mpi_end_job(1);
}

/* The oldest message that a wildcard sees, without taking it. Returns its bytes or a negative error. */
static long look(int *process, int *type)
{
    *process = *type = N_ANY;
    return trap_test_context(process, type, mpi_world.group.context);
}

/* Waits until a message is there that a wildcard sees. */
static void await_any(void)
{
    struct abi_poll any = {.kind = ABI_POLL_MESSAGE, .events = ABI_POLL_IN, .ufid = -1, .type = -1};

    any.context = (uint16_t)mpi_world.group.context;
    trap_poll(&any, 1, ~0ull, 0);
}

bool (*mpi_go_on)(void);
enum engine_took (*mpi_look_for_takes)(bool waits);

/* Data that lands is read straight to its place, so what comes is looked at first. */
bool engine_step(bool waits)
{
    int process = N_ANY, type = N_ANY;
    long n = 0;

    if (mpi_go_on && mpi_go_on())
        return true;
    enum engine_took took = mpi_look_for_takes ? mpi_look_for_takes(waits) : ENGINE_TOOK_NOTHING;
    if (took == ENGINE_TOOK)
        return true;
    waits = waits && took != ENGINE_SOMETHING_CAME;
    if (waits)
        mpi_tell_wait();
    if (waits && !receives_data()) {
        n = trap_read_context(&in.header, ENGINE_MOST_BYTES, &process, &type, mpi_world.group.context);
    } else {
        if (waits)
            await_any();
        n = look(&process, &type);
        if (n == -N_EAGAIN)
            return false;
        if (n >= 0 && type >= WIRE_DATA) {
            receive_data(process, type, NULL, n);
            return true;
        }
        if (n >= 0 || n == -N_EIO) /* a loss is taken out of the queue, too */
            n = trap_read_context(&in.header, ENGINE_MOST_BYTES, &process, &type, mpi_world.group.context);
    }
    const void *message = unwrap(&type, &n);
    if (n < 0)
        handle_error(process, type, n);
    else
        handle(process, type, message, n);
    return true;
}

void engine_poll(void)
{
    while (engine_step(false))
        ;
}

int engine_wait(struct mpi_request *r)
{
    while (!r->done)
        engine_step(true);
    return r->error == MPI_SUCCESS ? r->error : mpi_error_again(&r->note, r->error);
}

/* Takes the message that has been read last, which may be the receive's. */
static void take_or_handle(struct mpi_request *r, int process, int type, long n)
{
    const struct wire_header *h = unwrap(&type, &n);

    if (type != r->comm->number || (r->tag != MPI_ANY_TAG && r->tag != h->tag)) {
        handle(process, type, h, n);
        return;
    }
    if (h->kind_and_room >> 2 > 0)
        send_room(process, h->kind_and_room >> 2);
    receive_give(r, process, h, n);
}

void engine_receive_from(struct mpi_request *r, int process, int type, long n)
{
    r->done = false;
    r->moved = r->coming = 0;
    mpi_under_way++;
    wire_wanted++;
    while (n >= 0) {
        take_or_handle(r, process, type, n);
        if (r->done || r->coming > 0) {
            wire_wanted--;
            return;
        }
        process = r->process;
        type = N_ANY;
        n = trap_read_context(&in.header, ENGINE_MOST_BYTES, &process, &type, mpi_world.group.context);
    }
    wire_wanted--;
    int rank = process < 0 ? -1 : collect_rank_of(&r->comm->group, process);
    status_set(&r->status, rank, r->tag, 0);
    request_finish(r, mpi_error_of_message(r->comm, n, rank));
}

/* While nothing else is under way, nothing need be looked at but what comes from this receive's source. */
int engine_receive(struct mpi_request *r)
{
    if (mpi_under_way > 0 || wire_held > 0 || r->process == mpi_world.process ||
        (r->comm->unexpected.count > 0 && match_find_message(&r->comm->unexpected, r->peer, r->tag))) {
        receive_start(r);
        return engine_wait(r);
    }
    int process = r->process, type = N_ANY;
    mpi_tell_wait();
    long n = trap_read_context(&in.header, ENGINE_MOST_BYTES, &process, &type, mpi_world.group.context);
    engine_receive_from(r, process, type, n);
    return engine_wait(r);
}

/* ---- Collective calls ---- */

/* Waits for a message of an operation, and handles others meanwhile. */
static void await(int process, int type)
{
    struct abi_poll entry[] = {
        {.kind = ABI_POLL_MESSAGE, .events = ABI_POLL_IN, .context = (uint16_t)mpi_world.group.context, -1, -1},
        {.kind = ABI_POLL_MESSAGE, .events = ABI_POLL_IN, .context = (uint16_t)mpi_world.group.context, -1, -1}};

    entry[0].ufid = process;
    entry[0].type = type;
    while (mpi_under_way > 0) {
        while (mpi_go_on && mpi_go_on())
            ;
        trap_poll(entry, 2, ~0ull, 0);
        if (entry[0].ready)
            return;
        engine_poll();
    }
}

/* One that is longer than expected is dropped. */
static void drop(int process, int type)
{
    void *buffer;

    if (trap_read_buffer(&buffer, INT32_MAX, &process, &type, mpi_world.group.context) >= 0)
        trap_nrelp(buffer);
}

int engine_take(int process, void *buf, long bytes, int type)
{
    int from = process, of = type;
    long n = trap_read_context(buf, bytes, &from, &of, mpi_world.group.context);
    if (n == -N_EMSGSIZE)
        drop(process, type);
    return n >= 0 && n != bytes ? -N_EPROTO : (int)n;
}

static int take(struct group *g, int process, void *buf, long bytes, int type)
{
    (void)g;
    mpi_tell_wait();
    if (mpi_under_way > 0)
        await(process, type);
    return engine_take(process, buf, bytes, type);
}

struct group *engine_group(struct mpi_comm *c)
{
    c->group.take = take;
    return &c->group;
}

int engine_error(struct mpi_comm *c, int result, int type)
{
    if (result >= 0)
        return MPI_SUCCESS;
    if (result == -N_EMSGSIZE && !c->group.take)
        drop(collect_process(&c->group, c->group.failed), type);
    return mpi_error_of_message(c, result, c->group.failed);
}
