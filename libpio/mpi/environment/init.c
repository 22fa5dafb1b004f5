/*
 * The begin and the end [8.7], and MPI_Abort.
 *
 * The processes of all programs of the job are MPI_COMM_WORLD, in the order of nodes, and on a node in that of their
 * numbers there. All nodes have equally many: the first processes of the nodes make sure of that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/communicators/comms.h"
#include "libpio/mpi/messages/requests.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

enum { TELL_PROCS_MASK = 15 };

static struct mpi_comm world, self;

static _Noreturn void refuse_start(const char *why)
{
    mpi_say(NULL, "%s", why);
    mpi_end_job(1);
}

/* ---- All processes ---- */

/* Process 0 of each node compares its number of processes with the others'. */
static int compare_counts(int procs)
{
    int range[2] = {procs, -procs}, room[2];
    struct group g;

    collect_all(&g, CONTEXT_GROUP);
    int error = collect_all_reduce(&g, &(struct collect_reduction){range, room, 2, sizeof(int), collect_greatest_ints},
                                   collect_type(&g, TYPE_group_make));
    if (error == 0 && range[0] != -range[1])
        refuse_start("the programs have different numbers of processes on a node (ncc -Nprocs)");
    return error;
}

static int make_group(struct group *g, int procs)
{
    int nodes = trap_self()->nodes;

    if (procs == 1)
        return group_make(g, NULL, 0);
    int *member = malloc((size_t)(nodes * procs) * sizeof *member);
    if (!member)
        return -N_ENOMEM;
    for (int i = 0; i < nodes * procs; i++)
        member[i] = N_PROCESS(i / procs, i % procs);
    int error = group_make_of(g, member, nodes * procs);
    free(member);
    return error;
}

/* ---- Communicators of every program ---- */

static void start_comm(struct mpi_comm *c, int number, const char *name)
{
    wire_number_comm(c, number);
    c->handle = HANDLE_OF(MPI_Comm, HANDLE_COMM, number, 0);
    c->errhandler = MPI_ERRORS_ARE_FATAL;
    strcpy(c->name, name);
    mpi_world.comm[number] = c;
}

static int start_comms(long memory_bytes)
{
    struct group *g = &mpi_world.group;
    int error = wire_start(g->size, memory_bytes);

    world.group = *g;
    if (error == MPI_SUCCESS && group_make_in(&self.group, g, &g->rank, 1) < 0)
        error = mpi_error(MPI_ERR_NO_MEM, "no memory for MPI_COMM_SELF", 0, 0);
    start_comm(&world, 0, "MPI_COMM_WORLD");
    start_comm(&self, 1, "MPI_COMM_SELF");
    return error == MPI_SUCCESS ? receive_prepare() : error;
}

/* ---- MPI_Init ---- */

static void end_without_finalize(int status, void *unused)
{
    (void)unused;
    if (mpi_world.phase != MPI_RUNS)
        return;
    MPI_ENTER("Finalize", &world, MPI_NO_PEER, MPI_NO_PEER);
    mpi_say(&world, "the program has ended without it");
    mpi_end_job(status ? status : 1);
}

static int start(void)
{
    const struct abi_whoami *who = trap_self();

    if (mpi_world.phase != MPI_NOT_YET)
        refuse_start(mpi_world.phase == MPI_RUNS ? "called twice" : "called after MPI_Finalize");
    mpi_world.process = N_PROCESS(who->node, who->proc);
    long told = mpi_tell_start(CONTEXT_GROUP);
    mpi_tell_wait();
    int procs = (int)(told & TELL_PROCS_MASK), error = who->proc == 0 ? compare_counts(procs) : 0;
    if (error == 0)
        error = make_group(&mpi_world.group, procs);
    if (error != 0)
        refuse_start(error == -N_EAGAIN ? "no context is free: the program has too many groups"
                                        : "no memory, or messages are lost");
    mpi_tell_start(mpi_world.group.context);
    mpi_world.phase = MPI_RUNS;
    on_exit(end_without_finalize, NULL);
    return mpi_leave(&world, start_comms(told & ~(long)TELL_PROCS_MASK));
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    MPI_ENTER("Init", NULL, MPI_NO_PEER, MPI_NO_PEER);
    return start();
}
MPI_NAME(Init);

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv, (void)required;
    MPI_ENTER("Init_thread", NULL, MPI_NO_PEER, MPI_NO_PEER);
    *provided = MPI_THREAD_SINGLE;
    return start();
}
MPI_NAME(Init_thread);

/* ---- The end ---- */

static void drop_all(void)
{
    for (int i = 0; i < 2 * COMMS_MAX; i++)
        if (mpi_world.comm[i])
            receive_drop_all(mpi_world.comm[i], false);
    for (int i = 0; i < COMMS_MAX; i++) {
        free(mpi_world.comm[COMMS_MAX + i]);
        if (mpi_world.comm[i] && mpi_world.comm[i]->uses && mpi_drop_comm)
            mpi_drop_comm(mpi_world.comm[i]);
    }
    memset(mpi_world.comm, 0, sizeof mpi_world.comm);
    group_free(&self.group);
    requests_drop_all();
    receive_end();
    wire_end();
}

int PMPI_Finalize(void)
{
    MPI_ENTER("Finalize", &world, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    int error = attributes_delete ? attributes_delete(&self) : MPI_SUCCESS; /* first of all [8.7.1] */
    if (error != MPI_SUCCESS)
        return mpi_fail(&self, error);
    while (sends_are_under_way())
        engine_step(true);
    mpi_tell_wait();
    mpi_world.group.take = mpi_under_way > 0 ? engine_group(&world)->take : NULL;
    int result = group_free(&mpi_world.group);
    if (result < 0)
        return mpi_fail(&world, mpi_error_of_message(&world, result, mpi_world.group.failed));
    drop_all();
    mpi_world.phase = MPI_OVER;
    return MPI_SUCCESS;
}
MPI_NAME(Finalize);

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Abort", c, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    c = c ? c : &world;
    mpi_say(c, "status %d", errorcode);
    mpi_end_job(errorcode);
}
MPI_NAME(Abort);
