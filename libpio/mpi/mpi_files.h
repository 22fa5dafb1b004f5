/* Functions of <mpi.h>, which includes this file: files [13]. */
#ifndef _MPI_FILES_H
#define _MPI_FILES_H

typedef struct mpi_file_handle *MPI_File;
typedef void MPI_File_errhandler_function(MPI_File *, int *, ...);

#define MPI_FILE_NULL ((MPI_File)0x19000000)

enum {
    MPI_MODE_CREATE = 1,
    MPI_MODE_RDONLY = 2,
    MPI_MODE_WRONLY = 4,
    MPI_MODE_RDWR = 8,
    MPI_MODE_DELETE_ON_CLOSE = 16,
    MPI_MODE_UNIQUE_OPEN = 32,
    MPI_MODE_EXCL = 64,
    MPI_MODE_APPEND = 128,
    MPI_MODE_SEQUENTIAL = 256
};
enum { MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END };
#define MPI_DISPLACEMENT_CURRENT (-54278278ll)
#define MPI_MAX_DATAREP_STRING   16
#define MPI_CONVERSION_FN_NULL   ((MPI_Datarep_conversion_function *)0)

MPI_INT_FUNCTION_(File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh));
MPI_INT_FUNCTION_(File_close, (MPI_File * fh));
MPI_INT_FUNCTION_(File_delete, (const char *filename, MPI_Info info));
MPI_INT_FUNCTION_(File_set_size, (MPI_File fh, MPI_Offset size));
MPI_INT_FUNCTION_(File_preallocate, (MPI_File fh, MPI_Offset size));
MPI_INT_FUNCTION_(File_get_size, (MPI_File fh, MPI_Offset *size));
MPI_INT_FUNCTION_(File_get_group, (MPI_File fh, MPI_Group *group));
MPI_INT_FUNCTION_(File_get_amode, (MPI_File fh, int *amode));
MPI_INT_FUNCTION_(File_set_info, (MPI_File fh, MPI_Info info));
MPI_INT_FUNCTION_(File_get_info, (MPI_File fh, MPI_Info *info_used));
MPI_INT_FUNCTION_(File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                                  const char *datarep, MPI_Info info));
MPI_INT_FUNCTION_(File_get_view,
                  (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep));
MPI_INT_FUNCTION_(File_seek, (MPI_File fh, MPI_Offset offset, int whence));
MPI_INT_FUNCTION_(File_get_position, (MPI_File fh, MPI_Offset *offset));
MPI_INT_FUNCTION_(File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp));
MPI_INT_FUNCTION_(File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence));
MPI_INT_FUNCTION_(File_get_position_shared, (MPI_File fh, MPI_Offset *offset));
MPI_INT_FUNCTION_(File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent));
MPI_INT_FUNCTION_(File_set_atomicity, (MPI_File fh, int flag));
MPI_INT_FUNCTION_(File_get_atomicity, (MPI_File fh, int *flag));
MPI_INT_FUNCTION_(File_sync, (MPI_File fh));
MPI_INT_FUNCTION_(File_create_errhandler, (MPI_File_errhandler_function * function, MPI_Errhandler *errhandler));
MPI_INT_FUNCTION_(File_set_errhandler, (MPI_File fh, MPI_Errhandler errhandler));
MPI_INT_FUNCTION_(File_get_errhandler, (MPI_File fh, MPI_Errhandler *errhandler));
MPI_INT_FUNCTION_(File_call_errhandler, (MPI_File fh, int errorcode));

/* Accesses [13.4]: at a place, at the individual pointer, at the shared one; all of them, nonblocking, in two halves */
MPI_INT_FUNCTION_(File_read_at,
                  (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_iread_at,
                  (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_read_at_all,
                  (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_iread_at_all,
                  (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_read_at_all_begin,
                  (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype));
MPI_INT_FUNCTION_(File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype));
MPI_INT_FUNCTION_(File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype));
MPI_INT_FUNCTION_(File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status));
MPI_INT_FUNCTION_(File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status));
MPI_INT_FUNCTION_(File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status));
MPI_INT_FUNCTION_(File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                                  MPI_Status *status));
MPI_INT_FUNCTION_(File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                                   MPI_Request *request));
MPI_INT_FUNCTION_(File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype,
                                      MPI_Status *status));
MPI_INT_FUNCTION_(File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                       MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_iwrite_all,
                  (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_write_shared,
                  (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_iwrite_shared,
                  (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
MPI_INT_FUNCTION_(File_write_ordered,
                  (MPI_File fh, const void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
MPI_INT_FUNCTION_(File_write_at_all_begin,
                  (MPI_File fh, MPI_Offset offset, const void *buf, int count, MPI_Datatype datatype));
MPI_INT_FUNCTION_(File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype));
MPI_INT_FUNCTION_(File_write_ordered_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype));
MPI_INT_FUNCTION_(File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status));
MPI_INT_FUNCTION_(File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status));
MPI_INT_FUNCTION_(File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status));

#endif
