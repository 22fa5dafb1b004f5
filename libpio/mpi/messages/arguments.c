/* The arguments that calls of point-to-point communication share (request.h), and what their statuses say. */
#include <limits.h>
#include <stddef.h>

#include "libpio/mpi/messages/request.h"

/* The standard leaves MPI_ERROR alone where one call ends one request [3.2.5]. */
void status_give(MPI_Status *status, const struct mpi_request *r)
{
    if (!status)
        return;
    status_set(status, r->status.MPI_SOURCE, r->status.MPI_TAG, r->status.mpi_bytes);
    status->mpi_cancelled = r->status.mpi_cancelled;
}

const struct mpi_type *check_data(const void *buf, int count, MPI_Datatype datatype, int *error)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    *error = MPI_SUCCESS;
    if (count < 0)
        *error = mpi_error(MPI_ERR_COUNT, "%ld", count, 0);
    else if (!t)
        *error = datatype == MPI_DATATYPE_NULL ? mpi_error(MPI_ERR_TYPE, "MPI_DATATYPE_NULL", 0, 0)
                                               : mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0);
    else if (count > 0 && (t->size > INT_MAX || count * t->size > INT_MAX)) /* a division costs more */
        *error = mpi_error(MPI_ERR_COUNT, "%ld elements of %ld bytes are 2 GB or more", count, t->size);
    else if (!t->is_committed)
        *error = mpi_error(MPI_ERR_TYPE, "it is not committed", 0, 0);
    else if (!buf && count > 0 && t->size > 0 && t->is_dense)
        *error = mpi_error(MPI_ERR_BUFFER, "NULL, for %ld elements", count, 0);
    else if (buf == MPI_IN_PLACE && count > 0)
        *error = mpi_error(MPI_ERR_BUFFER, "MPI_IN_PLACE", 0, 0);
    return t;
}

static int check_data_of(struct mpi_request *r, struct mpi_comm *c, const void *buf, int count, MPI_Datatype datatype)
{
    int error;

    r->comm = c;
    r->buf = (void *)buf; /* sends only read it */
    r->count = count;
    r->datatype = datatype;
    r->type = check_data(buf, count, datatype, &error);
    r->bytes = error == MPI_SUCCESS ? count * r->type->size : 0;
    r->forget = NULL;
    return error;
}

/* `lowest`: MPI_ANY_SOURCE or 0. */
static int check_rank(const struct mpi_comm *c, int rank, int lowest)
{
    return rank == MPI_PROC_NULL || (rank >= lowest && rank < c->group.size)
               ? MPI_SUCCESS
               : mpi_error(MPI_ERR_RANK, "%ld is none of 0 to %ld", rank, c->group.size - 1);
}

static int check_tag(int tag, int lowest)
{
    return tag >= lowest ? MPI_SUCCESS : mpi_error(MPI_ERR_TAG, "%ld", tag, 0);
}

int check_source_and_tag(const struct mpi_comm *c, int source, int tag)
{
    int error = check_rank(c, source, MPI_ANY_SOURCE);

    return error == MPI_SUCCESS ? check_tag(tag, MPI_ANY_TAG) : error;
}

static void set_peer(struct mpi_request *r, int peer, int tag)
{
    r->peer = peer;
    r->tag = tag;
    r->process = peer < 0 ? -1 : collect_process(&r->comm->group, peer);
}

int check_send(struct mpi_request *r, struct mpi_comm *c, const void *buf, int count, MPI_Datatype datatype, int dest,
               int tag)
{
    int error = check_data_of(r, c, buf, count, datatype);

    if (error == MPI_SUCCESS)
        error = check_rank(c, dest, 0);
    if (error == MPI_SUCCESS)
        error = check_tag(tag, 0);
    if (error == MPI_SUCCESS)
        error = receive_prepare();
    set_peer(r, error == MPI_SUCCESS ? dest : MPI_PROC_NULL, tag);
    return error;
}

int check_receive(struct mpi_request *r, struct mpi_comm *c, void *buf, int count, MPI_Datatype datatype, int source,
                  int tag)
{
    int error = check_data_of(r, c, buf, count, datatype);

    if (error == MPI_SUCCESS)
        error = check_source_and_tag(c, source, tag);
    if (error == MPI_SUCCESS)
        error = receive_prepare();
    r->mode = MODE_RECEIVE;
    set_peer(r, error == MPI_SUCCESS ? source : MPI_PROC_NULL, tag);
    return error;
}
