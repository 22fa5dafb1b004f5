/*
 * Blocking calls [3.2, 3.4, 3.10].
 */
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/mpi/messages/request.h"
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

#define RARE __attribute__((noinline, cold))

static inline void copy_short(char *to, const char *from, long bytes)
{
    if (bytes == 8 && ((uintptr_t)to | (uintptr_t)from) % 8 == 0)
        *(uint64_t *)to = *(const uint64_t *)from;
    else
        memcpy(to, from, (size_t)bytes);
}

/* Whether the data of so many elements is short, and the arguments are good; sets *bytes. */
static inline bool is_short(const void *buf, int count, const struct mpi_type *t, long *bytes)
{
    if (!t || !t->is_short_way || (unsigned)count > WIRE_EAGER_BYTES || (uintptr_t)buf <= 1)
        return false;
    *bytes = t->size * count;
    return *bytes <= WIRE_EAGER_BYTES;
}

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

static RARE int send_failed(struct mpi_comm *c, long result, int dest)
{
    MPI_ENTER("Send", c, dest, MPI_NO_PEER);
    return mpi_fail(c, mpi_error_of_message(c, result, dest));
}

int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    long bytes;

    if (!c || !is_short(buf, count, mpi_find_type(datatype), &bytes) || (unsigned)dest >= (unsigned)c->group.size ||
        tag < 0)
        return send_any(buf, count, datatype, dest, tag, comm);
    int process = collect_process(&c->group, dest);
    struct wire_peer *p = wire_peer(process);
    if (process == mpi_world.process || p->room < bytes + WIRE_UNIT || p->blocked > 0 || bytes > wire_eager_bytes)
        return send_any(buf, count, datatype, dest, tag, comm);
    struct wire_header *h = (struct wire_header *)(send_out.data - sizeof *h);
    p->room -= (int32_t)bytes + WIRE_UNIT;
    h->tag = tag;
    h->kind_and_room = wire_word(WIRE_SHORT, wire_give_back(p));
    copy_short(send_out.data, buf, bytes);
    long result = trap_cwrite(h, (long)sizeof *h + bytes, process, c->number, mpi_world.group.context);
    return result == 0 ? MPI_SUCCESS : send_failed(c, result, dest);
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

struct receive_arguments {
    void *buf;
    int count;
    MPI_Datatype datatype;
    int source, tag;
    MPI_Comm comm;
    MPI_Status *status;
};

static const char name_of_receive[32] __attribute__((aligned(8))) = "MPI_Recv";

static RARE int receive_any(const struct receive_arguments *a)
{
    struct mpi_comm *c = mpi_find_comm(a->comm);
    struct mpi_request r;

    mpi_call = (struct mpi_call){name_of_receive, c, a->source, a->tag, false};
    if (!c)
        return mpi_fail_comm(a->comm);
    return mpi_leave(
        c, receive_and_wait(&r, check_receive(&r, c, a->buf, a->count, a->datatype, a->source, a->tag), a->status));
}

/* What has been read is a long message, another one, or an answer. */
static RARE int receive_other(const struct receive_arguments *a, int process, int type, long n)
{
    struct mpi_comm *c = mpi_find_comm(a->comm);
    struct mpi_request r;

    mpi_call = (struct mpi_call){name_of_receive, c, a->source, a->tag, false};
    check_receive(&r, c, a->buf, a->count, a->datatype, a->source, a->tag);
    engine_receive_from(&r, process, type, n);
    int error = engine_wait(&r);
    status_give(a->status, &r);
    return mpi_leave(c, error);
}

/* Only what comes from the source need be looked at if nobody waits for anything else, and no message is here that
 * might match: messages of other communicators, too, as they may take the room that the one has to have. */
int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    const struct receive_arguments all = {buf, count, datatype, source, tag, comm, status};
    long bytes;

    if (!c || mpi_under_way > 0 || c->unexpected.count > 0 || source < MPI_ANY_SOURCE || source >= c->group.size ||
        tag < MPI_ANY_TAG || !is_short(buf, count, mpi_find_type(datatype), &bytes) || !receive_reserve)
        return receive_any(&all);
    int process = source < 0 ? source : collect_process(&c->group, source), type = N_ANY;
    if (process == mpi_world.process)
        return receive_any(&all);
    mpi_tell(name_of_receive, c, source, tag);
    long n = trap_read_context(&engine_in, sizeof engine_in, &process, &type, mpi_world.group.context);
    const struct wire_header *h = &engine_in.header.header;
    long length = n - (long)sizeof *h;
    if (n < 0 || type != c->number || (h->kind_and_room & 3) != WIRE_SHORT || (tag != h->tag && tag != MPI_ANY_TAG) ||
        length > bytes)
        return receive_other(&all, process, type, n);
    copy_short(buf, (const char *)(h + 1), length);
    if (status)
        status_set(status, source < 0 ? collect_rank_of(&c->group, process) : source, h->tag, length);
    struct wire_peer *p = wire_peer(process);
    if (p->blocked > 0)
        send_room(process, h->kind_and_room >> 2);
    else
        p->room += (int32_t)(h->kind_and_room >> 2);
    wire_note(p, process, length);
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
