/*
 * Errors [8.3, 8.4]: what a call notes when it fails, and the way to the error handler.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libpio/mpi/base/inside.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

struct mpi_world mpi_world;
void (*mpi_drop_comm)(struct mpi_comm *c);
struct mpi_call mpi_call;
int *mpi_last_code;
void (*mpi_call_errhandler)(struct mpi_comm *comm, int code);

struct abi_call mpi_told __attribute__((aligned(ABI_CALL_BYTES)));
#define told mpi_told
const struct mpi_comm *mpi_told_comm;
const char *mpi_told_name;

static struct mpi_note noted;

/* ---- The call ---- */

void mpi_tell_other(const char *name, const struct mpi_comm *c)
{
    __builtin_memcpy(told.call, __builtin_assume_aligned(name, 8), sizeof told.call);
    told.rank = c ? c->group.rank : ABI_CALL_NONE;
    if (c) /* word by word */
        __builtin_memcpy(told.communicator, __builtin_assume_aligned(c->name, 8), sizeof told.communicator);
    else
        told.communicator[0] = '\0';
    mpi_told_name = name;
    mpi_told_comm = c;
}

void mpi_tell_wait(void)
{
    if (!mpi_tells(mpi_call.name, mpi_call.comm))
        mpi_tell_other(mpi_call.name, mpi_call.comm);
    mpi_tell_peer(mpi_call.peer, mpi_call.tag);
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

void mpi_say(const struct mpi_comm *c, const char *format, ...)
{
    char line[256];
    int rank = c ? c->group.rank : mpi_world.group.rank;
    int at = snprintf(line, sizeof line, "%s", mpi_call.name);
    va_list arguments;

    if (c)
        at += snprintf(line + at, sizeof line - (size_t)at, " on %s", mpi_comm_name(c));
    if (mpi_world.phase == MPI_RUNS)
        at += snprintf(line + at, sizeof line - (size_t)at, ", rank %d (node %d): ", rank, trap_self()->node);
    else
        at += snprintf(line + at, sizeof line - (size_t)at, ": node %d: ", trap_self()->node);
    va_start(arguments, format);
    at += vsnprintf(line + at, sizeof line - (size_t)at, format, arguments);
    va_end(arguments);
    at = at < (int)sizeof line - 1 ? at : (int)sizeof line - 1;
    line[at] = '\n';
    trap_write(2, line, at + 1);
}

void mpi_must_run(void)
{
    if (mpi_world.phase == MPI_RUNS)
        return;
    mpi_say(NULL, "called %s", mpi_world.phase == MPI_NOT_YET ? "before MPI_Init" : "after MPI_Finalize");
    mpi_end_job(1);
}

_Noreturn void mpi_end_by_error(const struct mpi_comm *c, int class)
{
    char why[120] = "";

    if (noted.class == class && noted.why)
        snprintf(why, sizeof why, noted.why, noted.first, noted.second);
    class = noted.class == class ? noted.of : class;
    mpi_say(c, "%s%s%s", mpi_class_text(class), why[0] ? ": " : "", why);
    mpi_end_job(1);
}

/* ---- Errors ---- */

int mpi_error(int class, const char *why, long first, long second)
{
    noted = (struct mpi_note){class, class, why, first, second};
    return class;
}

struct mpi_note mpi_noted(int class)
{
    return noted.class == class ? noted : (struct mpi_note){class, class, NULL, 0, 0};
}

int mpi_error_again(const struct mpi_note *note, int class)
{
    noted = *note;
    noted.class = class;
    return class;
}

__attribute__((noinline)) int mpi_fail(struct mpi_comm *c, int class)
{
    if (c->errhandler == MPI_ERRORS_ARE_FATAL)
        mpi_end_by_error(c, class);
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
