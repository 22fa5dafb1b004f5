/*
 * <npara_prt.h>: global operations of all nodes, built on the collective operations of libpio/group.
 *
 * They cannot return an error, as every value is a possible result. So a node that cannot complete one, because a
 * message was lost, prints a line and aborts.
 */
#include <npara_prt.h>
#include <n_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "libpio/group/pacing.h"

static void check(struct group *g, const char *name, int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "%s: node %d and node %d: %s\n", name, g->rank, g->failed, n_strerror(result));
    abort();
}

static void over_all(const char *name, void *value, void *room, int bytes, collect_operation *operation, int type)
{
    struct group all;

    collect_all(&all, CONTEXT_GROUP);
    check(&all, name,
          collect_all_reduce(&all, &(struct collect_reduction){value, room, 1, bytes, operation},
                             collect_type(&all, type)));
}

#define GLOBAL(name, type, operation)                                          \
    type name(type value)                                                      \
    {                                                                          \
        type other;                                                            \
                                                                               \
        over_all(#name, &value, &other, sizeof value, operation, TYPE_##name); \
        return value;                                                          \
    }

GLOBAL(isumn, int, collect_sum_ints)
GLOBAL(imaxn, int, collect_greatest_ints)
GLOBAL(iminn, int, collect_least_ints)
GLOBAL(dsumn, double, collect_sum_doubles)
GLOBAL(dmaxn, double, collect_greatest_doubles)
GLOBAL(dminn, double, collect_least_doubles)

void nbrdcst(void *buf, int n)
{
    static struct group paced; /* only the count of what all nodes have ahead; a domain has its own */
    struct group all, *domain = endpoint_domain ? endpoint_domain() : NULL, *g = domain ? domain : &paced;

    collect_all(&all, CONTEXT_GROUP);
    pace_copy(&all, g);
    int result = pace_broadcast(&all, buf, n, 0, collect_type(&all, TYPE_nbrdcst));
    pace_copy(g, &all);
    check(&all, "nbrdcst", result);
}
