/* What reductions do with two elements (collect.h). */
#include "libpio/group/collect.h"

#define OPERATION(name, type, expression)                                 \
    void name(void *into, const void *low, const void *high, int n)       \
    {                                                                     \
        for (int i = 0; i < n; i++) {                                     \
            type a = ((const type *)low)[i], b = ((const type *)high)[i]; \
            ((type *)into)[i] = expression;                               \
        }                                                                 \
    }

OPERATION(collect_sum_ints, int, (int)((unsigned)a + (unsigned)b))
OPERATION(collect_greatest_ints, int, b > a ? b : a)
OPERATION(collect_least_ints, int, b < a ? b : a)
OPERATION(collect_and_ints, int, a &b)
OPERATION(collect_sum_doubles, double, a + b)
OPERATION(collect_greatest_doubles, double, b > a ? b : a)
OPERATION(collect_least_doubles, double, b < a ? b : a)
