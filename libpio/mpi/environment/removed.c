/*
 * Names of MPI-1 that programs still call, though they are deprecated or removed [15, 16]: each is one of today.
 */
#include "libpio/mpi/base/inside.h"

int PMPI_Address(void *location, MPI_Aint *address)
{
    return PMPI_Get_address(location, address);
}
MPI_NAME(Address);

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
MPI_NAME(Type_hvector);

int PMPI_Type_hindexed(int count, int lengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hindexed(count, lengths, displacements, oldtype, newtype);
}
MPI_NAME(Type_hindexed);

int PMPI_Type_struct(int count, int lengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype)
{
    return PMPI_Type_create_struct(count, lengths, displacements, types, newtype);
}
MPI_NAME(Type_struct);

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;

    return PMPI_Type_get_extent(datatype, &lb, extent);
}
MPI_NAME(Type_extent);

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;

    return PMPI_Type_get_extent(datatype, displacement, &extent);
}
MPI_NAME(Type_lb);

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb, extent;
    int error = PMPI_Type_get_extent(datatype, &lb, &extent);

    *displacement = lb + extent;
    return error;
}
MPI_NAME(Type_ub);

int PMPI_Errhandler_create(MPI_Handler_function *function, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler(function, errhandler);
}
MPI_NAME(Errhandler_create);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return PMPI_Comm_set_errhandler(comm, errhandler);
}
MPI_NAME(Errhandler_set);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_get_errhandler(comm, errhandler);
}
MPI_NAME(Errhandler_get);
