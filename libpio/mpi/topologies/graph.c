/*
 * Graphs of which every process knows all edges [7.5.3], and distributed ones [7.5.4].
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/topologies/topology.h"

int mpi_unweighted[1], mpi_weights_empty[1];

static int no_memory(void)
{
    return mpi_error(MPI_ERR_NO_MEM, "no memory for a graph", 0, 0);
}

/* ---- Graphs ---- */

static int check_graph(int nodes, const int index[], const int edges[], int size)
{
    if (nodes < 0 || nodes > size)
        return mpi_error(MPI_ERR_ARG, "%ld nodes in a communicator of %ld", nodes, size);
    for (int i = 0; i < nodes; i++)
        if (index[i] < (i > 0 ? index[i - 1] : 0))
            return mpi_error(MPI_ERR_ARG, "index %ld is %ld, less than the one before", i, index[i]);
    for (int i = 0; nodes > 0 && i < index[nodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nodes)
            return mpi_error(MPI_ERR_ARG, "edge %ld leads to %ld", i, edges[i]);
    return MPI_SUCCESS;
}

/* Processes stay where they are, whatever `reorder` is. */
int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                      MPI_Comm *comm_graph)
{
    struct mpi_comm *c = mpi_find_comm(comm_old), *made = NULL;

    (void)reorder;
    MPI_ENTER("Graph_create", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm_old);
    int error = c->local ? mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0)
                         : check_graph(nnodes, index, edges, c->group.size);
    int n = error == MPI_SUCCESS && nnodes > 0 ? index[nnodes - 1] : 0;
    struct topology *t = error == MPI_SUCCESS ? topology_new(MPI_GRAPH, (long)nnodes + n) : NULL;
    if (t) {
        t->graph.nodes = nnodes;
        t->graph.index = t->list;
        t->graph.edges = t->list + nnodes;
        memcpy(t->graph.index, index, (size_t)nnodes * sizeof(int));
        memcpy(t->graph.edges, edges, (size_t)n * sizeof(int));
        error = topology_make(c, nnodes, NULL, t, &made);
    } else if (error == MPI_SUCCESS) {
        error = no_memory();
    }
    return mpi_leave(c, comms_give(error, made, comm_graph));
}
MPI_NAME(Graph_create);

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int index[], const int edges[], int *newrank)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Graph_map", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    int error = check_graph(nnodes, index, edges, c->group.size);
    *newrank = error == MPI_SUCCESS && c->group.rank < nnodes ? c->group.rank : MPI_UNDEFINED;
    return mpi_leave(c, error);
}
MPI_NAME(Graph_map);

/* The way into a call on a topology of that kind: sets t, or ends the call. */
#define ENTER(name, kind)                                    \
    struct mpi_comm *c = mpi_find_comm(comm);                \
    int error;                                               \
                                                             \
    MPI_ENTER(name, c, MPI_NO_PEER, MPI_NO_PEER);            \
    if (!c)                                                  \
        return mpi_fail_comm(comm);                          \
    const struct topology *t = topology_of(c, kind, &error); \
    if (!t)                                                  \
    return mpi_fail(c, error)

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    ENTER("Graphdims_get", MPI_GRAPH);
    *nnodes = t->graph.nodes;
    *nedges = *nnodes > 0 ? t->graph.index[*nnodes - 1] : 0;
    return MPI_SUCCESS;
}
MPI_NAME(Graphdims_get);

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int index[], int edges[])
{
    ENTER("Graph_get", MPI_GRAPH);
    int nodes = t->graph.nodes, n = nodes > 0 ? t->graph.index[nodes - 1] : 0;
    memcpy(index, t->graph.index, (size_t)(nodes < maxindex ? nodes : maxindex) * sizeof(int));
    memcpy(edges, t->graph.edges, (size_t)(n < maxedges ? n : maxedges) * sizeof(int));
    return MPI_SUCCESS;
}
MPI_NAME(Graph_get);

/* The edges of a node; NULL: there is no such node. */
static const int *find_edges(const struct topology *t, int rank, int *n, int *error)
{
    if (rank < 0 || rank >= t->graph.nodes) {
        *error = mpi_error(MPI_ERR_RANK, "%ld is none of 0 to %ld", rank, t->graph.nodes - 1);
        return NULL;
    }
    int first = rank > 0 ? t->graph.index[rank - 1] : 0;
    *n = t->graph.index[rank] - first;
    return t->graph.edges + first;
}

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    ENTER("Graph_neighbors_count", MPI_GRAPH);
    find_edges(t, rank, nneighbors, &error);
    return mpi_leave(c, error);
}
MPI_NAME(Graph_neighbors_count);

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    int n = 0;

    ENTER("Graph_neighbors", MPI_GRAPH);
    const int *edges = find_edges(t, rank, &n, &error);
    if (edges)
        memcpy(neighbors, edges, (size_t)(n < maxneighbors ? n : maxneighbors) * sizeof(int));
    return mpi_leave(c, error);
}
MPI_NAME(Graph_neighbors);

/* ---- Distributed graphs ---- */

static struct topology *new_dist(int in, int out, bool weighted)
{
    struct topology *t = topology_new(MPI_DIST_GRAPH, 2l * (in + out));

    if (!t)
        return NULL;
    t->dist.indegree = in;
    t->dist.outdegree = out;
    t->dist.weighted = weighted;
    t->dist.sources = t->list;
    t->dist.source_weights = t->list + in;
    t->dist.destinations = t->list + 2l * in;
    t->dist.destination_weights = t->list + 2l * in + out;
    return t;
}

static int check_ranks(int n, const int ranks[], int size)
{
    if (n < 0)
        return mpi_error(MPI_ERR_ARG, "%ld neighbours", n, 0);
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= size)
            return mpi_error(MPI_ERR_RANK, "%ld is none of 0 to %ld", ranks[i], size - 1);
    return MPI_SUCCESS;
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                    int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                    int reorder, MPI_Comm *comm_dist_graph)
{
    struct mpi_comm *c = mpi_find_comm(comm_old), *made = NULL;
    bool weighted = sourceweights != MPI_UNWEIGHTED && destweights != MPI_UNWEIGHTED;

    (void)info, (void)reorder;
    MPI_ENTER("Dist_graph_create_adjacent", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm_old);
    int error = c->local ? mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0)
                         : check_ranks(indegree, sources, c->group.size);
    if (error == MPI_SUCCESS)
        error = check_ranks(outdegree, destinations, c->group.size);
    struct topology *t = error == MPI_SUCCESS ? new_dist(indegree, outdegree, weighted) : NULL;
    if (t) {
        memcpy(t->dist.sources, sources, (size_t)indegree * sizeof(int));
        memcpy(t->dist.destinations, destinations, (size_t)outdegree * sizeof(int));
        if (weighted && indegree > 0)
            memcpy(t->dist.source_weights, sourceweights, (size_t)indegree * sizeof(int));
        if (weighted && outdegree > 0)
            memcpy(t->dist.destination_weights, destweights, (size_t)outdegree * sizeof(int));
        error = topology_make(c, c->group.size, NULL, t, &made);
    } else if (error == MPI_SUCCESS) {
        error = no_memory();
    }
    return mpi_leave(c, comms_give(error, made, comm_dist_graph));
}
MPI_NAME(Dist_graph_create_adjacent);

struct edge {
    int from, to, weight;
};

/* All edges that all have named, in the order of ranks; the caller frees them. NULL: *error is a class. */
static struct edge *share_edges(struct mpi_comm *c, const struct edge *own, int n, int *all, int *error)
{
    struct group *g = engine_group(c);
    int *bytes = malloc(2 * (size_t)g->size * sizeof *bytes), own_bytes = n * (int)sizeof *own, sum = 0;
    int type = COLLECTIVE_TYPE(c->number, COLLECTIVE_MAKE);
    struct edge *edges = NULL;

    *error = bytes ? MPI_SUCCESS : no_memory();
    for (int i = 0; bytes && i < g->size; i++)
        bytes[g->size + i] = sizeof(int);
    if (bytes)
        *error = collective_error(c, collect_all_gather(g, &own_bytes, bytes, bytes + g->size, type));
    for (int i = 0; *error == MPI_SUCCESS && i < g->size; i++)
        sum += bytes[i];
    if (*error == MPI_SUCCESS) {
        edges = malloc((size_t)sum + 1);
        *error = edges ? collective_error(c, collect_all_gather(g, own, edges, bytes, type)) : no_memory();
    }
    free(bytes);
    *all = sum / (int)sizeof *edges;
    if (*error == MPI_SUCCESS)
        return edges;
    free(edges);
    return NULL;
}

/* This process's part of the graph. */
static struct topology *choose_edges(const struct edge *edges, int n, int rank, bool weighted)
{
    int in = 0, out = 0;

    for (int i = 0; i < n; i++) {
        in += edges[i].to == rank;
        out += edges[i].from == rank;
    }
    struct topology *t = new_dist(in, out, weighted);
    for (int i = n; i-- > 0 && t;) {
        if (edges[i].to == rank) {
            t->dist.sources[--in] = edges[i].from;
            t->dist.source_weights[in] = edges[i].weight;
        }
        if (edges[i].from == rank) {
            t->dist.destinations[--out] = edges[i].to;
            t->dist.destination_weights[out] = edges[i].weight;
        }
    }
    return t;
}

/* The edges that this process names; the caller frees them. */
static struct edge *list_edges(int n, const int sources[], const int degrees[], const int destinations[],
                               const int weights[], int size, int *edges, int *error)
{
    int all = 0, at = 0;

    *error = check_ranks(n, sources, size);
    for (int i = 0; i < n && *error == MPI_SUCCESS; i++) {
        *error = degrees[i] < 0 ? mpi_error(MPI_ERR_ARG, "degree %ld is %ld", i, degrees[i]) : MPI_SUCCESS;
        all += degrees[i];
    }
    if (*error == MPI_SUCCESS)
        *error = check_ranks(all, destinations, size);
    struct edge *list = *error == MPI_SUCCESS ? malloc((size_t)(all + 1) * sizeof *list) : NULL;
    if (*error == MPI_SUCCESS && !list)
        *error = no_memory();
    for (int i = 0; i < n && list; i++)
        for (int k = 0; k < degrees[i]; k++, at++)
            list[at] = (struct edge){sources[i], destinations[at], weights ? weights[at] : 1};
    *edges = all;
    return list;
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[], const int destinations[],
                           const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    struct mpi_comm *c = mpi_find_comm(comm_old), *made = NULL;
    bool weighted = weights != MPI_UNWEIGHTED;
    int edges, all_edges = 0, error;

    (void)info, (void)reorder;
    MPI_ENTER("Dist_graph_create", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm_old);
    if (c->local)
        return mpi_fail(c, mpi_error(MPI_ERR_COMM, "it is an intercommunicator", 0, 0));
    struct edge *own =
        list_edges(n, sources, degrees, destinations, weighted ? weights : NULL, c->group.size, &edges, &error);
    struct edge *all = own ? share_edges(c, own, edges, &all_edges, &error) : NULL;
    struct topology *t = all ? choose_edges(all, all_edges, c->group.rank, weighted) : NULL;
    free(all);
    free(own);
    if (t)
        error = topology_make(c, c->group.size, NULL, t, &made);
    else if (error == MPI_SUCCESS)
        error = no_memory();
    return mpi_leave(c, comms_give(error, made, comm_dist_graph));
}
MPI_NAME(Dist_graph_create);

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    ENTER("Dist_graph_neighbors_count", MPI_DIST_GRAPH);
    *indegree = t->dist.indegree;
    *outdegree = t->dist.outdegree;
    *weighted = t->dist.weighted;
    return MPI_SUCCESS;
}
MPI_NAME(Dist_graph_neighbors_count);

static void give(int n, int most, const int *from, const int *weight, int ranks[], int weights[], int weighted)
{
    size_t bytes = (size_t)(n < most ? n : most) * sizeof(int);

    memcpy(ranks, from, bytes);
    if (weighted && weights != MPI_UNWEIGHTED)
        memcpy(weights, weight, bytes);
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                              int destinations[], int destweights[])
{
    ENTER("Dist_graph_neighbors", MPI_DIST_GRAPH);
    give(t->dist.indegree, maxindegree, t->dist.sources, t->dist.source_weights, sources, sourceweights,
         t->dist.weighted);
    give(t->dist.outdegree, maxoutdegree, t->dist.destinations, t->dist.destination_weights, destinations, destweights,
         t->dist.weighted);
    return MPI_SUCCESS;
}
MPI_NAME(Dist_graph_neighbors);
