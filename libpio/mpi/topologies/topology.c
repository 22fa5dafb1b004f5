/* What the calls on topologies share (topology.h). */
#include "libpio/mpi/topologies/topology.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/communicators/groups.h"

struct topology *topology_new(int kind, long ints)
{
    struct topology *t = calloc(1, sizeof *t + (size_t)(ints + 1) * sizeof(int));

    if (t) {
        t->kind = kind;
        t->ints = ints;
    }
    return t;
}

const struct topology *topology_of(const struct mpi_comm *c, int kind, int *error)
{
    const struct topology *t = c->topology;

    *error = t && t->kind == kind ? MPI_SUCCESS : mpi_error(MPI_ERR_TOPOLOGY, "it has no such topology", 0, 0);
    return *error == MPI_SUCCESS ? t : NULL;
}

/* ---- With the communicator ---- */

/* A list of one topology, at the same place in a copy. */
static void move(int **list, const struct topology *from, struct topology *to)
{
    if (*list)
        *list = to->list + (*list - from->list);
}

static int copy(const struct mpi_comm *from, struct mpi_comm *to)
{
    const struct topology *t = from->topology;
    struct topology *copy = t ? topology_new(t->kind, t->ints) : NULL;

    if (!t)
        return MPI_SUCCESS;
    if (!copy)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a topology", 0, 0);
    memcpy(copy, t, sizeof *t + (size_t)t->ints * sizeof(int));
    if (t->kind == MPI_CART) {
        move(&copy->cart.dims, t, copy);
        move(&copy->cart.periods, t, copy);
        move(&copy->cart.coords, t, copy);
    } else if (t->kind == MPI_GRAPH) {
        move(&copy->graph.index, t, copy);
        move(&copy->graph.edges, t, copy);
    } else {
        move(&copy->dist.sources, t, copy);
        move(&copy->dist.source_weights, t, copy);
        move(&copy->dist.destinations, t, copy);
        move(&copy->dist.destination_weights, t, copy);
    }
    to->topology = copy;
    return MPI_SUCCESS;
}

static void drop(struct mpi_comm *c)
{
    free(c->topology);
    c->topology = NULL;
}

void topology_attach(struct mpi_comm *c, struct topology *t)
{
    comms_hooks.copy_topology = copy;
    comms_hooks.free_topology = drop;
    if (c)
        c->topology = t;
    else
        free(t);
}

int topology_make(struct mpi_comm *c, int size, const int *rank_of, struct topology *t, struct mpi_comm **made)
{
    struct mpi_group *g = malloc(sizeof *g + (size_t)size * sizeof(int));
    int error = g ? MPI_SUCCESS : comms_no_memory(size);

    if (error == MPI_SUCCESS) {
        g->size = size;
        for (int i = 0; i < size; i++)
            g->world_rank[i] = collect_rank_of(&mpi_world.group, collect_process(&c->group, rank_of ? rank_of[i] : i));
        error = comms_create(c, g, made);
    }
    free(g);
    topology_attach(error == MPI_SUCCESS ? *made : NULL, t);
    return error;
}

/* ---- Grids ---- */

int topology_rank_at(const struct topology *t, const int coords[])
{
    int rank = 0;

    for (int i = 0; i < t->cart.ndims; i++) {
        int n = t->cart.dims[i], at = coords[i];

        if (t->cart.periods[i])
            at = (at % n + n) % n;
        if (at < 0 || at >= n)
            return MPI_PROC_NULL;
        rank = rank * n + at;
    }
    return rank;
}

void topology_coords_of(const struct topology *t, int rank, int coords[])
{
    for (int i = t->cart.ndims; i-- > 0; rank /= t->cart.dims[i])
        coords[i] = rank % t->cart.dims[i];
}

/* ---- Neighbours ---- */

/* Of a grid: of each dimension the one before and the one behind. */
static void list_of_grid(const struct topology *t, int *list)
{
    for (int i = 0; i < t->cart.ndims; i++)
        for (int k = 0; k < 2; k++) {
            int own = t->cart.coords[i];

            t->cart.coords[i] = own + (k == 0 ? -1 : 1);
            *list++ = topology_rank_at(t, t->cart.coords);
            t->cart.coords[i] = own;
        }
}

int topology_neighbours(const struct mpi_comm *c, struct neighbours *n)
{
    const struct topology *t = c->topology;
    int rank = c->group.rank, first = 0, in = 0, out = 0;

    if (!t)
        return mpi_error(MPI_ERR_TOPOLOGY, "it has no topology", 0, 0);
    if (t->kind == MPI_CART)
        in = out = 2 * t->cart.ndims;
    else if (t->kind == MPI_GRAPH) {
        first = rank > 0 ? t->graph.index[rank - 1] : 0;
        in = out = t->graph.index[rank] - first;
    } else {
        in = t->dist.indegree;
        out = t->dist.outdegree;
    }
    *n = (struct neighbours){in, out, malloc((size_t)(in + out + 1) * sizeof(int)), NULL, t->kind == MPI_CART};
    if (!n->sources)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a list of %ld neighbours", in + out, 0);
    n->destinations = n->sources + in;
    if (t->kind == MPI_CART) {
        list_of_grid(t, n->sources);
        list_of_grid(t, n->destinations);
    } else {
        bool is_graph = t->kind == MPI_GRAPH;

        memcpy(n->sources, is_graph ? t->graph.edges + first : t->dist.sources, (size_t)in * sizeof(int));
        memcpy(n->destinations, is_graph ? t->graph.edges + first : t->dist.destinations, (size_t)out * sizeof(int));
    }
    return MPI_SUCCESS;
}

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    struct mpi_comm *c = mpi_find_comm(comm);

    MPI_ENTER("Topo_test", c, MPI_NO_PEER, MPI_NO_PEER);
    if (!c)
        return mpi_fail_comm(comm);
    *status = c->topology ? c->topology->kind : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
MPI_NAME(Topo_test);
