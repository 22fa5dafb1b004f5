/* The calls on views [13.3]. */
#include <string.h>

#include "libpio/mpi/files/io_file.h"

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
                       MPI_Info info)
{
    int error = MPI_SUCCESS;

    (void)info;
    IO_ENTER("File_set_view");
    if (strcmp(datarep, "native") != 0 && strcmp(datarep, "internal") != 0)
        error = mpi_error(MPI_ERR_UNSUPPORTED_DATAREP, "%s", (long)datarep, 0);
    if (error == MPI_SUCCESS && disp == MPI_DISPLACEMENT_CURRENT)
        disp = io_place(&f->view, f->position);
    if (error == MPI_SUCCESS)
        error = io_set_view(f, disp, etype, filetype);
    if (error == MPI_SUCCESS && io_shared_reset)
        error = io_shared_reset(f, 0);
    return io_leave(f, error);
}
MPI_NAME(File_set_view);

/* The types are those that were set: the program frees no copies of them. */
int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep)
{
    IO_ENTER("File_get_view");
    *disp = f->view.displacement;
    *etype = f->view.etype;
    *filetype = f->view.filetype;
    strcpy(datarep, "native");
    return MPI_SUCCESS;
}
MPI_NAME(File_get_view);
