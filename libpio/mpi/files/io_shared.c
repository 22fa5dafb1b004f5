/*
 * The shared pointer [13.4.4]: rank 0 has it. The others ask it by a message of the file's communicator, which it
 * answers in whatever MPI call it is in; it has a receive for them as long as the file is open.
 */
#include <stdlib.h>

#include "libpio/mpi/types/datatype.h"
#include "libpio/mpi/files/io_file.h"

enum { TAG_ASKS, TAG_ANSWERS };

struct io_shared {
    struct mpi_request question; /* of rank 0; first */
    struct mpi_file *file;
    MPI_Offset at;    /* at rank 0: the pointer, in bytes of the view */
    MPI_Offset moves; /* what is asked */
    bool is_closed;
};

struct answer {
    struct mpi_request request; /* first */
    MPI_Offset at;
};

static const struct mpi_type *bytes(void)
{
    return mpi_find_type(MPI_BYTE);
}

static void describe(struct mpi_request *r, struct mpi_comm *c, void *buf, int peer, int tag, enum mpi_mode mode)
{
    *r = (struct mpi_request){.mode = mode,
                              .comm = c,
                              .buf = buf,
                              .count = sizeof(MPI_Offset),
                              .type = bytes(),
                              .peer = peer,
                              .tag = tag,
                              .process = peer < 0 ? -1 : collect_process(&c->group, peer),
                              .bytes = sizeof(MPI_Offset)};
}

/* ---- Rank 0 ---- */

static void forget_answer(struct mpi_request *r)
{
    free(r);
}

static void await_question(struct io_shared *s);

/* A receive has ended, so a send may begin here: no list is being gone through. */
static void serve(struct mpi_request *r)
{
    struct io_shared *s = (struct io_shared *)r;
    struct answer *a = s->is_closed || r->error != MPI_SUCCESS ? NULL : malloc(sizeof *a);

    if (s->is_closed)
        return;
    if (!a) {
        mpi_fail(mpi_world.comm[0], mpi_error(MPI_ERR_NO_MEM, "no memory to answer for a shared pointer", 0, 0));
        mpi_end_job(1);
    }
    describe(&a->request, s->file->comm, &a->at, r->status.MPI_SOURCE, TAG_ANSWERS, MODE_STANDARD);
    a->request.forget = forget_answer;
    a->at = s->at;
    s->at += s->moves;
    send_start(&a->request);
    await_question(s);
}

static void await_question(struct io_shared *s)
{
    describe(&s->question, s->file->comm, &s->moves, MPI_ANY_SOURCE, TAG_ASKS, MODE_RECEIVE);
    s->question.forget = serve;
    receive_start(&s->question);
}

int io_shared_open(struct mpi_file *f)
{
    int error = receive_prepare();

    f->shared = calloc(1, sizeof *f->shared);
    if (!f->shared)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a shared pointer", 0, 0);
    f->shared->file = f;
    if (error == MPI_SUCCESS && f->comm->group.rank == 0)
        await_question(f->shared);
    return error;
}

void io_shared_close(struct mpi_file *f)
{
    f->shared->is_closed = true;
    if (f->comm->group.rank == 0)
        receive_cancel(&f->shared->question);
    free(f->shared);
    f->shared = NULL;
}

/* ---- All ---- */

/* The place of the pointer, which moves on by so many bytes of the view. A class. */
static int take_pointer(struct mpi_file *f, MPI_Offset moves, MPI_Offset *at)
{
    struct mpi_request s, r;

    if (f->comm->group.rank == 0) {
        *at = f->shared->at;
        f->shared->at += moves;
        return MPI_SUCCESS;
    }
    int error = receive_prepare();
    if (error != MPI_SUCCESS)
        return error;
    describe(&s, f->comm, &moves, 0, TAG_ASKS, MODE_STANDARD);
    describe(&r, f->comm, at, 0, TAG_ANSWERS, MODE_RECEIVE);
    receive_start(&r);
    send_start(&s);
    error = engine_wait(&s);
    int answered = engine_wait(&r);
    return error == MPI_SUCCESS ? answered : error;
}

/* What rank 0 has in *value, for all; nobody is before it in the next call. */
static int from_first(struct mpi_file *f, MPI_Offset *value)
{
    struct group *g = engine_group(f->comm);

    return collective_error(f->comm, collect_broadcast(g, value, sizeof *value, collect_place(g, 0),
                                                       COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_MAKE)));
}

int io_shared_reset(struct mpi_file *f, MPI_Offset at)
{
    int error = collective_error(
        f->comm, collect_barrier(engine_group(f->comm), COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_BARRIER)));

    if (error == MPI_SUCCESS && f->comm->group.rank == 0)
        f->shared->at = at;
    return error == MPI_SUCCESS ? from_first(f, &at) : error;
}

/* In the order of ranks: each begins where those before it end. */
static int take_in_order(struct mpi_file *f, MPI_Offset own, MPI_Offset *at)
{
    struct group *g = engine_group(f->comm);
    MPI_Offset *all = malloc((size_t)g->size * (sizeof *all + sizeof(int))), sum = 0, before = 0, first = 0;
    int *lengths = (int *)(all + g->size), error;

    if (!all)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a list of %ld ranks", g->size, 0);
    for (int i = 0; i < g->size; i++)
        lengths[i] = sizeof own;
    error = collective_error(
        f->comm, collect_all_gather(g, &own, all, lengths, COLLECTIVE_TYPE(f->comm->number, COLLECTIVE_MAKE)));
    for (int i = 0; i < g->size && error == MPI_SUCCESS; i++) {
        before += i < g->rank ? all[i] : 0;
        sum += all[i];
    }
    free(all);
    if (error == MPI_SUCCESS && g->rank == 0)
        take_pointer(f, sum, &first);
    if (error == MPI_SUCCESS)
        error = from_first(f, &first);
    *at = first + before;
    return error;
}

static int access(struct mpi_file *f, const void *buf, int count, MPI_Datatype datatype, bool writes, bool ordered,
                  MPI_Status *status)
{
    const struct mpi_type *t;
    MPI_Offset at = 0;
    long moved = 0;
    int error = io_check(f, buf, count, datatype, writes, &t);

    if (error == MPI_SUCCESS)
        error = ordered ? take_in_order(f, t->size * count, &at) : take_pointer(f, t->size * count, &at);
    if (error == MPI_SUCCESS)
        error = io_move(f, at, (void *)buf, count, t, writes, &moved);
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved);
    return error;
}

/* ---- The calls ---- */

#define SHARED(name, buffer, writes)                                                                                 \
    int PMPI_File_##name##_shared(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Status *status)    \
    {                                                                                                                \
        IO_ENTER("File_" #name "_shared");                                                                           \
        return io_leave(f, access(f, buf, count, datatype, writes, false, status));                                  \
    }                                                                                                                \
    MPI_NAME(File_##name##_shared);                                                                                  \
    int PMPI_File_i##name##_shared(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Request *request) \
    {                                                                                                                \
        MPI_Status status;                                                                                           \
                                                                                                                     \
        IO_ENTER("File_i" #name "_shared");                                                                          \
        int error = access(f, buf, count, datatype, writes, false, &status);                                         \
        return io_leave(f, io_give_request(f, error, &status, request));                                             \
    }                                                                                                                \
    MPI_NAME(File_i##name##_shared);                                                                                 \
    int PMPI_File_##name##_ordered(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype, MPI_Status *status)   \
    {                                                                                                                \
        IO_ENTER("File_" #name "_ordered");                                                                          \
        return io_leave(f, access(f, buf, count, datatype, writes, true, status));                                   \
    }                                                                                                                \
    MPI_NAME(File_##name##_ordered);                                                                                 \
    int PMPI_File_##name##_ordered_begin(MPI_File fh, buffer *buf, int count, MPI_Datatype datatype)                 \
    {                                                                                                                \
        IO_ENTER("File_" #name "_ordered_begin");                                                                    \
        int error = io_begin_split(f);                                                                               \
        if (error == MPI_SUCCESS)                                                                                    \
            error = access(f, buf, count, datatype, writes, true, &f->split);                                        \
        return io_leave(f, error);                                                                                   \
    }                                                                                                                \
    MPI_NAME(File_##name##_ordered_begin);                                                                           \
    int PMPI_File_##name##_ordered_end(MPI_File fh, buffer *buf, MPI_Status *status)                                 \
    {                                                                                                                \
        (void)buf;                                                                                                   \
        IO_ENTER("File_" #name "_ordered_end");                                                                      \
        return io_leave(f, io_end_split(f, status));                                                                 \
    }                                                                                                                \
    MPI_NAME(File_##name##_ordered_end);

SHARED(read, void, false)
SHARED(write, const void, true)

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    MPI_Offset current = 0, at = 0;

    IO_ENTER("File_seek_shared");
    int error = f->comm->group.rank == 0 ? take_pointer(f, 0, &current) : MPI_SUCCESS;
    if (error == MPI_SUCCESS)
        error = from_first(f, &current);
    if (error == MPI_SUCCESS)
        error = io_seek(f, offset, whence, current, &at);
    if (error == MPI_SUCCESS)
        error = io_shared_reset(f, at);
    return io_leave(f, error);
}
MPI_NAME(File_seek_shared);

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    IO_ENTER("File_get_position_shared");
    int error = take_pointer(f, 0, offset);
    *offset /= f->view.etype_bytes;
    return io_leave(f, error);
}
MPI_NAME(File_get_position_shared);
