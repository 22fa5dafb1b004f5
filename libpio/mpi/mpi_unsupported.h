/*
 * Functions of <mpi.h>, which includes this file, that are not supported: dynamic processes [10], one-sided
 * communication [11] and other representations of data [4.3, 13.5.2]. Each is there, and gives
 * MPI_ERR_UNSUPPORTED_OPERATION by the error handler of its communicator, or of MPI_COMM_WORLD if it names none. This
 * table is all of them: unsupported.c is made of it.
 */
#ifndef _MPI_UNSUPPORTED_H
#define _MPI_UNSUPPORTED_H

enum { MPI_LOCK_EXCLUSIVE = 1, MPI_LOCK_SHARED };
enum {
    MPI_MODE_NOCHECK = 1,
    MPI_MODE_NOSTORE = 2,
    MPI_MODE_NOPUT = 4,
    MPI_MODE_NOPRECEDE = 8,
    MPI_MODE_NOSUCCEED = 16
};
enum { MPI_WIN_BASE = 0x20, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL };
enum { MPI_WIN_FLAVOR_CREATE = 1, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED };
enum { MPI_WIN_SEPARATE = 1, MPI_WIN_UNIFIED };
#define MPI_ARGV_NULL       ((char **)0)
#define MPI_ARGVS_NULL      ((char ***)0)
#define MPI_ERRCODES_IGNORE ((int *)0)

typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);
typedef void MPI_Win_errhandler_function(MPI_Win *, int *, ...);
typedef int MPI_Datarep_conversion_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);

/* X(name, communicator, arguments) */
#define MPI_UNSUPPORTED_(X)                                                                                            \
    X(Comm_spawn, comm,                                                                                                \
      (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,   \
       int errcodes[]))                                                                                                \
    X(Comm_spawn_multiple, comm,                                                                                       \
      (int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[], int root,            \
       MPI_Comm comm, MPI_Comm *intercomm, int errcodes[]))                                                            \
    X(Open_port, MPI_COMM_WORLD, (MPI_Info info, char *port_name))                                                     \
    X(Close_port, MPI_COMM_WORLD, (const char *port_name))                                                             \
    X(Comm_accept, comm, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))           \
    X(Comm_connect, comm, (const char *port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm))          \
    X(Comm_join, MPI_COMM_WORLD, (int fd, MPI_Comm *intercomm))                                                        \
    X(Publish_name, MPI_COMM_WORLD, (const char *service_name, MPI_Info info, const char *port_name))                  \
    X(Unpublish_name, MPI_COMM_WORLD, (const char *service_name, MPI_Info info, const char *port_name))                \
    X(Lookup_name, MPI_COMM_WORLD, (const char *service_name, MPI_Info info, char *port_name))                         \
    X(Win_create, comm, (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win))        \
    X(Win_allocate, comm, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win))   \
    X(Win_allocate_shared, comm,                                                                                       \
      (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win))                       \
    X(Win_create_dynamic, comm, (MPI_Info info, MPI_Comm comm, MPI_Win * win))                                         \
    X(Win_shared_query, MPI_COMM_WORLD, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr))        \
    X(Win_attach, MPI_COMM_WORLD, (MPI_Win win, void *base, MPI_Aint size))                                            \
    X(Win_detach, MPI_COMM_WORLD, (MPI_Win win, const void *base))                                                     \
    X(Win_free, MPI_COMM_WORLD, (MPI_Win * win))                                                                       \
    X(Win_get_group, MPI_COMM_WORLD, (MPI_Win win, MPI_Group * group))                                                 \
    X(Win_set_info, MPI_COMM_WORLD, (MPI_Win win, MPI_Info info))                                                      \
    X(Win_get_info, MPI_COMM_WORLD, (MPI_Win win, MPI_Info * info_used))                                               \
    X(Put, MPI_COMM_WORLD,                                                                                             \
      (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, \
       int target_count, MPI_Datatype target_datatype, MPI_Win win))                                                   \
    X(Get, MPI_COMM_WORLD,                                                                                             \
      (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,       \
       int target_count, MPI_Datatype target_datatype, MPI_Win win))                                                   \
    X(Accumulate, MPI_COMM_WORLD,                                                                                      \
      (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, \
       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win))                                        \
    X(Get_accumulate, MPI_COMM_WORLD,                                                                                  \
      (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count,   \
       MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,                          \
       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win))                                                          \
    X(Fetch_and_op, MPI_COMM_WORLD,                                                                                    \
      (const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,       \
       MPI_Op op, MPI_Win win))                                                                                        \
    X(Compare_and_swap, MPI_COMM_WORLD,                                                                                \
      (const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype, int target_rank,   \
       MPI_Aint target_disp, MPI_Win win))                                                                             \
    X(Rput, MPI_COMM_WORLD,                                                                                            \
      (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, \
       int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request))                             \
    X(Rget, MPI_COMM_WORLD,                                                                                            \
      (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,       \
       int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request))                             \
    X(Raccumulate, MPI_COMM_WORLD,                                                                                     \
      (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, \
       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request))                  \
    X(Rget_accumulate, MPI_COMM_WORLD,                                                                                 \
      (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr, int result_count,   \
       MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, int target_count,                          \
       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request))                                    \
    X(Win_fence, MPI_COMM_WORLD, (int assert, MPI_Win win))                                                            \
    X(Win_start, MPI_COMM_WORLD, (MPI_Group group, int assert, MPI_Win win))                                           \
    X(Win_complete, MPI_COMM_WORLD, (MPI_Win win))                                                                     \
    X(Win_post, MPI_COMM_WORLD, (MPI_Group group, int assert, MPI_Win win))                                            \
    X(Win_wait, MPI_COMM_WORLD, (MPI_Win win))                                                                         \
    X(Win_test, MPI_COMM_WORLD, (MPI_Win win, int *flag))                                                              \
    X(Win_lock, MPI_COMM_WORLD, (int lock_type, int rank, int assert, MPI_Win win))                                    \
    X(Win_lock_all, MPI_COMM_WORLD, (int assert, MPI_Win win))                                                         \
    X(Win_unlock, MPI_COMM_WORLD, (int rank, MPI_Win win))                                                             \
    X(Win_unlock_all, MPI_COMM_WORLD, (MPI_Win win))                                                                   \
    X(Win_flush, MPI_COMM_WORLD, (int rank, MPI_Win win))                                                              \
    X(Win_flush_all, MPI_COMM_WORLD, (MPI_Win win))                                                                    \
    X(Win_flush_local, MPI_COMM_WORLD, (int rank, MPI_Win win))                                                        \
    X(Win_flush_local_all, MPI_COMM_WORLD, (MPI_Win win))                                                              \
    X(Win_sync, MPI_COMM_WORLD, (MPI_Win win))                                                                         \
    X(Win_create_keyval, MPI_COMM_WORLD,                                                                               \
      (MPI_Win_copy_attr_function * copy_fn, MPI_Win_delete_attr_function * delete_fn, int *keyval,                    \
       void *extra_state))                                                                                             \
    X(Win_free_keyval, MPI_COMM_WORLD, (int *keyval))                                                                  \
    X(Win_set_attr, MPI_COMM_WORLD, (MPI_Win win, int keyval, void *value))                                            \
    X(Win_get_attr, MPI_COMM_WORLD, (MPI_Win win, int keyval, void *value, int *flag))                                 \
    X(Win_delete_attr, MPI_COMM_WORLD, (MPI_Win win, int keyval))                                                      \
    X(Win_set_name, MPI_COMM_WORLD, (MPI_Win win, const char *name))                                                   \
    X(Win_get_name, MPI_COMM_WORLD, (MPI_Win win, char *name, int *resultlen))                                         \
    X(Win_create_errhandler, MPI_COMM_WORLD, (MPI_Win_errhandler_function * function, MPI_Errhandler * errhandler))    \
    X(Win_set_errhandler, MPI_COMM_WORLD, (MPI_Win win, MPI_Errhandler errhandler))                                    \
    X(Win_get_errhandler, MPI_COMM_WORLD, (MPI_Win win, MPI_Errhandler * errhandler))                                  \
    X(Win_call_errhandler, MPI_COMM_WORLD, (MPI_Win win, int errorcode))                                               \
    X(Pack_external, MPI_COMM_WORLD,                                                                                   \
      (const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize,     \
       MPI_Aint *position))                                                                                            \
    X(Unpack_external, MPI_COMM_WORLD,                                                                                 \
      (const char *datarep, const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount,        \
       MPI_Datatype datatype))                                                                                         \
    X(Pack_external_size, MPI_COMM_WORLD, (const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size))   \
    X(Register_datarep, MPI_COMM_WORLD,                                                                                \
      (const char *datarep, MPI_Datarep_conversion_function *read_fn, MPI_Datarep_conversion_function *write_fn,       \
       MPI_Datarep_extent_function *extent_fn, void *extra_state))

#define MPI_UNSUPPORTED_FUNCTION_(name, comm, arguments) MPI_INT_FUNCTION_(name, arguments);
MPI_UNSUPPORTED_(MPI_UNSUPPORTED_FUNCTION_)
#undef MPI_UNSUPPORTED_FUNCTION_

/* Those of dynamic processes that have an answer: no process has a parent, and a communicator may be given back. */
MPI_INT_FUNCTION_(Comm_get_parent, (MPI_Comm * parent));
MPI_INT_FUNCTION_(Comm_disconnect, (MPI_Comm * comm));

#endif
