/*
 * The calls of a group (group.h): they check their arguments and leave the work to the functions of collect.h.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/group/collect.h"
#include "libpio/group/pacing.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

static bool is_rank(const struct group *g, int rank)
{
    return rank >= 0 && rank < g->size;
}

/* ---- Messages ---- */

static bool may_match(const struct group *g, int rank, int type)
{
    return (rank == N_ANY || is_rank(g, rank)) && type >= N_ANY && type <= GROUP_TYPE_MAX;
}

int group_write(struct group *g, const void *buf, int n, int rank, int type)
{
    if (!is_rank(g, rank) || type < 0 || type > GROUP_TYPE_MAX)
        return trap_note(-N_EINVAL);
    int result = (int)trap_cwrite(buf, n, collect_process(g, rank), type, g->context);
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
    int src = *from == N_ANY ? N_ANY : collect_process(g, *from);
    int result =
        (int)(tests ? trap_test_context(&src, of, g->context) : trap_read_context(buf, n, &src, of, g->context));
    if (src != N_ANY)
        *from = collect_rank_of(g, src);
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
    pace_in_step(g);
    return g->size < 1 ? trap_note(-N_EINVAL) : collect_barrier(g, GROUP_TYPE(group_barrier));
}

int group_broadcast(struct group *g, void *buf, int bytes, int root)
{
    if (bytes < 0 || !is_rank(g, root))
        return trap_note(-N_EINVAL);
    return pace_broadcast(g, buf, bytes, collect_place(g, root), GROUP_TYPE(group_broadcast));
}

static collect_operation *const operations[][GROUP_XOR + 1] = {
    [GROUP_INT] = {collect_sum_ints, collect_least_ints, collect_greatest_ints, collect_and_ints, collect_product_ints,
                   collect_or_ints, collect_xor_ints},
    [GROUP_DOUBLE] = {collect_sum_doubles, collect_least_doubles,
                      collect_greatest_doubles, [GROUP_PRODUCT] = collect_product_doubles},
    [GROUP_INT64] = {collect_sum_int64s, collect_least_int64s, collect_greatest_int64s, collect_and_int64s,
                     collect_product_int64s, collect_or_int64s, collect_xor_int64s},
};

/* A reduction, or a scan: what is done with the elements. */
struct reduction {
    enum { TO_ONE, TO_ALL, SCAN, SCAN_BEFORE } kind;
    int root; /* TO_ONE: a place */
};

static int carry_out(struct group *g, const struct collect_reduction *x, struct reduction how)
{
    size_t bytes = (size_t)x->n * (size_t)x->element_bytes;

    switch (how.kind) {
    case TO_ONE:
        return pace_reduce(g, x, how.root, GROUP_TYPE(group_reduce));
    case TO_ALL:
        pace_in_step(g);
        return collect_all_reduce(g, x, GROUP_TYPE(group_all_reduce));
    case SCAN:
        return pace_scan(g, x, NULL, GROUP_TYPE(group_scan));
    default: /* the room's second half has the elements that the scan works on */
        return pace_scan(g,
                         &(struct collect_reduction){memcpy((char *)x->room + bytes, x->elements, bytes), x->room, x->n,
                                                     x->element_bytes, x->operation},
                         x->elements, GROUP_TYPE(group_scan_before));
    }
}

/* Of a few elements the scratch memory is on the stack. */
static int reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation,
                  struct reduction how)
{
    double few[16];

    if (g->size < 1 || n < 0 || (unsigned)element > GROUP_INT64 || (unsigned)operation > GROUP_XOR ||
        !operations[element][operation])
        return trap_note(-N_EINVAL);
    int element_bytes = element == GROUP_INT ? sizeof(int) : sizeof(double);
    if (n > INT_MAX / element_bytes)
        return trap_note(-N_EINVAL);
    size_t bytes = (size_t)n * (size_t)element_bytes * (how.kind == SCAN_BEFORE ? 2 : 1);
    void *room = bytes <= sizeof few ? few : malloc(bytes);
    if (!room)
        return trap_note(-N_ENOMEM);
    const struct collect_reduction x = {elements, room, n, element_bytes, operations[element][operation]};
    int result = carry_out(g, &x, how);
    if (room != few)
        free(room);
    return result;
}

int group_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation,
                 int root)
{
    if (!is_rank(g, root))
        return trap_note(-N_EINVAL);
    return reduce(g, elements, n, element, operation, (struct reduction){TO_ONE, collect_place(g, root)});
}

int group_all_reduce(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation)
{
    return reduce(g, elements, n, element, operation, (struct reduction){.kind = TO_ALL});
}

int group_scan(struct group *g, void *elements, int n, enum group_element element, enum group_operation operation)
{
    return reduce(g, elements, n, element, operation, (struct reduction){.kind = SCAN});
}

int group_scan_before(struct group *g, void *elements, int n, enum group_element element,
                      enum group_operation operation)
{
    return reduce(g, elements, n, element, operation, (struct reduction){.kind = SCAN_BEFORE});
}

/* ---- Parts ---- */

int group_gather(struct group *g, const void *part, void *all, const int *bytes, int root)
{
    if (!is_rank(g, root))
        return trap_note(-N_EINVAL);
    return pace_gather(g, part, all, bytes, collect_place(g, root), GROUP_TYPE(group_gather));
}

int group_scatter(struct group *g, const void *all, void *part, const int *bytes, int root)
{
    if (!is_rank(g, root))
        return trap_note(-N_EINVAL);
    return pace_scatter(g, all, part, bytes, collect_place(g, root), GROUP_TYPE(group_scatter));
}

int group_all_gather(struct group *g, const void *part, void *all, const int *bytes)
{
    pace_in_step(g);
    return g->size < 1 ? trap_note(-N_EINVAL) : collect_all_gather(g, part, all, bytes, GROUP_TYPE(group_all_gather));
}

int group_exchange(struct group *g, const void *to, const int *to_bytes, void *from, const int *from_bytes)
{
    return g->size < 1 ? trap_note(-N_EINVAL)
                       : collect_exchange(g, to, to_bytes, from, from_bytes, GROUP_TYPE(group_exchange));
}
