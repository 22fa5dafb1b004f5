/*
 * Blocking calls [3.2, 3.4, 3.10].
 */
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/mpi/messages/request.h"
#include "vertex/contract/quick_traps.h"
#include "vertex/contract/traps.h"

/* Begins a send that has been checked, and waits for its end. */
static int send_and_wait(struct mpi_request *r, int error)
{
    if (error != MPI_SUCCESS || r->peer == MPI_PROC_NULL)
        return error;
    send_start(r);
    mpi_call.sends = true;
    return engine_wait(r);
}

/* ---- Short messages: the shortest way for what most calls do, and all else out of it ---- */

#define RARE      __attribute__((noinline, cold))
#define LIKELY(x) __builtin_expect(!!(x), 1)

static RARE int send_any(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct mpi_request r;

    MPI_ENTER("Send", c, dest, tag);
    if (!c)
        return mpi_fail_comm(comm);
    r.mode = MODE_STANDARD;
    return mpi_leave(c, send_and_wait(&r, check_send(&r, c, buf, count, datatype, dest, tag)));
}

static RARE int send_failed(MPI_Comm comm, long result, int dest)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Send", c, dest, MPI_NO_PEER);
    trap_note((int)result);
    return mpi_fail(c, mpi_error_of_message(c, result, dest));
}

/* A bare message is sent from where it lies. */
int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    const struct mpi_comm *c = mpi_find_comm(comm);
    const struct mpi_type *t = mpi_find_type(datatype);

    if (!c || !t || (uintptr_t)buf <= 1 || (unsigned)dest >= (unsigned)c->group.size || (unsigned)tag >= c->bare_tags ||
        !c->bare_peers)
        return send_any(buf, count, datatype, dest, tag, comm);
    struct wire_peer *p = &c->bare_peers[dest];
    long bytes = t->quick_size * count;
    if ((unsigned long)bytes - 1 >= (unsigned long)wire_eager_bytes || p->room < bytes + WIRE_UNIT || p->blocked > 0 ||
        wire_owes_much(p))
        return send_any(buf, count, datatype, dest, tag, comm);
    p->room -= (int32_t)bytes + WIRE_UNIT;
    long result = quick_cwrite(buf, bytes, c->bare_process + dest, c->bare_type + tag, mpi_world.group.context);
    return result == 0 ? MPI_SUCCESS : send_failed(comm, result, dest);
}
MPI_NAME(Send);

/* ---- Other modes ---- */

#define BLOCKING(name, how)                                                                              \
    int PMPI_##name(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) \
    {                                                                                                    \
        struct mpi_comm *c = mpi_find_comm(comm);                                                        \
        struct mpi_request r;                                                                            \
                                                                                                         \
        MPI_ENTER(#name, c, dest, tag);                                                                  \
        if (!c)                                                                                          \
            return mpi_fail_comm(comm);                                                                  \
        r.mode = (how);                                                                                  \
        return mpi_leave(c, send_and_wait(&r, check_send(&r, c, buf, count, datatype, dest, tag)));      \
    }                                                                                                    \
    MPI_NAME(name);

BLOCKING(Ssend, MODE_SYNCHRONOUS)
BLOCKING(Rsend, MODE_READY)

/* ---- Receives ---- */

static int receive_and_wait(struct mpi_request *r, int error, MPI_Status *status)
{
    if (error != MPI_SUCCESS)
        return error;
    if (r->peer == MPI_PROC_NULL) {
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        return MPI_SUCCESS;
    }
    error = engine_receive(r);
    status_give(status, r);
    return error;
}

static const char name_of_receive[32] __attribute__((aligned(8))) = "MPI_Recv";

static RARE int receive_any(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                            MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct mpi_request r;

    mpi_call = (struct mpi_call){name_of_receive, c, source, tag, false};
    if (!c)
        return mpi_fail_comm(comm);
    return mpi_leave(c, receive_and_wait(&r, check_receive(&r, c, buf, count, datatype, source, tag), status));
}

/* What has been read, with the result n, is a long message, another one, or an answer; it is of that process and type,
 * which the upper and the lower half of `from` are. */
static RARE int receive_other(void *buf, long bytes, int source, int tag, struct mpi_comm *c, MPI_Status *status,
                              uint64_t from, long n)
{
    struct mpi_request r;

    mpi_call = (struct mpi_call){name_of_receive, c, source, tag, false};
    check_receive(&r, c, buf, (int)bytes, MPI_BYTE, source, tag);
    if (n < 0)
        trap_note((int)n);
    engine_receive_from(&r, (int)(from >> 32), (int)(uint32_t)from, n);
    int error = engine_wait(&r);
    status_give(status, &r);
    return mpi_leave(c, error);
}

/* The rest of a receive: data that is not one word, room that is given back, or is to be. */
static __attribute__((noinline)) int end_receive(void *buf, const void *data, long length, int process, uint32_t room)
{
    memcpy(buf, data, (size_t)length);
    if (room > 0)
        send_room(process, room);
    if (wire_peer(process)->owed >= wire_most_owed)
        wire_tell(process, WIRE_ROOM, 0, 0);
    return MPI_SUCCESS;
}

/* Only what comes from the source need be looked at if nobody waits for anything else, and no message is here that
 * might match: messages of other communicators, too, as they may take the room that the one has to have. */
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    const struct mpi_type *t = mpi_find_type(datatype);

    if (!c || !t || (uintptr_t)buf <= 1 || (unsigned)count > WIRE_EAGER_BYTES || mpi_under_way > 0 || wire_held > 0 ||
        c->unexpected.count > 0 || source < MPI_ANY_SOURCE || source >= c->group.size || tag < MPI_ANY_TAG ||
        !receive_reserve || !mpi_tells(name_of_receive, c))
        return receive_any(buf, count, datatype, source, tag, comm, status);
    long bytes = t->quick_size * count;
    int process = source < 0 ? source : collect_process(&c->group, source), type;
    if (process == mpi_world.process || bytes == 0)
        return receive_any(buf, count, datatype, source, tag, comm, status);
    mpi_tell_peer(source, tag);
    long n = quick_cread_any(&engine_in.header, ENGINE_MOST_BYTES, &process, &type, mpi_world.group.context);
    const struct wire_header *h = &engine_in.header.header;
    long length = n;
    int of = type - c->bare_type;
    uint32_t room = 0;
    if (!LIKELY((unsigned)of < c->bare_tags)) {
        if (n < 0 || type != c->number || (h->kind_and_room & 3) != WIRE_SHORT)
            return receive_other(buf, bytes, source, tag, c, status, (uint64_t)process << 32 | (uint32_t)type, n);
        of = h->tag;
        room = h->kind_and_room >> 2;
        length -= (long)sizeof *h++;
    }
    if (!LIKELY(n >= 0) || (tag != of && tag != MPI_ANY_TAG) || length > bytes)
        return receive_other(buf, bytes, source, tag, c, status, (uint64_t)process << 32 | (uint32_t)type, n);
    if (status)
        status_set(status, source < 0 ? collect_rank_of(&c->group, process) : source, of, length);
    struct wire_peer *p = wire_peer(process);
    p->owed += (int32_t)length + WIRE_UNIT;
    if (room > 0 || p->owed >= wire_most_owed || length != sizeof(uint64_t) || (uintptr_t)buf % sizeof(uint64_t) != 0)
        return end_receive(buf, h, length, process, room);
    *(uint64_t *)buf = *(const uint64_t *)h;
    return MPI_SUCCESS;
}
MPI_NAME(Recv);

/* ---- Both ---- */

/* Begins both and waits for both; the receive's error counts. */
static int send_and_receive(struct mpi_request *s, struct mpi_request *r, MPI_Status *status)
{
    int error = MPI_SUCCESS;

    s->done = true;
    s->error = MPI_SUCCESS;
    if (s->peer != MPI_PROC_NULL)
        send_start(s);
    if (s->done) {
        error = receive_and_wait(r, error, status);
        return error != MPI_SUCCESS ? error : s->error;
    }
    if (r->peer != MPI_PROC_NULL) {
        receive_start(r);
        error = engine_wait(r);
        status_give(status, r);
    } else {
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    int sent = engine_wait(s);
    return error != MPI_SUCCESS ? error : sent;
}

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct mpi_request s, r;

    MPI_ENTER("Sendrecv", c, source, recvtag);
    if (!c)
        return mpi_fail_comm(comm);
    s.mode = MODE_STANDARD;
    int error = check_send(&s, c, sendbuf, sendcount, sendtype, dest, sendtag);
    if (error == MPI_SUCCESS)
        error = check_receive(&r, c, recvbuf, recvcount, recvtype, source, recvtag);
    return mpi_leave(c, error == MPI_SUCCESS ? send_and_receive(&s, &r, status) : error);
}
MPI_NAME(Sendrecv);

/* Sends a packed copy of what is in the buffer. */
static int replace(struct mpi_request *s, struct mpi_request *r, MPI_Status *status)
{
    char *copy = malloc((size_t)s->bytes + 1);

    if (!copy)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a copy of %ld bytes", s->bytes, 0);
    mpi_pack(s->type, s->count, s->buf, 0, s->bytes, copy);
    s->buf = copy;
    s->type = mpi_find_type(MPI_BYTE);
    s->count = (int)s->bytes;
    int error = send_and_receive(s, r, status);
    free(copy);
    return error;
}

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct mpi_request s, r;

    MPI_ENTER("Sendrecv_replace", c, source, recvtag);
    if (!c)
        return mpi_fail_comm(comm);
    s.mode = MODE_STANDARD;
    int error = check_send(&s, c, buf, count, datatype, dest, sendtag);
    if (error == MPI_SUCCESS)
        error = check_receive(&r, c, buf, count, datatype, source, recvtag);
    return mpi_leave(c, error == MPI_SUCCESS ? replace(&s, &r, status) : error);
}
MPI_NAME(Sendrecv_replace);
