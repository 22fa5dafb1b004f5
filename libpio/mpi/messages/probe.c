/*
 * Probes [3.8.1], and messages that only their finder can receive [3.8.2, 3.8.3].
 */
#include <stddef.h>

#include "libpio/mpi/base/handles.h"
#include "libpio/mpi/messages/requests.h"

static struct handle_table messages;

static void describe(MPI_Status *status, const struct mpi_arrival *m)
{
    status_set(status, m->entry.source, m->entry.tag, m->bytes);
}

/* The message that a receive would get; NULL: there is none, or, with the peer MPI_PROC_NULL, none is needed. */
static struct mpi_arrival *look(struct mpi_comm *c, int source, int tag, bool waits)
{
    struct mpi_entry *e = NULL;

    if (source == MPI_PROC_NULL)
        return NULL;
    e = match_find_message(&c->unexpected, source, tag);
    if (e)
        return (struct mpi_arrival *)e;
    wire_want(source < 0 ? -1 : collect_process(&c->group, source));
    if (!waits) {
        engine_poll();
        e = match_find_message(&c->unexpected, source, tag);
    }
    while (!e && waits) {
        engine_step(true);
        e = match_find_message(&c->unexpected, source, tag);
    }
    wire_wanted--;
    return (struct mpi_arrival *)e;
}

static int check(const struct mpi_comm *c, int source, int tag)
{
    int error = check_source_and_tag(c, source, tag);

    return error == MPI_SUCCESS ? receive_prepare() : error;
}

/* A probe, which sets *flag, and the status if a message is there. */
static struct mpi_arrival *probe(struct mpi_comm *c, int source, int tag, bool waits, int *flag, MPI_Status *status)
{
    struct mpi_arrival *m = look(c, source, tag, waits);

    *flag = m || source == MPI_PROC_NULL;
    if (m)
        describe(status, m);
    else if (*flag)
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return m;
}

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int flag;

    MPI_ENTER("Probe", c, source, tag);
    if (!c)
        return mpi_fail_comm(comm);
    int error = check(c, source, tag);
    if (error == MPI_SUCCESS)
        probe(c, source, tag, true, &flag, status);
    return mpi_leave(c, error);
}
MPI_NAME(Probe);

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Iprobe", c, source, tag);
    if (!c)
        return mpi_fail_comm(comm);
    int error = check(c, source, tag);
    if (error == MPI_SUCCESS)
        probe(c, source, tag, false, flag, status);
    return mpi_leave(c, error);
}
MPI_NAME(Iprobe);

/* ---- Messages with a handle ---- */

static int match_probe(struct mpi_comm *c, int source, int tag, bool waits, int *flag, MPI_Message *message,
                       MPI_Status *status)
{
    int error = check(c, source, tag);
    struct mpi_arrival *m = error == MPI_SUCCESS ? probe(c, source, tag, waits, flag, status) : NULL;

    if (!m) {
        *message = error == MPI_SUCCESS && *flag ? MPI_MESSAGE_NO_PROC : MPI_MESSAGE_NULL;
        return error;
    }
    *message = handle_new(&messages, HANDLE_MESSAGE, m);
    if (!*message) {
        *message = MPI_MESSAGE_NULL;
        return mpi_error(MPI_ERR_NO_MEM, "no memory for the handle of a message", 0, 0);
    }
    match_remove(&c->unexpected, &m->entry);
    mpi_kept++;
    return MPI_SUCCESS;
}

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    int flag;

    MPI_ENTER("Mprobe", c, source, tag);
    if (!c)
        return mpi_fail_comm(comm);
    return mpi_leave(c, match_probe(c, source, tag, true, &flag, message, status));
}
MPI_NAME(Mprobe);

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Improbe", c, source, tag);
    if (!c)
        return mpi_fail_comm(comm);
    return mpi_leave(c, match_probe(c, source, tag, false, flag, message, status));
}
MPI_NAME(Improbe);

/* Checks the receive of *message; *m is then the message, NULL for MPI_MESSAGE_NO_PROC. */
static int check_message(struct mpi_request *r, void *buf, int count, MPI_Datatype datatype, MPI_Message message,
                         struct mpi_arrival **m)
{
    *m = handle_find(&messages, HANDLE_MESSAGE, message);
    if (!*m && message != MPI_MESSAGE_NO_PROC)
        return mpi_error(MPI_ERR_REQUEST, "0x%lx is no message", (long)message, 0);
    int error = check_receive(r, *m ? (*m)->comm : mpi_world.comm[0], buf, count, datatype,
                              *m ? (*m)->entry.source : MPI_PROC_NULL, *m ? (*m)->entry.tag : MPI_ANY_TAG);
    mpi_call.comm = r->comm;
    return error;
}

/* Begins the receive. */
static void receive(struct mpi_request *r, struct mpi_arrival *m, MPI_Message *message)
{
    if (m) {
        handle_free(&messages, *message);
        mpi_kept--;
    }
    if (messages.used == 0)
        handle_drop(&messages);
    *message = MPI_MESSAGE_NULL;
    r->done = false;
    r->moved = 0;
    mpi_under_way++;
    if (m) {
        receive_arrival(r, m);
        return;
    }
    status_set(&r->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    request_finish(r, MPI_SUCCESS);
}

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    struct mpi_arrival *m;
    struct mpi_request r;

    MPI_ENTER("Mrecv", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = check_message(&r, buf, count, datatype, *message, &m);
    if (error != MPI_SUCCESS)
        return mpi_fail(m ? m->comm : mpi_world.comm[0], error);
    receive(&r, m, message);
    error = engine_wait(&r);
    status_give(status, &r);
    return mpi_leave(r.comm, error);
}
MPI_NAME(Mrecv);

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    struct mpi_arrival *m;
    struct mpi_request checked;

    MPI_ENTER("Imrecv", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = check_message(&checked, buf, count, datatype, *message, &m);
    error = requests_begin(&checked, error, false, request);
    if (error != MPI_SUCCESS)
        return mpi_fail(m ? m->comm : mpi_world.comm[0], error);
    struct mpi_request *r = requests_find(*request);
    r->is_persistent = false;
    mpi_kept--;
    r->is_active = true;
    receive(r, m, message);
    return MPI_SUCCESS;
}
MPI_NAME(Imrecv);
