/*
 * MPI 3.1 for C programs [MPI: A Message-Passing Interface Standard, Version 3.1, 2015]. Names, arguments and meanings
 * are the standard's, whose sections are named here; docs/mpi.md says what is there, how it works, and what it costs.
 *
 * Every function F is declared as MPI_F and as PMPI_F, for tools that put their own MPI_F in front [14.2]. Errors are
 * passed to the error handler of the communicator, at first MPI_ERRORS_ARE_FATAL: a line on the standard error, and the
 * end of the job with status 1.
 */
#ifndef _MPI_H
#define _MPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION    3
#define MPI_SUBVERSION 1

/* ---- Types and handles [2.5] ---- */

typedef long MPI_Aint;
typedef long long MPI_Offset;
typedef long long MPI_Count;

/* Handles are numbers, which the library checks: a pointer to one of these is never followed. */
typedef struct mpi_comm_handle *MPI_Comm;
typedef struct mpi_datatype_handle *MPI_Datatype;
typedef struct mpi_op_handle *MPI_Op;
typedef struct mpi_request_handle *MPI_Request;
typedef struct mpi_message_handle *MPI_Message;
typedef struct mpi_group_handle *MPI_Group;
typedef struct mpi_errhandler_handle *MPI_Errhandler;
typedef struct mpi_info_handle *MPI_Info;
typedef struct mpi_win_handle *MPI_Win; /* there are none */

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int mpi_cancelled;
    MPI_Count mpi_bytes;
} MPI_Status;

#define MPI_STATUS_IGNORE   ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

#define MPI_COMM_NULL  ((MPI_Comm)0x11ffffff)
#define MPI_COMM_WORLD ((MPI_Comm)0x11000000)
#define MPI_COMM_SELF  ((MPI_Comm)0x11000001)

#define MPI_GROUP_NULL  ((MPI_Group)0x17000000)
#define MPI_GROUP_EMPTY ((MPI_Group)0x17000001)

#define MPI_REQUEST_NULL    ((MPI_Request)0x12000000)
#define MPI_MESSAGE_NULL    ((MPI_Message)0x13000000)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x13000001)

#define MPI_ERRHANDLER_NULL  ((MPI_Errhandler)0x14000000)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x14000001)
#define MPI_ERRORS_RETURN    ((MPI_Errhandler)0x14000002)

#define MPI_INFO_NULL ((MPI_Info)0x18000000)
#define MPI_INFO_ENV  ((MPI_Info)0x18000001)
#define MPI_WIN_NULL  ((MPI_Win)0x1a000000)

#define MPI_PROC_NULL      (-2)
#define MPI_ANY_SOURCE     (-1)
#define MPI_ANY_TAG        (-1)
#define MPI_ROOT           (-3)
#define MPI_UNDEFINED      (-32766)
#define MPI_BOTTOM         ((void *)0)
#define MPI_IN_PLACE       ((void *)1)
#define MPI_BSEND_OVERHEAD 384

#define MPI_MAX_PROCESSOR_NAME         64
#define MPI_MAX_ERROR_STRING           160
#define MPI_MAX_OBJECT_NAME            64
#define MPI_MAX_INFO_KEY               127
#define MPI_MAX_INFO_VAL               1023
#define MPI_MAX_PORT_NAME              64
#define MPI_MAX_LIBRARY_VERSION_STRING 80

enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_COMM_TYPE_SHARED = 1 };
enum { MPI_CART = 1, MPI_GRAPH, MPI_DIST_GRAPH };
enum { MPI_TYPECLASS_INTEGER = 1, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX };
enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };

/* Predefined types of C [3.2.2], and those for MPI_MINLOC and MPI_MAXLOC [5.9.4] */
#define MPI_DATATYPE_NULL         ((MPI_Datatype)0x15000000)
#define MPI_CHAR                  ((MPI_Datatype)0x15000001)
#define MPI_SIGNED_CHAR           ((MPI_Datatype)0x15000002)
#define MPI_UNSIGNED_CHAR         ((MPI_Datatype)0x15000003)
#define MPI_BYTE                  ((MPI_Datatype)0x15000004)
#define MPI_PACKED                ((MPI_Datatype)0x15000005)
#define MPI_WCHAR                 ((MPI_Datatype)0x15000006)
#define MPI_SHORT                 ((MPI_Datatype)0x15000007)
#define MPI_UNSIGNED_SHORT        ((MPI_Datatype)0x15000008)
#define MPI_INT                   ((MPI_Datatype)0x15000009)
#define MPI_UNSIGNED              ((MPI_Datatype)0x1500000a)
#define MPI_LONG                  ((MPI_Datatype)0x1500000b)
#define MPI_UNSIGNED_LONG         ((MPI_Datatype)0x1500000c)
#define MPI_LONG_LONG_INT         ((MPI_Datatype)0x1500000d)
#define MPI_LONG_LONG             MPI_LONG_LONG_INT
#define MPI_UNSIGNED_LONG_LONG    ((MPI_Datatype)0x1500000e)
#define MPI_FLOAT                 ((MPI_Datatype)0x1500000f)
#define MPI_DOUBLE                ((MPI_Datatype)0x15000010)
#define MPI_LONG_DOUBLE           ((MPI_Datatype)0x15000011)
#define MPI_INT8_T                ((MPI_Datatype)0x15000012)
#define MPI_INT16_T               ((MPI_Datatype)0x15000013)
#define MPI_INT32_T               ((MPI_Datatype)0x15000014)
#define MPI_INT64_T               ((MPI_Datatype)0x15000015)
#define MPI_UINT8_T               ((MPI_Datatype)0x15000016)
#define MPI_UINT16_T              ((MPI_Datatype)0x15000017)
#define MPI_UINT32_T              ((MPI_Datatype)0x15000018)
#define MPI_UINT64_T              ((MPI_Datatype)0x15000019)
#define MPI_C_BOOL                ((MPI_Datatype)0x1500001a)
#define MPI_C_FLOAT_COMPLEX       ((MPI_Datatype)0x1500001b)
#define MPI_C_COMPLEX             MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX      ((MPI_Datatype)0x1500001c)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x1500001d)
#define MPI_AINT                  ((MPI_Datatype)0x1500001e)
#define MPI_OFFSET                ((MPI_Datatype)0x1500001f)
#define MPI_COUNT                 ((MPI_Datatype)0x15000020)
#define MPI_FLOAT_INT             ((MPI_Datatype)0x15000021)
#define MPI_DOUBLE_INT            ((MPI_Datatype)0x15000022)
#define MPI_LONG_INT              ((MPI_Datatype)0x15000023)
#define MPI_2INT                  ((MPI_Datatype)0x15000024)
#define MPI_SHORT_INT             ((MPI_Datatype)0x15000025)
#define MPI_LONG_DOUBLE_INT       ((MPI_Datatype)0x15000026)

/* How a type was made [4.1.13], and how arrays are laid out [4.1.3, 4.1.4] */
enum {
    MPI_COMBINER_NAMED,
    MPI_COMBINER_DUP,
    MPI_COMBINER_CONTIGUOUS,
    MPI_COMBINER_VECTOR,
    MPI_COMBINER_HVECTOR,
    MPI_COMBINER_INDEXED,
    MPI_COMBINER_HINDEXED,
    MPI_COMBINER_INDEXED_BLOCK,
    MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_STRUCT,
    MPI_COMBINER_SUBARRAY,
    MPI_COMBINER_DARRAY,
    MPI_COMBINER_RESIZED
};
enum { MPI_ORDER_C, MPI_ORDER_FORTRAN };
enum { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
#define MPI_DISTRIBUTE_DFLT_DARG (-1)

/* Predefined operations [5.9.2] */
#define MPI_OP_NULL ((MPI_Op)0x16000000)
#define MPI_MAX     ((MPI_Op)0x16000001)
#define MPI_MIN     ((MPI_Op)0x16000002)
#define MPI_SUM     ((MPI_Op)0x16000003)
#define MPI_PROD    ((MPI_Op)0x16000004)
#define MPI_LAND    ((MPI_Op)0x16000005)
#define MPI_BAND    ((MPI_Op)0x16000006)
#define MPI_LOR     ((MPI_Op)0x16000007)
#define MPI_BOR     ((MPI_Op)0x16000008)
#define MPI_LXOR    ((MPI_Op)0x16000009)
#define MPI_BXOR    ((MPI_Op)0x1600000a)
#define MPI_MINLOC  ((MPI_Op)0x1600000b)
#define MPI_MAXLOC  ((MPI_Op)0x1600000c)
#define MPI_REPLACE ((MPI_Op)0x1600000d)
#define MPI_NO_OP   ((MPI_Op)0x1600000e)

/* ---- Error classes [8.4] ---- */

enum {
    MPI_SUCCESS,
    MPI_ERR_BUFFER,
    MPI_ERR_COUNT,
    MPI_ERR_TYPE,
    MPI_ERR_TAG,
    MPI_ERR_COMM,
    MPI_ERR_RANK,
    MPI_ERR_REQUEST,
    MPI_ERR_ROOT,
    MPI_ERR_GROUP,
    MPI_ERR_OP,
    MPI_ERR_TOPOLOGY,
    MPI_ERR_DIMS,
    MPI_ERR_ARG,
    MPI_ERR_UNKNOWN,
    MPI_ERR_TRUNCATE,
    MPI_ERR_OTHER,
    MPI_ERR_INTERN,
    MPI_ERR_PENDING,
    MPI_ERR_IN_STATUS,
    MPI_ERR_ACCESS,
    MPI_ERR_AMODE,
    MPI_ERR_ASSERT,
    MPI_ERR_BAD_FILE,
    MPI_ERR_BASE,
    MPI_ERR_CONVERSION,
    MPI_ERR_DISP,
    MPI_ERR_DUP_DATAREP,
    MPI_ERR_FILE_EXISTS,
    MPI_ERR_FILE_IN_USE,
    MPI_ERR_FILE,
    MPI_ERR_INFO_KEY,
    MPI_ERR_INFO_NOKEY,
    MPI_ERR_INFO_VALUE,
    MPI_ERR_INFO,
    MPI_ERR_IO,
    MPI_ERR_KEYVAL,
    MPI_ERR_LOCKTYPE,
    MPI_ERR_NAME,
    MPI_ERR_NO_MEM,
    MPI_ERR_NOT_SAME,
    MPI_ERR_NO_SPACE,
    MPI_ERR_NO_SUCH_FILE,
    MPI_ERR_PORT,
    MPI_ERR_QUOTA,
    MPI_ERR_READ_ONLY,
    MPI_ERR_RMA_ATTACH,
    MPI_ERR_RMA_CONFLICT,
    MPI_ERR_RMA_FLAVOR,
    MPI_ERR_RMA_RANGE,
    MPI_ERR_RMA_SHARED,
    MPI_ERR_RMA_SYNC,
    MPI_ERR_SERVICE,
    MPI_ERR_SIZE,
    MPI_ERR_SPAWN,
    MPI_ERR_UNSUPPORTED_DATAREP,
    MPI_ERR_UNSUPPORTED_OPERATION,
    MPI_ERR_WIN,
    MPI_ERR_LASTCODE
};

typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);
typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);

typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);

/* ---- Functions ---- */

#define MPI_FUNCTION_(result, name, arguments) \
    result MPI_##name arguments;               \
    result PMPI_##name arguments
#define MPI_INT_FUNCTION_(name, arguments) MPI_FUNCTION_(int, name, arguments)

/* Environment [8] */
MPI_INT_FUNCTION_(Init, (int *argc, char ***argv));
MPI_INT_FUNCTION_(Init_thread, (int *argc, char ***argv, int required, int *provided));
MPI_INT_FUNCTION_(Query_thread, (int *provided));
MPI_INT_FUNCTION_(Is_thread_main, (int *flag));
MPI_INT_FUNCTION_(Initialized, (int *flag));
MPI_INT_FUNCTION_(Finalized, (int *flag));
MPI_INT_FUNCTION_(Finalize, (void));
MPI_INT_FUNCTION_(Abort, (MPI_Comm comm, int errorcode));
MPI_INT_FUNCTION_(Get_version, (int *version, int *subversion));
MPI_INT_FUNCTION_(Get_library_version, (char *version, int *resultlen));
MPI_INT_FUNCTION_(Get_processor_name, (char *name, int *resultlen));
MPI_FUNCTION_(double, Wtime, (void));
MPI_FUNCTION_(double, Wtick, (void));
MPI_INT_FUNCTION_(Error_class, (int errorcode, int *errorclass));
MPI_INT_FUNCTION_(Error_string, (int errorcode, char *string, int *resultlen));
MPI_INT_FUNCTION_(Comm_create_errhandler, (MPI_Comm_errhandler_function * function, MPI_Errhandler *errhandler));
MPI_INT_FUNCTION_(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler));
MPI_INT_FUNCTION_(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler));
MPI_INT_FUNCTION_(Comm_call_errhandler, (MPI_Comm comm, int errorcode));
MPI_INT_FUNCTION_(Add_error_class, (int *errorclass));
MPI_INT_FUNCTION_(Add_error_code, (int errorclass, int *errorcode));
MPI_INT_FUNCTION_(Add_error_string, (int errorcode, const char *string));
MPI_INT_FUNCTION_(Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr));
MPI_INT_FUNCTION_(Free_mem, (void *base));
MPI_INT_FUNCTION_(Pcontrol, (const int level, ...));
MPI_INT_FUNCTION_(Errhandler_free, (MPI_Errhandler * errhandler));

/* Communicators [6] */
MPI_INT_FUNCTION_(Comm_size, (MPI_Comm comm, int *size));
MPI_INT_FUNCTION_(Comm_rank, (MPI_Comm comm, int *rank));

MPI_INT_FUNCTION_(Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result));
MPI_INT_FUNCTION_(Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Comm_free, (MPI_Comm * comm));
MPI_INT_FUNCTION_(Comm_set_name, (MPI_Comm comm, const char *name));
MPI_INT_FUNCTION_(Comm_get_name, (MPI_Comm comm, char *name, int *resultlen));
MPI_INT_FUNCTION_(Comm_test_inter, (MPI_Comm comm, int *flag));
MPI_INT_FUNCTION_(Comm_group, (MPI_Comm comm, MPI_Group *group));
MPI_INT_FUNCTION_(Group_size, (MPI_Group group, int *size));
MPI_INT_FUNCTION_(Group_rank, (MPI_Group group, int *rank));
MPI_INT_FUNCTION_(Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]));
MPI_INT_FUNCTION_(Group_compare, (MPI_Group group1, MPI_Group group2, int *result));
MPI_INT_FUNCTION_(Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup));
MPI_INT_FUNCTION_(Group_free, (MPI_Group * group));

/* Point to point [3] */
MPI_INT_FUNCTION_(Send, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
MPI_INT_FUNCTION_(Bsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
MPI_INT_FUNCTION_(Ssend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
MPI_INT_FUNCTION_(Rsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
MPI_INT_FUNCTION_(Buffer_attach, (void *buffer, int size));
MPI_INT_FUNCTION_(Buffer_detach, (void *buffer_addr, int *size));
MPI_INT_FUNCTION_(Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Status *status));
MPI_INT_FUNCTION_(Sendrecv,
                  (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status));
MPI_INT_FUNCTION_(Sendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                                     int recvtag, MPI_Comm comm, MPI_Status *status));
MPI_INT_FUNCTION_(Isend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request));
MPI_INT_FUNCTION_(Ibsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request));
MPI_INT_FUNCTION_(Issend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request));
MPI_INT_FUNCTION_(Irsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                           MPI_Request *request));
MPI_INT_FUNCTION_(Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                          MPI_Request *request));
MPI_INT_FUNCTION_(Wait, (MPI_Request * request, MPI_Status *status));
MPI_INT_FUNCTION_(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status));
MPI_INT_FUNCTION_(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]));
MPI_INT_FUNCTION_(Waitsome, (int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]));
MPI_INT_FUNCTION_(Test, (MPI_Request * request, int *flag, MPI_Status *status));
MPI_INT_FUNCTION_(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status));
MPI_INT_FUNCTION_(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]));
MPI_INT_FUNCTION_(Testsome, (int incount, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[]));
MPI_INT_FUNCTION_(Request_free, (MPI_Request * request));
MPI_INT_FUNCTION_(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status));
MPI_INT_FUNCTION_(Cancel, (MPI_Request * request));
MPI_INT_FUNCTION_(Test_cancelled, (const MPI_Status *status, int *flag));
MPI_INT_FUNCTION_(Status_set_cancelled, (MPI_Status * status, int flag));
MPI_INT_FUNCTION_(Send_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                              MPI_Request *request));
MPI_INT_FUNCTION_(Bsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                               MPI_Request *request));
MPI_INT_FUNCTION_(Ssend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                               MPI_Request *request));
MPI_INT_FUNCTION_(Rsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                               MPI_Request *request));
MPI_INT_FUNCTION_(Recv_init, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                              MPI_Request *request));
MPI_INT_FUNCTION_(Start, (MPI_Request * request));
MPI_INT_FUNCTION_(Startall, (int count, MPI_Request requests[]));
MPI_INT_FUNCTION_(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status));
MPI_INT_FUNCTION_(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status));
MPI_INT_FUNCTION_(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status));
MPI_INT_FUNCTION_(Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status));
MPI_INT_FUNCTION_(Mrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status));
MPI_INT_FUNCTION_(Imrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request));
MPI_INT_FUNCTION_(Grequest_start, (MPI_Grequest_query_function * query_fn, MPI_Grequest_free_function *free_fn,
                                   MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request));
MPI_INT_FUNCTION_(Grequest_complete, (MPI_Request request));
MPI_INT_FUNCTION_(Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count));

/* Types [4] */
MPI_INT_FUNCTION_(Type_size, (MPI_Datatype datatype, int *size));
MPI_INT_FUNCTION_(Type_size_x, (MPI_Datatype datatype, MPI_Count *size));
MPI_INT_FUNCTION_(Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent));
MPI_INT_FUNCTION_(Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent));
MPI_INT_FUNCTION_(Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent));
MPI_INT_FUNCTION_(Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent));
MPI_INT_FUNCTION_(Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_hvector,
                  (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_indexed, (int count, const int lengths[], const int displacements[], MPI_Datatype oldtype,
                                 MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_hindexed, (int count, const int lengths[], const MPI_Aint displacements[],
                                         MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_indexed_block,
                  (int count, int length, const int displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_hindexed_block,
                  (int count, int length, const MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_struct, (int count, const int lengths[], const MPI_Aint displacements[],
                                       const MPI_Datatype types[], MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_subarray, (int ndims, const int sizes[], const int subsizes[], const int starts[],
                                         int order, MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_create_darray,
                  (int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
                   const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_match_size, (int typeclass, int size, MPI_Datatype *datatype));
MPI_INT_FUNCTION_(Type_commit, (MPI_Datatype * datatype));
MPI_INT_FUNCTION_(Type_free, (MPI_Datatype * datatype));
MPI_INT_FUNCTION_(Type_get_envelope,
                  (MPI_Datatype datatype, int *integers, int *addresses, int *datatypes, int *combiner));
MPI_INT_FUNCTION_(Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes,
                                      int integers[], MPI_Aint addresses[], MPI_Datatype datatypes[]));
MPI_INT_FUNCTION_(Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
                         int *position, MPI_Comm comm));
MPI_INT_FUNCTION_(Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                           MPI_Datatype datatype, MPI_Comm comm));
MPI_INT_FUNCTION_(Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size));
MPI_INT_FUNCTION_(Get_address, (const void *location, MPI_Aint *address));
MPI_FUNCTION_(MPI_Aint, Aint_add, (MPI_Aint base, MPI_Aint disp));
MPI_FUNCTION_(MPI_Aint, Aint_diff, (MPI_Aint addr1, MPI_Aint addr2));
MPI_INT_FUNCTION_(Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count));
MPI_INT_FUNCTION_(Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count));
MPI_INT_FUNCTION_(Status_set_elements, (MPI_Status * status, MPI_Datatype datatype, int count));
MPI_INT_FUNCTION_(Status_set_elements_x, (MPI_Status * status, MPI_Datatype datatype, MPI_Count count));

#include "mpi_collectives.h"
#include "mpi_contexts.h"
#include "mpi_files.h"
#include "mpi_unsupported.h"

#ifdef __cplusplus
}
#endif

#endif
