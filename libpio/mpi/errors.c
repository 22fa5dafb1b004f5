/*
 * Errors [8.3, 8.4]: what a call notes when it fails, and the way to the error handler.
 */
#include <stdio.h>
#include <string.h>

#include "libpio/mpi/inside.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

struct mpi_world mpi_world;
void (*mpi_drop_comm)(struct mpi_comm *c);
struct mpi_call mpi_call;
void (*mpi_call_errhandler)(struct mpi_comm *comm, int code);

struct abi_call mpi_told __attribute__((aligned(ABI_CALL_BYTES)));
#define told mpi_told
const struct mpi_comm *mpi_told_comm;
const char *mpi_told_name;

static struct {
    int class; /* MPI_SUCCESS: nothing is noted */
    const char *why;
    long first, second;
} noted;

/* ---- The call ---- */

void mpi_tell_other(const char *name, const struct mpi_comm *c)
{
    __builtin_memcpy(told.call, __builtin_assume_aligned(name, 8), sizeof told.call);
    told.rank = c ? c->group.rank : ABI_CALL_NONE;
    memcpy(told.communicator, c ? c->name : "", c ? sizeof told.communicator : 1);
    mpi_told_name = name;
    mpi_told_comm = c;
}

void mpi_tell_wait(void)
{
    mpi_tell(mpi_call.name, mpi_call.comm, mpi_call.peer, mpi_call.tag);
    told.sends = mpi_call.sends;
}

long mpi_tell_start(int context)
{
    told.context = (uint32_t)context;
    return trap_tell(&told);
}

void mpi_tell_anew(void)
{
    mpi_told_name = NULL;
}

/* ---- Ends ---- */

void mpi_end_job(int status)
{
    fflush(stdout);
    trap_endjob(status);
}

/* Lines are written as a whole from now on: other ranks may print theirs. */
static void buffer_lines(void)
{
    static char line[256];

    setvbuf(stderr, line, _IOLBF, sizeof line);
}

/* "rank 3 (node 3)" */
static void print_who(const struct mpi_comm *c)
{
    fprintf(stderr, "rank %d (node %d): ", c ? c->group.rank : mpi_world.group.rank, trap_self()->node);
}

void mpi_must_run(void)
{
    if (mpi_world.phase == MPI_RUNS)
        return;
    fprintf(stderr, "%s: node %d: called %s\n", mpi_call.name, trap_self()->node,
            mpi_world.phase == MPI_NOT_YET ? "before MPI_Init" : "after MPI_Finalize");
    mpi_end_job(1);
}

_Noreturn static void end_by_error(const struct mpi_comm *c, int class)
{
    buffer_lines();
    fprintf(stderr, "%s on %s, ", mpi_call.name, mpi_comm_name(c));
    print_who(c);
    fprintf(stderr, "%s", mpi_class_text(class));
    if (noted.class == class) {
        fprintf(stderr, ": ");
        fprintf(stderr, noted.why, noted.first, noted.second);
    }
    fprintf(stderr, "\n");
    mpi_end_job(1);
}

/* ---- Errors ---- */

int mpi_error(int class, const char *why, long first, long second)
{
    noted.class = class;
    noted.why = why;
    noted.first = first;
    noted.second = second;
    return class;
}

int mpi_fail(struct mpi_comm *c, int class)
{
    if (c->errhandler == MPI_ERRORS_ARE_FATAL)
        end_by_error(c, class);
    if (c->errhandler != MPI_ERRORS_RETURN && mpi_call_errhandler)
        mpi_call_errhandler(c, class);
    return class;
}

int mpi_fail_alone(int class)
{
    mpi_must_run();
    return mpi_fail(mpi_world.comm[0], class);
}

int mpi_fail_comm(MPI_Comm handle)
{
    return mpi_fail_alone(handle == MPI_COMM_NULL ? mpi_error(MPI_ERR_COMM, "MPI_COMM_NULL", 0, 0)
                                                  : mpi_error(MPI_ERR_COMM, "0x%lx is none", (long)handle, 0));
}

int mpi_error_of_message(const struct mpi_comm *comm, long result, int rank)
{
    (void)comm;
    switch (result) {
    case -N_EPROTO:
    case -N_EMSGSIZE:
        return mpi_error(MPI_ERR_TRUNCATE, "rank %ld has given another length", rank, 0);
    case -N_ENOMEM:
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a message", 0, 0);
    case -N_EFAULT:
        return mpi_error(MPI_ERR_BUFFER, "the buffer is not the program's memory", 0, 0);
    default:
        return mpi_error(MPI_ERR_OTHER, "messages between it and rank %ld are lost (%ld)", rank, -result);
    }
}
