/*
 * MPI_Ibcast where the network copies a message to all nodes (icoll.h): the root sends when it calls, and nobody passes
 * anything on, so the call of another member is one message that it takes when it comes.
 *
 * Such a message has the type of a collective call, which a wildcard does not see: a process that waits looks for it by
 * source and type. Those of one root come in the order of the calls.
 */
#include <stdlib.h>
#include <sysn.h>

#include "libpio/group/pacing.h"
#include "libpio/group/stream.h"
#include "libpio/mpi/collectives/icoll.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

enum { POLLED_MAX = 16 }; /* more are looked at when a message comes */

static struct mpi_list takes;

static int type_of(const struct mpi_request *r)
{
    return (int)r->number;
}

/* Of a receive whose data is not dense: r->type. */
static __attribute__((noinline)) int take_packed(struct mpi_request *r)
{
    void *data = malloc((size_t)r->bytes + 1);
    int result = data ? engine_take(r->process, data, r->bytes, type_of(r)) : -N_ENOMEM;

    if (result >= 0)
        mpi_unpack(r->type, r->count, r->buf, 0, r->bytes, data);
    free(data);
    return result;
}

/* Takes the message, which is there or is to be waited for. */
static void take(struct mpi_request *r)
{
    int result = r->type ? take_packed(r) : engine_take(r->process, r->buf, r->bytes, type_of(r));

    if (takes.first == takes.last) /* mostly */
        takes = (struct mpi_list){NULL, NULL};
    else
        list_remove(&takes, r);
    request_finish(r, result < 0 ? mpi_error_of_message(r->comm, result, collect_rank_of(&r->comm->group, r->process))
                                 : MPI_SUCCESS);
}

/* Takes one that is there; false: none is. */
static bool take_any(void)
{
    for (struct mpi_request *r = takes.first; r; r = r->next) {
        int process = r->process, type = type_of(r);

        if (trap_test_context(&process, &type, mpi_world.group.context) != -N_EAGAIN) {
            take(r);
            return true;
        }
    }
    return false;
}

/* Waits for one of them, or for any other message. */
static void await(void)
{
    struct abi_poll entry[POLLED_MAX + 1];
    int n = 0;

    for (struct mpi_request *r = takes.first; r && n < POLLED_MAX; r = r->next)
        entry[n++] = (struct abi_poll){.kind = ABI_POLL_MESSAGE,
                                       .events = ABI_POLL_IN,
                                       .ufid = r->process,
                                       .type = type_of(r),
                                       .context = (uint16_t)mpi_world.group.context};
    entry[n++] = (struct abi_poll){.kind = ABI_POLL_MESSAGE,
                                   .events = ABI_POLL_IN,
                                   .ufid = -1,
                                   .type = -1,
                                   .context = (uint16_t)mpi_world.group.context};
    trap_poll(entry, n, ~0ull, 0);
}

/* One that alone is under way needs no look at anything else. */
static enum engine_took look_for_takes(bool waits)
{
    if (!takes.first)
        return ENGINE_TOOK_NOTHING;
    if (waits && mpi_under_way == 1) {
        mpi_tell_wait();
        take(takes.first);
        return ENGINE_TOOK;
    }
    if (take_any())
        return ENGINE_TOOK;
    if (!waits)
        return ENGINE_TOOK_NOTHING;
    mpi_tell_wait();
    await();
    return take_any() ? ENGINE_TOOK : ENGINE_SOMETHING_CAME;
}

bool icoll_can_send_to_all(struct mpi_comm *c, const struct mpi_type *t, int count)
{
    struct group *g = &c->group;
    long bytes = t->size * count;

    return g->has_broadcast && g->size > 1 && bytes <= STREAM_HARDWARE_BYTES && pace_allows(g, bytes);
}

/* The root sends last: a message that finds its reader waiting costs it an interrupt less. */
int icoll_send_to_all(struct mpi_comm *c, void *buf, long bytes, int root, MPI_Request *request)
{
    int error = receive_reserve ? MPI_SUCCESS : receive_prepare();

    if (error == MPI_SUCCESS && !request)
        error = mpi_error(MPI_ERR_ARG, "no place for the request", 0, 0);
    if (error != MPI_SUCCESS)
        return error;
    struct mpi_request *r = requests_new();
    if (!r)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a request", 0, 0);
    r->mode = MODE_SCHEDULE;
    r->comm = c;
    r->buf = buf;
    r->type = NULL;
    r->bytes = bytes;
    r->name = mpi_call.name;
    r->peer = r->tag = MPI_NO_PEER;
    r->forget = NULL;
    r->is_active = true;
    status_set(&r->status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    mpi_under_way++;
    *request = r->handle;
    r->number = (uint32_t)mpi_rooted_type(c, ROOTED_IBCAST);
    if (c->group.rank == root) {
        long result = trap_cwrite(buf, bytes, N_PROCESS(N_DEST_ALL, c->group.procid), type_of(r), c->group.context);

        request_finish(r, result < 0 ? mpi_error_of_message(c, result, -1) : MPI_SUCCESS);
        return MPI_SUCCESS;
    }
    r->done = false;
    r->process = collect_process(&c->group, root);
    mpi_look_for_takes = look_for_takes;
    list_add(&takes, r);
    return MPI_SUCCESS;
}

int icoll_send_packed_to_all(struct mpi_comm *c, void *buf, int count, const struct mpi_type *t, int root,
                             MPI_Request *request)
{
    long bytes = t->size * count;
    bool sends = c->group.rank == root;
    void *data = sends ? malloc((size_t)bytes + 1) : buf;

    if (!data && sends)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for %ld bytes", bytes, 0);
    if (sends)
        mpi_pack(t, count, buf, 0, bytes, data);
    int error = icoll_send_to_all(c, data, bytes, root, request);
    if (sends) {
        free(data);
    } else if (error == MPI_SUCCESS) {
        struct mpi_request *r = requests_find(*request);

        r->type = t;
        r->count = count;
    }
    return error;
}
