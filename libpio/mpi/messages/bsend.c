/*
 * Buffered sends [3.4, 3.6]: a send that does not end at once goes on from a copy in the attached buffer, where its
 * request lies, too.
 */
#include "libpio/mpi/messages/requests.h"

struct buffered {
    struct mpi_request request; /* first */
    struct buffered *next;      /* by address */
    long bytes;                 /* of all, from here on */
    char data[];
};
_Static_assert(sizeof(struct buffered) + 15 < MPI_BSEND_OVERHEAD, "with what is lost to alignment");

static char *buffer;
static int buffer_bytes;
static struct buffered *first;

/* ---- Places ---- */

static char *align(char *at)
{
    return (char *)(((uintptr_t)at + 7) & ~(uintptr_t)7);
}

/* NULL: there is none. */
static struct buffered *find_place(long bytes)
{
    struct buffered **link = &first;
    char *at = align(buffer);

    bytes = (bytes + 7) & ~7l;
    while (*link && (char *)*link - at < bytes) {
        at = (char *)*link + (*link)->bytes;
        link = &(*link)->next;
    }
    if (!buffer || (!*link && buffer + buffer_bytes - at < bytes))
        return NULL;
    struct buffered *b = (struct buffered *)at;
    b->next = *link;
    b->bytes = bytes;
    *link = b;
    return b;
}

static void give_back(struct mpi_request *r)
{
    struct buffered **link = &first;

    while (&(*link)->request != r)
        link = &(*link)->next;
    *link = (*link)->next;
}

/* ---- Sends ---- */

static int send_buffered(const struct mpi_request *r)
{
    long bytes = (long)sizeof(struct buffered) + r->bytes;
    struct buffered *b = find_place(bytes);

    if (!b) {
        engine_poll(); /* others may be done */
        b = find_place(bytes);
    }
    if (!b)
        return buffer ? mpi_error(MPI_ERR_BUFFER, "no room for %ld bytes in the attached buffer", r->bytes, 0)
                      : mpi_error(MPI_ERR_BUFFER, "no buffer is attached", 0, 0);
    b->request = *r;
    b->request.forget = NULL;
    send_start(&b->request);
    if (b->request.done) {
        give_back(&b->request);
        return b->request.error;
    }
    mpi_pack(r->type, r->count, r->buf, 0, r->bytes, b->data);
    b->request.buf = b->data;
    b->request.type = mpi_find_type(MPI_BYTE);
    b->request.count = (int)r->bytes;
    b->request.forget = give_back;
    return MPI_SUCCESS;
}

static void start(struct mpi_request *r)
{
    status_set(&r->status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    r->error = send_buffered(r);
    r->done = true;
}

int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    struct mpi_comm *c = mpi_find_comm(comm);
    struct mpi_request r = {.mode = MODE_BUFFERED};

    MPI_ENTER("Bsend", c, dest, tag);
    if (!c)
        return mpi_fail_comm(comm);
    int error = check_send(&r, c, buf, count, datatype, dest, tag);
    return mpi_leave(c, error != MPI_SUCCESS || dest == MPI_PROC_NULL ? error : send_buffered(&r));
}
MPI_NAME(Bsend);

REQUEST_TO_SEND(Ibsend, MODE_BUFFERED, true, requests_start_buffered = start)
REQUEST_TO_SEND(Bsend_init, MODE_BUFFERED, false, requests_start_buffered = start)

/* ---- The buffer ---- */

int PMPI_Buffer_attach(void *address, int size)
{
    int error = MPI_SUCCESS;

    MPI_ENTER("Buffer_attach", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (buffer)
        error = mpi_error(MPI_ERR_BUFFER, "one is attached", 0, 0);
    else if (!address || size < 0)
        error = mpi_error(MPI_ERR_ARG, "%ld bytes at 0x%lx", size, (long)address);
    else {
        buffer = address;
        buffer_bytes = size;
    }
    return mpi_leave(mpi_world.comm[0], error);
}
MPI_NAME(Buffer_attach);

/* Waits until all messages in it are on their way. */
int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    MPI_ENTER("Buffer_detach", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!buffer)
        return mpi_fail_alone(mpi_error(MPI_ERR_BUFFER, "none is attached", 0, 0));
    while (first) {
        mpi_call.comm = first->request.comm;
        mpi_call.peer = first->request.peer;
        mpi_call.tag = first->request.tag;
        mpi_call.sends = true;
        engine_step(true);
    }
    *(void **)buffer_addr = buffer;
    *size = buffer_bytes;
    buffer = NULL;
    return MPI_SUCCESS;
}
MPI_NAME(Buffer_detach);
