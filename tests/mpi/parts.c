/*
 * Collective calls that move parts [5.5 to 5.8], scans, and reductions whose results are shared out [5.10, 5.11]:
 * random lengths, roots and displacements, dense types and vectors on either side, in place and not. Element i of what
 * rank a has for rank b is value(a, b, i).
 *
 *     parts ROUNDS SEED
 */
#include "check_mpi.h"

enum { RANKS_MAX = 16, MOST = 40, ROOM = 4 * RANKS_MAX * (MOST + 4) };

static int from[ROOM], to[ROOM];
static int counts[RANKS_MAX][RANKS_MAX]; /* of a's part for b */
static int displs[RANKS_MAX], other_displs[RANKS_MAX];
static MPI_Datatype strided; /* an int, and a gap */

static int value(int a, int b, int i)
{
    return a * 10007 + b * 101 + i + 1;
}

/* Places for parts of so many elements, in an order of their own, with gaps. */
static void lay_out(uint64_t *state, const int *length, int *at)
{
    int next = 0;

    for (int k = 0; k < size; k++) {
        int r = (k + 3) % size; /* not in order */

        next += (int)(draw(state) % 3);
        at[r] = next;
        next += length[r];
    }
}

/* Part b of rank a, as elements `gap` ints apart. */
static void put(int *buf, int at, int a, int b, int n, int gap)
{
    for (int i = 0; i < n; i++)
        buf[(at + i) * gap] = value(a, b, i);
}

static void expect(const int *buf, int at, int a, int b, int n, int gap)
{
    for (int i = 0; i < n; i++)
        check_equal(buf[(at + i) * gap], value(a, b, i));
}

static void clear(void)
{
    memset(from, -1, sizeof from);
    memset(to, -1, sizeof to);
}

/* Gaps are as they were. */
static void expect_gaps(const int *buf, int elements)
{
    for (int i = 0; i < elements; i++)
        check_equal(buf[2 * i + 1], -1);
}

static void equal_parts(int n, int root)
{
    int in_place = n % 3 == 0;

    clear();
    put(from, 0, rank, 0, n, 2);
    if (in_place && rank == root)
        put(to, rank * n, rank, 0, n, 1);
    check_equal(
        MPI_Gather(in_place && rank == root ? MPI_IN_PLACE : from, n, strided, to, n, MPI_INT, root, MPI_COMM_WORLD),
        MPI_SUCCESS);
    for (int r = 0; r < size && rank == root; r++)
        expect(to, r * n, r, 0, n, 1);

    clear();
    for (int r = 0; r < size; r++)
        put(from, r * n, root, r, n, 1);
    check_equal(
        MPI_Scatter(from, n, MPI_INT, in_place && rank == root ? MPI_IN_PLACE : to, n, strided, root, MPI_COMM_WORLD),
        MPI_SUCCESS);
    if (!(in_place && rank == root))
        expect(to, 0, root, rank, n, 2);
    expect_gaps(to, n);

    clear();
    put(from, 0, rank, 0, n, 1);
    if (in_place)
        put(to, rank * n, rank, 0, n, 2);
    check_equal(MPI_Allgather(in_place ? MPI_IN_PLACE : from, n, MPI_INT, to, n, strided, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        expect(to, r * n, r, 0, n, 2);
    expect_gaps(to, size * n);

    clear();
    for (int r = 0; r < size; r++)
        put(in_place ? to : from, r * n, rank, r, n, 1);
    check_equal(MPI_Alltoall(in_place ? MPI_IN_PLACE : from, n, MPI_INT, to, n, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        expect(to, r * n, r, rank, n, 1);
}

static void unequal_parts(uint64_t *state, int root)
{
    int own[RANKS_MAX], come[RANKS_MAX], bytes[RANKS_MAX], other_bytes[RANKS_MAX];
    MPI_Datatype types[RANKS_MAX], other_types[RANKS_MAX];

    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++)
            counts[a][b] = draw(state) % 4 == 0 ? 0 : (int)(draw(state) % MOST);
    for (int r = 0; r < size; r++)
        come[r] = counts[r][0];
    lay_out(state, come, displs);
    clear();
    put(from, 0, rank, 0, counts[rank][0], 1);
    check_equal(MPI_Gatherv(from, counts[rank][0], MPI_INT, to, come, displs, strided, root, MPI_COMM_WORLD),
                MPI_SUCCESS);
    for (int r = 0; r < size && rank == root; r++)
        expect(to, displs[r], r, 0, come[r], 2);
    expect_gaps(to, ROOM / 2);

    clear();
    check_equal(MPI_Allgatherv(from, 0, MPI_INT, to, (int[RANKS_MAX]){0}, displs, MPI_INT, MPI_COMM_WORLD),
                MPI_SUCCESS);
    put(from, 0, rank, 0, counts[rank][0], 2);
    check_equal(MPI_Allgatherv(from, counts[rank][0], strided, to, come, displs, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        expect(to, displs[r], r, 0, come[r], 1);

    clear();
    for (int r = 0; r < size; r++)
        own[r] = counts[root][r];
    lay_out(state, own, displs);
    for (int r = 0; r < size; r++)
        put(from, displs[r], root, r, own[r], 2);
    check_equal(MPI_Scatterv(from, own, displs, strided, to, own[rank], MPI_INT, root, MPI_COMM_WORLD), MPI_SUCCESS);
    expect(to, 0, root, rank, own[rank], 1);

    clear();
    for (int r = 0; r < size; r++) {
        own[r] = counts[rank][r];
        come[r] = counts[r][rank];
    }
    lay_out(state, own, displs);
    lay_out(state, come, other_displs);
    for (int r = 0; r < size; r++)
        put(from, displs[r], rank, r, own[r], 1);
    check_equal(MPI_Alltoallv(from, own, displs, MPI_INT, to, come, other_displs, strided, MPI_COMM_WORLD),
                MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        expect(to, other_displs[r], r, rank, come[r], 2);
    expect_gaps(to, ROOM / 2);

    clear();
    for (int r = 0; r < size; r++) {
        int gap = 1 + (rank + r) % 2, other_gap = 1 + (rank + 2 * r) % 2;

        types[r] = gap == 1 ? MPI_INT : strided;
        other_types[r] = other_gap == 1 ? MPI_INT : strided;
        bytes[r] = 2 * displs[r] * (int)sizeof(int);
        other_bytes[r] = 2 * other_displs[r] * (int)sizeof(int);
        for (int i = 0; i < own[r]; i++)
            from[2 * displs[r] + i * gap] = value(rank, r, i);
    }
    if (size == 1) /* where Open MPI 4.1 moves nothing */
        return;
    check_equal(MPI_Alltoallw(from, own, bytes, types, to, come, other_bytes, other_types, MPI_COMM_WORLD),
                MPI_SUCCESS);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < come[r]; i++)
            check_equal(to[2 * other_displs[r] + i * (1 + (rank + 2 * r) % 2)], value(r, rank, i));
}

/* ---- Scans ---- */

/* 2 x 2 matrices modulo a prime: their product does not commute. */
static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int *a = in, *b = inout;

    (void)type;
    for (int i = 0; i < *len; i++, a += 4, b += 4) {
        int c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                    a[2] * b[1] + a[3] * b[3]};

        for (int k = 0; k < 4; k++)
            b[k] = c[k] % 1009;
    }
}

static void own_matrix(int r, int i, int m[4])
{
    m[0] = 1 + (r + i) % 5;
    m[1] = r % 7;
    m[2] = i % 3;
    m[3] = 2;
}

static void scans(int n)
{
    static int own[4 * MOST * RANKS_MAX], all[4 * MOST * RANKS_MAX];
    int product[4], next[4], lengths[RANKS_MAX], at = 0, total = 0, len = 1;
    MPI_Datatype matrix;
    MPI_Op op;

    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &op);
    for (int r = 0; r < size; r++) {
        lengths[r] = (r + n) % 4;
        at += r < rank ? lengths[r] : 0;
        total += lengths[r];
    }
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        for (int i = 0; i < n; i++)
            own_matrix(rank, i, own + 4 * i);
        memset(all, -1, sizeof all);
        check_equal((exclusive ? MPI_Exscan : MPI_Scan)(own, all, n, matrix, op, MPI_COMM_WORLD), MPI_SUCCESS);
        for (int i = 0; i < n && rank >= exclusive; i++) {
            own_matrix(0, i, product);
            for (int r = 1; r <= rank - exclusive; r++) {
                own_matrix(r, i, next);
                multiply(product, next, &len, &matrix);
                memcpy(product, next, sizeof product);
            }
            check(memcmp(product, all + 4 * i, sizeof product) == 0);
        }
    }
    for (int block = 0; block < 2; block++) {
        int first = block ? rank * 3 : at, count = block ? 3 : lengths[rank];

        for (int i = 0; i < (block ? 3 * size : total); i++)
            own_matrix(rank, i, own + 4 * i);
        if (block)
            check_equal(MPI_Reduce_scatter_block(own, all, 3, matrix, op, MPI_COMM_WORLD), MPI_SUCCESS);
        else
            check_equal(MPI_Reduce_scatter(own, all, lengths, matrix, op, MPI_COMM_WORLD), MPI_SUCCESS);
        for (int i = 0; i < count; i++) {
            own_matrix(0, first + i, product);
            for (int r = 1; r < size; r++) {
                own_matrix(r, first + i, next);
                multiply(product, next, &len, &matrix);
                memcpy(product, next, sizeof product);
            }
            check(memcmp(product, all + 4 * i, sizeof product) == 0);
        }
    }
    double sum[2] = {rank, 1}, more[2] = {10, 20};
    check_equal(MPI_Scan(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    check(sum[0] == rank * (rank + 1) / 2 && sum[1] == rank + 1);
    check_equal(MPI_Reduce_local(sum, more, 2, MPI_DOUBLE, MPI_SUM), MPI_SUCCESS);
    check(more[0] == sum[0] + 10 && more[1] == sum[1] + 20);
    MPI_Op_free(&op);
    MPI_Type_free(&matrix);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 6;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    begin(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &strided);
    MPI_Type_commit(&strided);
    for (int i = 0; i < rounds; i++) {
        int root = (int)(draw(&state) % (unsigned)size);

        equal_parts((int)(draw(&state) % MOST), root);
        unequal_parts(&state, root);
        scans(1 + (int)(draw(&state) % (MOST - 1)));
    }
    MPI_Type_free(&strided);
    end("parts");
    return 0;
}
