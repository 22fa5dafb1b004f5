/*
 * <npara_prt.h>: global operations of all nodes, built on groups (group.h).
 *
 * Their results leave no place for an error. A node that cannot complete one, since a message was lost, says so and
 * aborts: whatever it returned would be taken for the result.
 */
#include <npara_prt.h>
#include <n_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "images/lib/group.h"

#define CALL_TYPE(name) TYPE_##name,
enum { GROUP_CALLS(CALL_TYPE) };
#undef CALL_TYPE

static void check(struct group *g, const char *name, int result)
{
    if (result >= 0)
        return;
    fprintf(stderr, "%s: node %d and node %d: %s\n", name, g->rank, g->failed, n_strerror(result));
    abort();
}

/* A sum of ints that is too large has the low 32 bits of the true one. */
#define OPERATION(name, type, expression)                                  \
    static void name(void *into, const void *low, const void *high, int n) \
    {                                                                      \
        for (int i = 0; i < n; i++) {                                      \
            type a = ((const type *)low)[i], b = ((const type *)high)[i];  \
            ((type *)into)[i] = expression;                                \
        }                                                                  \
    }

OPERATION(sum_ints, int, (int)((unsigned)a + (unsigned)b))
OPERATION(max_ints, int, b > a ? b : a)
OPERATION(min_ints, int, b < a ? b : a)
OPERATION(sum_doubles, double, a + b)
OPERATION(max_doubles, double, b > a ? b : a)
OPERATION(min_doubles, double, b < a ? b : a)

static void over_all(const char *name, void *value, void *room, int bytes, group_operation *operation, int type)
{
    struct group all;

    group_all(&all, CONTEXT_GROUP);
    check(&all, name, group_reduce(&all, value, room, 1, bytes, operation, type));
}

#define GLOBAL(name, type, operation)                                          \
    type name(type value)                                                      \
    {                                                                          \
        type other;                                                            \
                                                                               \
        over_all(#name, &value, &other, sizeof value, operation, TYPE_##name); \
        return value;                                                          \
    }

GLOBAL(isumn, int, sum_ints)
GLOBAL(imaxn, int, max_ints)
GLOBAL(iminn, int, min_ints)
GLOBAL(dsumn, double, sum_doubles)
GLOBAL(dmaxn, double, max_doubles)
GLOBAL(dminn, double, min_doubles)

void nbrdcst(void *buf, int n)
{
    struct group all;

    group_all(&all, CONTEXT_GROUP);
    check(&all, "nbrdcst", group_broadcast(&all, buf, n, 0, TYPE_nbrdcst));
}
