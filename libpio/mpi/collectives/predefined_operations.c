/*
 * The predefined operations (operations.h). Integers are wrapped around; of equal values MPI_MINLOC and MPI_MAXLOC take
 * the lower index [5.9.4].
 */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "libpio/mpi/collectives/operations.h"

/* name_KIND(into, low, high, n): into[i] = `combination` of low[i] as a and high[i] as b. */
#define OPERATION(name, kind, c_type, combination)                                  \
    static void name##_##kind(void *into, const void *low, const void *high, int n) \
    {                                                                               \
        const c_type *x = low, *y = high;                                           \
        c_type *z = into;                                                           \
                                                                                    \
        for (int i = 0; i < n; i++) {                                               \
            c_type a = x[i], b = y[i];                                              \
            z[i] = (c_type)(combination);                                           \
        }                                                                           \
    }

#define INTEGERS(X, name, combination)     \
    X(name, INT8, int8_t, combination)     \
    X(name, UINT8, uint8_t, combination)   \
    X(name, INT16, int16_t, combination)   \
    X(name, UINT16, uint16_t, combination) \
    X(name, INT32, int32_t, combination)   \
    X(name, UINT32, uint32_t, combination) \
    X(name, INT64, int64_t, combination)   \
    X(name, UINT64, uint64_t, combination)
/* Of sums and products: signed ones as unsigned. */
#define WRAPPING(X, name, combination)     \
    X(name, UINT8, uint8_t, combination)   \
    X(name, UINT16, uint16_t, combination) \
    X(name, UINT32, uint32_t, combination) \
    X(name, UINT64, uint64_t, combination)
#define FLOATING(X, name, combination)   \
    X(name, FLOAT, float, combination)   \
    X(name, DOUBLE, double, combination) \
    X(name, LONG_DOUBLE, long double, combination)
#define COMPLEX(X, name, combination)                     \
    X(name, FLOAT_COMPLEX, float _Complex, combination)   \
    X(name, DOUBLE_COMPLEX, double _Complex, combination) \
    X(name, LONG_DOUBLE_COMPLEX, long double _Complex, combination)

INTEGERS(OPERATION, max, a > b ? a : b)
FLOATING(OPERATION, max, a > b ? a : b)
INTEGERS(OPERATION, min, a < b ? a : b)
FLOATING(OPERATION, min, a < b ? a : b)
WRAPPING(OPERATION, sum, a + b)
FLOATING(OPERATION, sum, a + b)
COMPLEX(OPERATION, sum, a + b)
WRAPPING(OPERATION, product, (uint64_t)a *b)
FLOATING(OPERATION, product, a *b)
COMPLEX(OPERATION, product, a *b)
WRAPPING(OPERATION, land, a &&b)
WRAPPING(OPERATION, lor, a || b)
WRAPPING(OPERATION, lxor, !a != !b)
OPERATION(land, BOOL, bool, a &&b)
OPERATION(lor, BOOL, bool, a || b)
OPERATION(lxor, BOOL, bool, a != b)
WRAPPING(OPERATION, band, a &b)
WRAPPING(OPERATION, bor, a | b)
WRAPPING(OPERATION, bxor, a ^ b)

#define LOCATION(kind, c_type)                                                        \
    struct pair_##kind {                                                              \
        c_type value;                                                                 \
        int index;                                                                    \
    };                                                                                \
    OPERATION(minloc, kind, struct pair_##kind,                                       \
              a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b) \
    OPERATION(maxloc, kind, struct pair_##kind, a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b)

LOCATION(FLOAT_INT, float)
LOCATION(DOUBLE_INT, double)
LOCATION(LONG_INT, long)
LOCATION(2INT, int)
LOCATION(SHORT_INT, short)
LOCATION(LONG_DOUBLE_INT, long double)

#define ENTRY(name, kind, c_type, combination) [BASIC_##kind] = name##_##kind,
#define SIGNED(name)                                                                           \
    [BASIC_INT8] = name##_UINT8, [BASIC_INT16] = name##_UINT16, [BASIC_INT32] = name##_UINT32, \
    [BASIC_INT64] = name##_UINT64,
#define LOCATIONS(name)                                                                                               \
    [BASIC_FLOAT_INT] = name##_FLOAT_INT, [BASIC_DOUBLE_INT] = name##_DOUBLE_INT, [BASIC_LONG_INT] = name##_LONG_INT, \
    [BASIC_2INT] = name##_2INT, [BASIC_SHORT_INT] = name##_SHORT_INT,                                                 \
    [BASIC_LONG_DOUBLE_INT] = name##_LONG_DOUBLE_INT,

enum { KINDS = BASIC_LONG_DOUBLE_INT + 1, OPERATIONS = 13 };

/* By the index of the handle. */
static collect_operation *const operations[OPERATIONS][KINDS] = {
    {0},
    {INTEGERS(ENTRY, max, ) FLOATING(ENTRY, max, )},
    {INTEGERS(ENTRY, min, ) FLOATING(ENTRY, min, )},
    {WRAPPING(ENTRY, sum, ) SIGNED(sum) FLOATING(ENTRY, sum, ) COMPLEX(ENTRY, sum, )},
    {WRAPPING(ENTRY, product, ) SIGNED(product) FLOATING(ENTRY, product, ) COMPLEX(ENTRY, product, )},
    {WRAPPING(ENTRY, land, ) SIGNED(land)[BASIC_BOOL] = land_BOOL},
    {WRAPPING(ENTRY, band, ) SIGNED(band)[BASIC_BYTE] = band_UINT8},
    {WRAPPING(ENTRY, lor, ) SIGNED(lor)[BASIC_BOOL] = lor_BOOL},
    {WRAPPING(ENTRY, bor, ) SIGNED(bor)[BASIC_BYTE] = bor_UINT8},
    {WRAPPING(ENTRY, lxor, ) SIGNED(lxor)[BASIC_BOOL] = lxor_BOOL},
    {WRAPPING(ENTRY, bxor, ) SIGNED(bxor)[BASIC_BYTE] = bxor_UINT8},
    {LOCATIONS(minloc)},
    {LOCATIONS(maxloc)},
};

collect_operation *mpi_predefined_operation(MPI_Op op, enum mpi_basic kind)
{
    uintptr_t index = (uintptr_t)op - (uintptr_t)MPI_OP_NULL;

    return index < OPERATIONS ? operations[index][kind] : NULL;
}
