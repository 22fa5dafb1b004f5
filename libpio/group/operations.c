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
/* Sums and products of integers wrap. */
#define ARITHMETIC(elements, type, unsigned_type)                                            \
    OPERATION(collect_sum_##elements, type, (type)((unsigned_type)a + (unsigned_type)b))     \
    OPERATION(collect_product_##elements, type, (type)((unsigned_type)a * (unsigned_type)b)) \
    OPERATION(collect_least_##elements, type, b < a ? b : a)                                 \
    OPERATION(collect_greatest_##elements, type, b > a ? b : a)
#define BITWISE(elements, type)                   \
    OPERATION(collect_and_##elements, type, a &b) \
    OPERATION(collect_or_##elements, type, a | b) \
    OPERATION(collect_xor_##elements, type, a ^ b)

ARITHMETIC(ints, int, unsigned)
ARITHMETIC(int64s, int64_t, uint64_t)
ARITHMETIC(doubles, double, double)
BITWISE(ints, int)
BITWISE(int64s, int64_t)
