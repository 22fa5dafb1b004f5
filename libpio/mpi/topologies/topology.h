/*
 * Process topologies [7]: what MPI_Cart_create and its like attach to a communicator.
 */
#pragma once

#include "libpio/mpi/communicators/comms.h"

struct topology {
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    long ints;
    union {
        struct {
            int ndims;
            int *dims, *periods, *coords;
        } cart;
        struct {
            int nodes;
            int *index, *edges; /* index[i]: the edges of nodes 0 .. i */
        } graph;
        struct {
            int indegree, outdegree, weighted;
            int *sources, *source_weights, *destinations, *destination_weights;
        } dist;
    };
    int list[]; /* `ints` of them, to which the pointers above lead */
};

/* A topology with room for so many ints; NULL: no memory. */
struct topology *topology_new(int kind, long ints);
/* Those of that kind, or MPI_ERR_TOPOLOGY. */
const struct topology *topology_of(const struct mpi_comm *c, int kind, int *error);

/* The rank at these coordinates: within the dimensions, or around those that are periodic; MPI_PROC_NULL elsewhere. */
int topology_rank_at(const struct topology *t, const int coords[]);
void topology_coords_of(const struct topology *t, int rank, int coords[]);

/* The neighbours [7.6] of this process, of any topology: from whom it receives, and to whom it sends, in the order of
 * the parts in its buffers. The caller frees *neighbours. MPI_ERR_TOPOLOGY, MPI_ERR_NO_MEM. */
struct neighbours {
    int in, out;
    int *sources, *destinations; /* ranks, or MPI_PROC_NULL */
    bool is_cart;
};
int topology_neighbours(const struct mpi_comm *c, struct neighbours *n);

/* Gives a topology to a communicator; NULL: frees it. */
void topology_attach(struct mpi_comm *c, struct topology *t);

/* Makes a communicator of the first `size` ranks, with a topology, which goes to it or is freed. rank_of: which rank of
 * the old one each is; NULL: the same. A class. */
int topology_make(struct mpi_comm *c, int size, const int *rank_of, struct topology *t, struct mpi_comm **made);
