/* Functions of <mpi.h>, which includes this file: attributes, info, more communicators, topologies [6, 7, 9], and the
 * names of MPI-1 [15, 16]. */
#ifndef _MPI_CONTEXTS_H
#define _MPI_CONTEXTS_H

/* ---- Attributes [6.7] ---- */

enum {
    MPI_KEYVAL_INVALID = -1,
    MPI_TAG_UB = 1,
    MPI_HOST,
    MPI_IO,
    MPI_WTIME_IS_GLOBAL,
    MPI_UNIVERSE_SIZE,
    MPI_APPNUM,
    MPI_LASTUSEDCODE
};

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
MPI_Comm_copy_attr_function MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN;
MPI_Comm_delete_attr_function MPI_COMM_NULL_DELETE_FN;
MPI_Type_copy_attr_function MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN;
MPI_Type_delete_attr_function MPI_TYPE_NULL_DELETE_FN;

MPI_INT_FUNCTION_(Comm_create_keyval, (MPI_Comm_copy_attr_function * copy_fn, MPI_Comm_delete_attr_function *delete_fn,
                                       int *keyval, void *extra_state));
MPI_INT_FUNCTION_(Comm_free_keyval, (int *keyval));
MPI_INT_FUNCTION_(Comm_set_attr, (MPI_Comm comm, int keyval, void *value));
MPI_INT_FUNCTION_(Comm_get_attr, (MPI_Comm comm, int keyval, void *value, int *flag));
MPI_INT_FUNCTION_(Comm_delete_attr, (MPI_Comm comm, int keyval));
MPI_INT_FUNCTION_(Type_create_keyval, (MPI_Type_copy_attr_function * copy_fn, MPI_Type_delete_attr_function *delete_fn,
                                       int *keyval, void *extra_state));
MPI_INT_FUNCTION_(Type_free_keyval, (int *keyval));
MPI_INT_FUNCTION_(Type_set_attr, (MPI_Datatype datatype, int keyval, void *value));
MPI_INT_FUNCTION_(Type_get_attr, (MPI_Datatype datatype, int keyval, void *value, int *flag));
MPI_INT_FUNCTION_(Type_delete_attr, (MPI_Datatype datatype, int keyval));
MPI_INT_FUNCTION_(Type_set_name, (MPI_Datatype datatype, const char *name));
MPI_INT_FUNCTION_(Type_get_name, (MPI_Datatype datatype, char *name, int *resultlen));

/* ---- Info [9] ---- */

MPI_INT_FUNCTION_(Info_create, (MPI_Info * info));
MPI_INT_FUNCTION_(Info_set, (MPI_Info info, const char *key, const char *value));
MPI_INT_FUNCTION_(Info_delete, (MPI_Info info, const char *key));
MPI_INT_FUNCTION_(Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag));
MPI_INT_FUNCTION_(Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag));
MPI_INT_FUNCTION_(Info_get_nkeys, (MPI_Info info, int *nkeys));
MPI_INT_FUNCTION_(Info_get_nthkey, (MPI_Info info, int n, char *key));
MPI_INT_FUNCTION_(Info_dup, (MPI_Info info, MPI_Info *newinfo));
MPI_INT_FUNCTION_(Info_free, (MPI_Info * info));

/* ---- Communicators [6.4, 6.6] ---- */

MPI_INT_FUNCTION_(Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
MPI_INT_FUNCTION_(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Comm_set_info, (MPI_Comm comm, MPI_Info info));
MPI_INT_FUNCTION_(Comm_get_info, (MPI_Comm comm, MPI_Info *info_used));
MPI_INT_FUNCTION_(Comm_remote_size, (MPI_Comm comm, int *size));
MPI_INT_FUNCTION_(Comm_remote_group, (MPI_Comm comm, MPI_Group *group));
MPI_INT_FUNCTION_(Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                                     int tag, MPI_Comm *newintercomm));
MPI_INT_FUNCTION_(Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm));

/* ---- Topologies [7] ---- */

extern int mpi_unweighted[], mpi_weights_empty[]; /* gcc warns of lists at addresses that are no objects */
#define MPI_UNWEIGHTED    mpi_unweighted
#define MPI_WEIGHTS_EMPTY mpi_weights_empty

MPI_INT_FUNCTION_(Dims_create, (int nnodes, int ndims, int dims[]));
MPI_INT_FUNCTION_(Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                                MPI_Comm *comm_cart));
MPI_INT_FUNCTION_(Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank));
MPI_INT_FUNCTION_(Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm));
MPI_INT_FUNCTION_(Cartdim_get, (MPI_Comm comm, int *ndims));
MPI_INT_FUNCTION_(Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]));
MPI_INT_FUNCTION_(Cart_rank, (MPI_Comm comm, const int coords[], int *rank));
MPI_INT_FUNCTION_(Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]));
MPI_INT_FUNCTION_(Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest));
MPI_INT_FUNCTION_(Graph_create, (MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                                 MPI_Comm *comm_graph));
MPI_INT_FUNCTION_(Graph_map, (MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank));
MPI_INT_FUNCTION_(Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges));
MPI_INT_FUNCTION_(Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[]));
MPI_INT_FUNCTION_(Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors));
MPI_INT_FUNCTION_(Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]));
MPI_INT_FUNCTION_(Dist_graph_create_adjacent,
                  (MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[], int outdegree,
                   const int destinations[], const int destweights[], MPI_Info info, int reorder,
                   MPI_Comm *comm_dist_graph));
MPI_INT_FUNCTION_(Dist_graph_create,
                  (MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                   const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph));
MPI_INT_FUNCTION_(Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted));
MPI_INT_FUNCTION_(Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                                         int maxoutdegree, int destinations[], int destweights[]));
MPI_INT_FUNCTION_(Topo_test, (MPI_Comm comm, int *status));

MPI_INT_FUNCTION_(Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
MPI_INT_FUNCTION_(Ineighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
MPI_INT_FUNCTION_(Neighbor_allgatherv,
                  (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm));
MPI_INT_FUNCTION_(Ineighbor_allgatherv,
                  (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
MPI_INT_FUNCTION_(Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
MPI_INT_FUNCTION_(Ineighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
MPI_INT_FUNCTION_(Neighbor_alltoallv,
                  (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
MPI_INT_FUNCTION_(Ineighbor_alltoallv,
                  (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request *request));
MPI_INT_FUNCTION_(Neighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                       const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm));
MPI_INT_FUNCTION_(Ineighbor_alltoallw,
                  (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                   const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request));

/* ---- Names of MPI-1 [15, 16] ---- */

typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
typedef MPI_Comm_errhandler_function MPI_Handler_function;
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
#define MPI_NULL_COPY_FN   MPI_COMM_NULL_COPY_FN
#define MPI_DUP_FN         MPI_COMM_DUP_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN

MPI_INT_FUNCTION_(Keyval_create,
                  (MPI_Copy_function * copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state));
MPI_INT_FUNCTION_(Keyval_free, (int *keyval));
MPI_INT_FUNCTION_(Attr_put, (MPI_Comm comm, int keyval, void *value));
MPI_INT_FUNCTION_(Attr_get, (MPI_Comm comm, int keyval, void *value, int *flag));
MPI_INT_FUNCTION_(Attr_delete, (MPI_Comm comm, int keyval));
MPI_INT_FUNCTION_(Address, (void *location, MPI_Aint *address));
MPI_INT_FUNCTION_(Type_hvector,
                  (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_hindexed,
                  (int count, int lengths[], MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_struct,
                  (int count, int lengths[], MPI_Aint displacements[], MPI_Datatype types[], MPI_Datatype *newtype));
MPI_INT_FUNCTION_(Type_extent, (MPI_Datatype datatype, MPI_Aint *extent));
MPI_INT_FUNCTION_(Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement));
MPI_INT_FUNCTION_(Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement));
MPI_INT_FUNCTION_(Errhandler_create, (MPI_Handler_function * function, MPI_Errhandler *errhandler));
MPI_INT_FUNCTION_(Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler));
MPI_INT_FUNCTION_(Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler));

#endif
