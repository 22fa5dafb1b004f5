/*
 * Broadcasts and reductions [5.4, 5.9]: every predefined operation on every type that it is for, against what each rank
 * can compute; operations of the program that do not commute; every root.
 */
#include <complex.h>
#include <float.h>
#include <stdbool.h>

#include "check_mpi.h"

enum { N = 70, LONG = 40000 };

static int of(int r, int i)
{
    return (r * 7 + i * 3) % 11 + (i % 5 == 0);
}

/* How many bytes of such a number mean something: x86's long double has padding. */
#if LDBL_MANT_DIG == 64
#define MEANT_BYTES(c_type) (_Generic((c_type)0, long double : 10, default : sizeof(c_type)))
#else
#define MEANT_BYTES(c_type) (sizeof(c_type))
#endif

/* N numbers of one type, and what the operation makes of all ranks' numbers. */
struct numbers {
    char *own, *all;
    const char *expected;
    size_t bytes, meant_bytes; /* of one */
};

static void expect_numbers(const struct numbers *x, const char *actual, int n)
{
    for (size_t i = 0; i < (size_t)n; i++)
        check(memcmp(actual + i * x->bytes, x->expected + i * x->bytes, x->meant_bytes) == 0);
}

/* Reduces them to each of some roots, and to all. */
static void reduce(const struct numbers *x, MPI_Datatype type, MPI_Op op)
{
    int step = size > 2 ? size - 1 : 1;

    memset(x->all, 0, N * x->bytes);
    for (int n = 1; n <= N; n += N - 1)
        for (int root = 0; root < size; root += step) {
            check_equal(MPI_Reduce(x->own, x->all, n, type, op, root, MPI_COMM_WORLD), MPI_SUCCESS);
            if (rank == root)
                expect_numbers(x, x->all, n);
        }
    check_equal(MPI_Allreduce(MPI_IN_PLACE, x->own, N, type, op, MPI_COMM_WORLD), MPI_SUCCESS);
    expect_numbers(x, x->own, N);
}

/* The macro has only what depends on the type: a compiler takes seconds for two hundred copies of more. */
#define TRY(c_type, mpi_type, op, combination)                                                                        \
    do {                                                                                                              \
        c_type own[N], all[N], expected[N];                                                                           \
        for (int i = 0; i < N; i++) {                                                                                 \
            own[i] = (c_type)of(rank, i);                                                                             \
            expected[i] = (c_type)of(0, i);                                                                           \
            for (int r = 1; r < size; r++) {                                                                          \
                c_type a = expected[i], b = (c_type)of(r, i);                                                         \
                expected[i] = (c_type)(combination);                                                                  \
            }                                                                                                         \
        }                                                                                                             \
        reduce(&(struct numbers){(char *)own, (char *)all, (const char *)expected, sizeof *own, MEANT_BYTES(c_type)}, \
               mpi_type, op);                                                                                         \
    } while (0)

#define TRY_ORDERED(c_type, mpi_type)              \
    TRY(c_type, mpi_type, MPI_MAX, a > b ? a : b); \
    TRY(c_type, mpi_type, MPI_MIN, a < b ? a : b); \
    TRY(c_type, mpi_type, MPI_SUM, a + b);         \
    TRY(c_type, mpi_type, MPI_PROD, a *b)
#define TRY_INTEGER(c_type, mpi_type)          \
    TRY_ORDERED(c_type, mpi_type);             \
    TRY(c_type, mpi_type, MPI_LAND, a &&b);    \
    TRY(c_type, mpi_type, MPI_LOR, a || b);    \
    TRY(c_type, mpi_type, MPI_LXOR, !a != !b); \
    TRY(c_type, mpi_type, MPI_BAND, a &b);     \
    TRY(c_type, mpi_type, MPI_BOR, a | b);     \
    TRY(c_type, mpi_type, MPI_BXOR, a ^ b)

static void predefined(void)
{
    TRY_INTEGER(signed char, MPI_SIGNED_CHAR);
    TRY_INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    TRY_INTEGER(short, MPI_SHORT);
    TRY_INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    TRY_INTEGER(int, MPI_INT);
    TRY_INTEGER(unsigned, MPI_UNSIGNED);
    TRY_INTEGER(long, MPI_LONG);
    TRY_INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    TRY_INTEGER(long long, MPI_LONG_LONG);
    TRY_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    TRY_INTEGER(int8_t, MPI_INT8_T);
    TRY_INTEGER(int16_t, MPI_INT16_T);
    TRY_INTEGER(int32_t, MPI_INT32_T);
    TRY_INTEGER(int64_t, MPI_INT64_T);
    TRY_INTEGER(uint8_t, MPI_UINT8_T);
    TRY_INTEGER(uint16_t, MPI_UINT16_T);
    TRY_INTEGER(uint32_t, MPI_UINT32_T);
    TRY_INTEGER(uint64_t, MPI_UINT64_T);
    TRY_ORDERED(float, MPI_FLOAT);
    TRY_ORDERED(double, MPI_DOUBLE);
    TRY_ORDERED(long double, MPI_LONG_DOUBLE);
    TRY_ORDERED(MPI_Aint, MPI_AINT);
    TRY_ORDERED(MPI_Offset, MPI_OFFSET);
    TRY_ORDERED(MPI_Count, MPI_COUNT);
    TRY(bool, MPI_C_BOOL, MPI_LAND, a &&b);
    TRY(bool, MPI_C_BOOL, MPI_LOR, a || b);
    TRY(bool, MPI_C_BOOL, MPI_LXOR, a != b);
    TRY(unsigned char, MPI_BYTE, MPI_BXOR, a ^ b);
    TRY(float complex, MPI_C_FLOAT_COMPLEX, MPI_SUM, a + b);
    TRY(double complex, MPI_C_DOUBLE_COMPLEX, MPI_SUM, a + b);
    TRY(double complex, MPI_C_DOUBLE_COMPLEX, MPI_PROD, a *b);
}

#define TRY_LOCATION(c_type, mpi_type)                                                                            \
    do {                                                                                                          \
        struct {                                                                                                  \
            c_type value;                                                                                         \
            int index;                                                                                            \
        } own[N], least[N], greatest[N];                                                                          \
        for (int i = 0; i < N; i++) {                                                                             \
            own[i].value = (c_type)of(rank, i);                                                                   \
            own[i].index = rank;                                                                                  \
        }                                                                                                         \
        MPI_Allreduce(own, least, N, mpi_type, MPI_MINLOC, MPI_COMM_WORLD);                                       \
        MPI_Allreduce(own, greatest, N, mpi_type, MPI_MAXLOC, MPI_COMM_WORLD);                                    \
        for (int i = 0; i < N; i++)                                                                               \
            for (int r = 0; r < size; r++) {                                                                      \
                check(of(r, i) > least[i].value || (of(r, i) == least[i].value && r >= least[i].index));          \
                check(of(r, i) < greatest[i].value || (of(r, i) == greatest[i].value && r >= greatest[i].index)); \
            }                                                                                                     \
    } while (0)

static void locations(void)
{
    TRY_LOCATION(float, MPI_FLOAT_INT);
    TRY_LOCATION(double, MPI_DOUBLE_INT);
    TRY_LOCATION(long, MPI_LONG_INT);
    TRY_LOCATION(int, MPI_2INT);
    TRY_LOCATION(short, MPI_SHORT_INT);
    TRY_LOCATION(long double, MPI_LONG_DOUBLE_INT);
}

/* ---- Operations of the program ---- */

/* Affine maps x -> a x + b, modulo a prime, of which the first is applied first: this does not commute. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int *first = in, *second = inout;

    check(*type == MPI_2INT);
    for (int i = 0; i < *len; i++, first += 2, second += 2) {
        int a = first[0] * second[0] % 10007, b = (first[1] * second[0] + second[1]) % 10007;

        second[0] = a;
        second[1] = b;
    }
}

static void functions(void)
{
    static int own[2 * LONG], all[2 * LONG];
    MPI_Op op;
    int commutes;

    check_equal(MPI_Op_create(compose, 0, &op), MPI_SUCCESS);
    check_equal(MPI_Op_commutative(op, &commutes), MPI_SUCCESS);
    check(!commutes);
    MPI_Op_commutative(MPI_SUM, &commutes);
    check(commutes);
    for (int n = 1; n <= 1000; n *= 31)
        for (int root = 0; root < size; root++) {
            for (int i = 0; i < n; i++) {
                own[2 * i] = 2 + (rank + i) % 90;
                own[2 * i + 1] = rank + 3 * i;
            }
            memset(all, 0, sizeof all);
            check_equal(MPI_Reduce(own, all, n, MPI_2INT, op, root, MPI_COMM_WORLD), MPI_SUCCESS);
            if (rank != root)
                check_equal(MPI_Allreduce(own, all, n, MPI_2INT, op, MPI_COMM_WORLD), MPI_SUCCESS);
            else
                check_equal(MPI_Allreduce(MPI_IN_PLACE, own, n, MPI_2INT, op, MPI_COMM_WORLD), MPI_SUCCESS);
            int *result = rank == root ? own : all;
            for (int i = 0; i < n; i++) {
                int a = 2 + i % 90, b = 3 * i;

                for (int r = 1; r < size; r++) {
                    b = (b * (2 + (r + i) % 90) + r + 3 * i) % 10007;
                    a = a * (2 + (r + i) % 90) % 10007;
                }
                check(result[2 * i] == a && (result[2 * i + 1] - b) % 10007 == 0);
                check(rank != root || (all[2 * i] == a && (all[2 * i + 1] - b) % 10007 == 0));
            }
        }
    check_equal(MPI_Op_free(&op), MPI_SUCCESS);
    check(op == MPI_OP_NULL);
}

/* ---- Broadcast ---- */

static void broadcasts(void)
{
    static char data[LONG];

    for (int n = 0; n <= LONG; n = 3 * n + 1)
        for (int root = 0; root < size; root++) {
            memset(data, 0, sizeof data);
            if (rank == root)
                fill(data, n, (unsigned)(root + n));
            check_equal(MPI_Bcast(data, n, MPI_CHAR, root, MPI_COMM_WORLD), MPI_SUCCESS);
            check(is_filled(data, n, (unsigned)(root + n)));
        }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    predefined();
    locations();
    functions();
    broadcasts();
    end("reductions");
    return 0;
}
