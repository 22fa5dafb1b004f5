/*
 * Calls that tell what is known: of statuses, types, communicators, versions and time.
 */
#include <limits.h>
#include <ntime.h>
#include <stdio.h>
#include <string.h>

#include "libpio/mpi/types/datatype.h"
#include "vertex/contract/traps.h"

#define CYCLES_A_SECOND 20e6

/* ---- Statuses and types ---- */

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Get_count", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    MPI_Count n = t->size > 0 ? status->mpi_bytes / t->size : 0;
    *count = (t->size > 0 ? status->mpi_bytes % t->size != 0 : status->mpi_bytes != 0) || n > INT_MAX ? MPI_UNDEFINED
                                                                                                      : (int)n;
    return MPI_SUCCESS;
}
MPI_NAME(Get_count);

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Type_size", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    *size = t->size > INT_MAX ? MPI_UNDEFINED : (int)t->size;
    return MPI_SUCCESS;
}
MPI_NAME(Type_size);

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    const struct mpi_type *t = mpi_find_type(datatype);

    MPI_ENTER("Type_get_extent", NULL, MPI_NO_PEER, MPI_NO_PEER);
    if (!t)
        return mpi_fail_alone(mpi_error(MPI_ERR_TYPE, "0x%lx is none", (long)datatype, 0));
    *lb = t->lb;
    *extent = t->extent;
    return MPI_SUCCESS;
}
MPI_NAME(Type_get_extent);

/* Integers and numbers of C by their size [17.1.9]. */
int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int class, size;
        MPI_Datatype type;
    } known[] = {{MPI_TYPECLASS_INTEGER, 1, MPI_INT8_T},
                 {MPI_TYPECLASS_INTEGER, 2, MPI_INT16_T},
                 {MPI_TYPECLASS_INTEGER, 4, MPI_INT32_T},
                 {MPI_TYPECLASS_INTEGER, 8, MPI_INT64_T},
                 {MPI_TYPECLASS_REAL, sizeof(float), MPI_FLOAT},
                 {MPI_TYPECLASS_REAL, sizeof(double), MPI_DOUBLE},
                 {MPI_TYPECLASS_REAL, sizeof(long double), MPI_LONG_DOUBLE},
                 {MPI_TYPECLASS_COMPLEX, 2 * sizeof(float), MPI_C_FLOAT_COMPLEX},
                 {MPI_TYPECLASS_COMPLEX, 2 * sizeof(double), MPI_C_DOUBLE_COMPLEX},
                 {MPI_TYPECLASS_COMPLEX, 2 * sizeof(long double), MPI_C_LONG_DOUBLE_COMPLEX}};

    MPI_ENTER("Type_match_size", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == typeclass && known[i].size == size) {
            *datatype = known[i].type;
            return MPI_SUCCESS;
        }
    return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "no type of class %ld has %ld bytes", typeclass, size));
}
MPI_NAME(Type_match_size);

/* For tools, which have their own [14.2.4]. */
int PMPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
MPI_NAME(Pcontrol);

/* ---- Communicators ---- */

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_size", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *size = c->local ? c->local->group.size : c->group.size;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_size);

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Comm_rank", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *rank = c->group.rank;
    return MPI_SUCCESS;
}
MPI_NAME(Comm_rank);

/* ---- Versions and names: these may be called at any time, but for the name ---- */

int PMPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
MPI_NAME(Get_version);

int PMPI_Get_library_version(char *version, int *resultlen)
{
    strcpy(version, "ncube, MPI 3.1 for C");
    *resultlen = (int)strlen(version);
    return MPI_SUCCESS;
}
MPI_NAME(Get_library_version);

int PMPI_Get_processor_name(char *name, int *resultlen)
{
    MPI_ENTER("Get_processor_name", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    *resultlen = sprintf(name, "node %d", trap_self()->node);
    return MPI_SUCCESS;
}
MPI_NAME(Get_processor_name);

int PMPI_Initialized(int *flag)
{
    *flag = mpi_world.phase != MPI_NOT_YET;
    return MPI_SUCCESS;
}
MPI_NAME(Initialized);

int PMPI_Finalized(int *flag)
{
    *flag = mpi_world.phase == MPI_OVER;
    return MPI_SUCCESS;
}
MPI_NAME(Finalized);

int PMPI_Query_thread(int *provided)
{
    MPI_ENTER("Query_thread", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    *provided = MPI_THREAD_SINGLE;
    return MPI_SUCCESS;
}
MPI_NAME(Query_thread);

int PMPI_Is_thread_main(int *flag)
{
    MPI_ENTER("Is_thread_main", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    *flag = 1;
    return MPI_SUCCESS;
}
MPI_NAME(Is_thread_main);

/* ---- Time ---- */

double PMPI_Wtime(void)
{
    return (double)trap_cycles() / CYCLES_A_SECOND;
}
MPI_NAME(Wtime);

double PMPI_Wtick(void)
{
    return 1 / CYCLES_A_SECOND;
}
MPI_NAME(Wtick);
