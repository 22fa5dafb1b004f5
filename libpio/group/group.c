/*
 * The calls of a group (group.h): they check their arguments and leave the work to collect.c; group_parts.c has those
 * that move parts.
 */
#include <limits.h>
#include <stdlib.h>
#include <sysn.h>

#include "libpio/group/collect.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

static bool is_rank(const struct group *g, int rank)
{
    return rank >= 0 && rank < g->size;
}

/* ---- Messages ---- */

static int process_of(const struct group *g, int rank)
{
    return g->process ? g->process[rank] : N_PROCESS(rank, g->procid);
}

static int rank_of(const struct group *g, int process)
{
    if (!g->process)
        return N_NODE_OF(process);
    for (int r = 0; r < g->size; r++)
        if (g->process[r] == process)
            return r;
    return N_ANY;
}

static bool may_match(const struct group *g, int rank, int type)
{
    return (rank == N_ANY || is_rank(g, rank)) && type >= N_ANY && type <= GROUP_TYPE_MAX;
}

int group_write(struct group *g, const void *buf, int n, int rank, int type)
{
    if (!is_rank(g, rank) || type < 0 || type > GROUP_TYPE_MAX)
        return trap_note(-N_EINVAL);
    int result = (int)trap_cwrite(buf, n, process_of(g, rank), type, g->context);
    if (result < 0)
        g->failed = rank;
    return result;
}

/* Receives the oldest message that matches, or tells of it: `tests`. */
static int receive(struct group *g, void *buf, int n, int *rank, int *type, bool tests)
{
    int any = N_ANY, any_type = N_ANY, *from = rank ? rank : &any, *of = type ? type : &any_type;

    if (!may_match(g, *from, *of))
        return trap_note(-N_EINVAL);
    int src = *from == N_ANY ? N_ANY : process_of(g, *from);
    int result =
        (int)(tests ? trap_test_context(&src, of, g->context) : trap_read_context(buf, n, &src, of, g->context));
    if (src != N_ANY)
        *from = rank_of(g, src);
    if (result < 0 && !tests)
        g->failed = *from;
    return result;
}

int group_read(struct group *g, void *buf, int n, int *rank, int *type)
{
    return receive(g, buf, n, rank, type, false);
}

int group_test(struct group *g, int *rank, int *type)
{
    return receive(g, NULL, 0, rank, type, true);
}

/* ---- Barrier, broadcast, reductions ---- */

int group_barrier(struct group *g)
{
    return g->size < 1 ? trap_note(-N_EINVAL) : collect_barrier(g, GROUP_TYPE(group_barrier));
}

int group_broadcast(struct group *g, void *buf, int bytes, int root)
{
    if (bytes < 0 || !is_rank(g, root))
        return trap_note(-N_EINVAL);
    return collect_broadcast(g, buf, bytes, collect_place(g, root), GROUP_TYPE(group_broadcast));
}

static collect_operation *const operations[][4] = {
    [GROUP_INT] = {collect_sum_ints, collect_least_ints, collect_greatest_ints, collect_and_ints},
    [GROUP_DOUBLE] = {collect_sum_doubles, collect_least_doubles, collect_greatest_doubles, NULL},
};

/* Of a few elements the scratch memory is on the stack. root: a place, or -1: all get the result. */
static int reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation,
                  int root)
{
    double few[16];

    if (g->size < 1 || n < 0 || (unsigned)element > GROUP_DOUBLE || (unsigned)operation > GROUP_AND ||
        !operations[element][operation])
        return trap_note(-N_EINVAL);
    int element_bytes = element == GROUP_INT ? sizeof(int) : sizeof(double);
    if (n > INT_MAX / element_bytes)
        return trap_note(-N_EINVAL);
    size_t bytes = (size_t)n * (size_t)element_bytes;
    void *room = bytes <= sizeof few ? few : malloc(bytes);
    if (!room)
        return trap_note(-N_ENOMEM);
    const struct collect_reduction x = {elements, room, n, element_bytes, operations[element][operation]};
    int result = root < 0 ? collect_all_reduce(g, &x, GROUP_TYPE(group_all_reduce))
                          : collect_reduce(g, &x, root, GROUP_TYPE(group_reduce));
    if (room != few)
        free(room);
    return result;
}

int group_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation,
                 int root)
{
    if (!is_rank(g, root))
        return trap_note(-N_EINVAL);
    return reduce(g, elements, n, element, operation, collect_place(g, root));
}

int group_all_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation)
{
    return reduce(g, elements, n, element, operation, -1);
}
