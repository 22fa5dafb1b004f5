/*
 * The predefined types [3.2.2, 5.9.4], in the order of their handles.
 */
#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "libpio/mpi/types/datatype.h"

struct handle_table mpi_made_types;

#define DENSE(bytes_of_data) (&(const struct mpi_layout){.bytes = (bytes_of_data)})
#define BASIC(c_type, kind)                                                                                  \
    {                                                                                                        \
        .size = sizeof(c_type), .extent = sizeof(c_type), .true_extent = sizeof(c_type), .is_dense = true,   \
        .is_committed = true, .quick_size = sizeof(c_type), .basic = (kind), .layout = DENSE(sizeof(c_type)) \
    }

/* Integers, by their size and sign. */
#define KIND_OF(c_type)                                       \
    ((enum mpi_basic)((sizeof(c_type) == 1   ? BASIC_INT8     \
                       : sizeof(c_type) == 2 ? BASIC_INT16    \
                       : sizeof(c_type) == 4 ? BASIC_INT32    \
                                             : BASIC_INT64) + \
                      ((c_type)-1 > 0)))
#define INTEGER(c_type) BASIC(c_type, KIND_OF(c_type))

/* A value and an index. */
#define PAIR(name, c_type)                                                                                      \
    struct name {                                                                                               \
        c_type value;                                                                                           \
        int index;                                                                                              \
    };                                                                                                          \
    static const struct mpi_layout name##_value = {.bytes = sizeof(c_type)};                                    \
    static const struct mpi_part name##_part[] = {{0, 0, &name##_value},                                        \
                                                  {offsetof(struct name, index), sizeof(c_type), &int_layout}}; \
    static const struct mpi_layout name##_layout = {                                                            \
        .bytes = sizeof(c_type) + sizeof(int), .parts = 2, .part = name##_part};
#define PAIR_TYPE(name, c_type, kind)                                                                           \
    {                                                                                                           \
        .size = sizeof(c_type) + sizeof(int), .extent = sizeof(struct name),                                    \
        .true_extent = offsetof(struct name, index) + sizeof(int),                                              \
        .is_dense = sizeof(struct name) == sizeof(c_type) + sizeof(int), .is_committed = true, .basic = (kind), \
        .layout = &name##_layout                                                                                \
    }

static const struct mpi_layout int_layout = {.bytes = sizeof(int)};
PAIR(float_int, float)
PAIR(double_int, double)
PAIR(long_int, long)
PAIR(two_int, int)
PAIR(short_int, short)
PAIR(long_double_int, long double)

const struct mpi_type mpi_basic_types[] = {
    {0}, /* MPI_DATATYPE_NULL */
    BASIC(char, BASIC_CHAR),
    INTEGER(signed char),
    INTEGER(unsigned char),
    BASIC(char, BASIC_BYTE), /* MPI_BYTE */
    BASIC(char, BASIC_NONE), /* MPI_PACKED */
    BASIC(wchar_t, BASIC_NONE),
    INTEGER(short),
    INTEGER(unsigned short),
    INTEGER(int),
    INTEGER(unsigned),
    INTEGER(long),
    INTEGER(unsigned long),
    INTEGER(long long),
    INTEGER(unsigned long long),
    BASIC(float, BASIC_FLOAT),
    BASIC(double, BASIC_DOUBLE),
    BASIC(long double, BASIC_LONG_DOUBLE),
    INTEGER(int8_t),
    INTEGER(int16_t),
    INTEGER(int32_t),
    INTEGER(int64_t),
    INTEGER(uint8_t),
    INTEGER(uint16_t),
    INTEGER(uint32_t),
    INTEGER(uint64_t),
    BASIC(_Bool, BASIC_BOOL),
    BASIC(float _Complex, BASIC_FLOAT_COMPLEX),
    BASIC(double _Complex, BASIC_DOUBLE_COMPLEX),
    BASIC(long double _Complex, BASIC_LONG_DOUBLE_COMPLEX),
    INTEGER(MPI_Aint),
    INTEGER(MPI_Offset),
    INTEGER(MPI_Count),
    PAIR_TYPE(float_int, float, BASIC_FLOAT_INT),
    PAIR_TYPE(double_int, double, BASIC_DOUBLE_INT),
    PAIR_TYPE(long_int, long, BASIC_LONG_INT),
    PAIR_TYPE(two_int, int, BASIC_2INT),
    PAIR_TYPE(short_int, short, BASIC_SHORT_INT),
    PAIR_TYPE(long_double_int, long double, BASIC_LONG_DOUBLE_INT),
};
_Static_assert(sizeof mpi_basic_types / sizeof *mpi_basic_types == TYPES_BASIC, "one for each handle");
