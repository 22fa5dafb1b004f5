/* Collective communication [5] (subjects.h). */
#include <complex.h>

#include "subjects.h"

#define WORLD MPI_COMM_WORLD

enum { MOST = 16 }; /* ranks */

/* f(x) = a x + b, modulo a prime: composition is associative, and does not commute. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const int *f = in;
    int *g = inout;

    (void)type;
    for (int i = 0; i < *n; i++) {
        int a = f[2 * i] * g[2 * i] % 9973, b = (f[2 * i] * g[2 * i + 1] + f[2 * i + 1]) % 9973;

        g[2 * i] = a;
        g[2 * i + 1] = b;
    }
}

static void broadcasts(void)
{
    for (int root = 0; root < size; root++) {
        int data[5] = {0};
        MPI_Datatype gaps;

        MPI_Type_vector(3, 1, 2, MPI_INT, &gaps);
        MPI_Type_commit(&gaps);
        if (rank == root)
            for (int i = 0; i < 5; i++)
                data[i] = 10 * root + i + 1;
        MPI_Bcast(data, 1, gaps, root, WORLD);
        say_ints("", data, 5);
        MPI_Type_free(&gaps);
    }
}

static void gathers(void)
{
    int mine[2] = {rank, rank * rank}, all[2 * MOST], counts[MOST], places[MOST], root = size / 2;

    memset(all, 0xff, sizeof all);
    MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, root, WORLD);
    say_ints("gather", all, rank == root ? 2 * size : 0);
    memset(all, 0xff, sizeof all);
    for (int i = 0; i < size; i++) {
        counts[i] = i % 3;
        places[i] = 2 * (size - 1 - i);
    }
    MPI_Gatherv(mine, rank % 3, MPI_INT, all, counts, places, MPI_INT, 0, WORLD);
    say_ints("gatherv", all, rank == 0 ? 2 * size : 0);
    memset(all, 0xff, sizeof all);
    MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, WORLD);
    say_ints("allgather", all, 2 * size);
    memset(all, 0xff, sizeof all);
    MPI_Allgatherv(mine, rank % 3, MPI_INT, all, counts, places, MPI_INT, WORLD);
    say_ints("allgatherv", all, 2 * size);
}

static void scatters(void)
{
    int all[3 * MOST], mine[3] = {-1, -1, -1}, counts[MOST], places[MOST];

    for (int i = 0; i < 3 * size; i++)
        all[i] = 100 * rank + i;
    MPI_Scatter(all, 3, MPI_INT, mine, 3, MPI_INT, size - 1, WORLD);
    say_ints("scatter", mine, 3);
    for (int i = 0; i < size; i++) {
        counts[i] = (i + 1) % 3;
        places[i] = i; /* parts overlap, which a sender may */
    }
    memset(mine, 0xff, sizeof mine);
    MPI_Scatterv(all, counts, places, MPI_INT, mine, (rank + 1) % 3, MPI_INT, 0, WORLD);
    say_ints("scatterv", mine, 3);
}

static void all_to_all(void)
{
    int out[2 * MOST * MOST], in[2 * MOST * MOST], give[MOST], take[MOST], from[MOST], to[MOST], n = 0, m = 0;

    for (int i = 0; i < size; i++)
        out[i] = 10 * rank + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, WORLD);
    say_ints("", in, size);
    for (int i = 0; i < size; i++) {
        give[i] = (rank + i) % 4;
        take[i] = (rank + i) % 4;
        from[i] = n;
        to[i] = m;
        for (int k = 0; k < give[i]; k++)
            out[n++] = 100 * rank + 10 * i + k;
        m += take[i] + 1;
    }
    memset(in, 0, sizeof in);
    MPI_Alltoallv(out, give, from, MPI_INT, in, take, to, MPI_INT, WORLD);
    say_ints("v", in, m);
}

static void all_to_all_types(void)
{
    int give[MOST], from[MOST], to[MOST], out[2 * MOST], in[2 * MOST];
    MPI_Datatype ints[MOST], pairs[MOST], pair;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < size; i++) {
        give[i] = 2;
        ints[i] = MPI_INT;
        pairs[i] = pair;
        from[i] = 8 * (size - 1 - i);
        to[i] = 8 * i;
        out[2 * i] = rank + 50 * i;
        out[2 * i + 1] = -rank;
    }
    int ones[MOST];
    for (int i = 0; i < size; i++)
        ones[i] = 1;
    MPI_Alltoallw(out, give, from, ints, in, ones, to, pairs, WORLD);
    say_ints("", in, 2 * size);
    MPI_Type_free(&pair);
}

static void operations(void)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
                          MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    int mine[3] = {rank % 3 + 1, rank % 2, 5 ^ rank}, all[3];
    double d[2] = {rank + 0.5, -rank}, sum[2];

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        MPI_Allreduce(mine, all, 3, MPI_INT, ops[i], WORLD);
        say_ints("", all, 3);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Reduce(d, sum, 2, MPI_DOUBLE, ops[i], size - 1, WORLD);
        if (rank == size - 1)
            say(" %.3f %.3f", sum[0], sum[1]);
    }
}

static void places_of_extremes(void)
{
    struct {
        double value;
        int at;
    } mine[2] = {{(rank * 7) % 5, rank}, {-(rank % 3), rank + 100}}, all[2];
    int pair[2] = {rank % 2, rank}, both[2];

    MPI_Allreduce(mine, all, 2, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD);
    say(" %.0f at %d, %.0f at %d;", all[0].value, all[0].at, all[1].value, all[1].at);
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE_INT, MPI_MINLOC, WORLD);
    say(" %.0f at %d, %.0f at %d;", all[0].value, all[0].at, all[1].value, all[1].at);
    MPI_Reduce(pair, both, 1, MPI_2INT, MPI_MAXLOC, 0, WORLD);
    say_ints("", both, rank == 0 ? 2 : 0);
}

static void not_commuting(void)
{
    int mine[4] = {rank + 2, 3 * rank + 1, 7 - rank, rank}, all[4] = {0}, commutes;
    MPI_Datatype pair;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    MPI_Op_commutative(op, &commutes);
    say(" %d", commutes);
    for (int root = 0; root < size; root++) {
        MPI_Reduce(mine, all, 2, pair, op, root, WORLD);
        say_ints("", all, rank == root ? 4 : 0);
    }
    MPI_Allreduce(mine, all, 2, pair, op, WORLD);
    say_ints("all", all, 4);
    MPI_Scan(mine, all, 2, pair, op, WORLD);
    say_ints("scan", all, 4);
    MPI_Exscan(mine, all, 2, pair, op, WORLD);
    say_ints("exscan", all, rank > 0 ? 4 : 0);
    MPI_Reduce_local(mine, all, 2, pair, op);
    say_ints("local", all, rank > 0 ? 4 : 0);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

static void shared_out(void)
{
    int mine[2 * MOST], part[4] = {0}, counts[MOST], n = 0;

    for (int i = 0; i < 2 * size; i++)
        mine[i] = rank + i * i;
    MPI_Reduce_scatter_block(mine, part, 2, MPI_INT, MPI_SUM, WORLD);
    say_ints("block", part, 2);
    for (int i = 0; i < size; i++)
        n += counts[i] = i % 3;
    memset(part, 0, sizeof part);
    MPI_Reduce_scatter(mine, part, counts, MPI_INT, MPI_MAX, WORLD);
    say_ints("v", part, counts[rank]);
}

static void in_place(void)
{
    int all[MOST], sum[2] = {rank, 1};

    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT, MPI_SUM, WORLD);
    say_ints("allreduce", sum, 2);
    all[rank] = rank + 40;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
    say_ints("allgather", all, size);
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    else
        MPI_Gather(&sum[1], 1, MPI_INT, NULL, 0, MPI_INT, 0, WORLD);
    say_ints("gather", all, rank == 0 ? size : 0);
    for (int i = 0; i < size; i++)
        all[i] = 10 * rank + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
    say_ints("alltoall", all, size);
    sum[0] = rank + 1;
    MPI_Scan(MPI_IN_PLACE, sum, 1, MPI_INT, MPI_PROD, WORLD);
    say(" scan %d", sum[0]);
}

static void scans(void)
{
    double d[2] = {rank + 1, 0.5 * rank}, up[2] = {0, 0};
    int n = 1 << rank, before = -1;

    MPI_Scan(d, up, 2, MPI_DOUBLE, MPI_SUM, WORLD);
    say(" %.1f %.1f", up[0], up[1]);
    MPI_Exscan(&n, &before, 1, MPI_INT, MPI_BOR, WORLD);
    say(" %d", rank > 0 ? before : 0);
}

static void other_elements(void)
{
    double complex z = rank + 1 + 2 * I, product;
    unsigned char byte = (unsigned char)(0x80 >> rank % 8), bytes;
    long long big = 1ll << (30 + rank), sum;
    float f = 0.25f * (float)rank, least;
    _Bool is = rank == 1, any;

    MPI_Allreduce(&z, &product, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, WORLD);
    MPI_Allreduce(&byte, &bytes, 1, MPI_BYTE, MPI_BOR, WORLD);
    MPI_Allreduce(&big, &sum, 1, MPI_LONG_LONG, MPI_SUM, WORLD);
    MPI_Allreduce(&f, &least, 1, MPI_FLOAT, MPI_MAX, WORLD);
    MPI_Allreduce(&is, &any, 1, MPI_C_BOOL, MPI_LOR, WORLD);
    say(" %.0f+%.0fi %x %lld %.2f %d", creal(product), cimag(product), bytes, sum, least, any);
}

static void at_the_same_time(void)
{
    int a = rank == 0 ? 77 : 0, sum = 0, most = 0, all[MOST], mine = rank + 1, up = 0, in[MOST], out[MOST], part = 0,
        last = -1;
    MPI_Request r[9];

    for (int i = 0; i < size; i++)
        out[i] = rank * 10 + i;
    MPI_Ibcast(&a, 1, MPI_INT, 0, WORLD, &r[0]);
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, WORLD, &r[1]);
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, WORLD, &r[2]);
    MPI_Iscan(&mine, &up, 1, MPI_INT, MPI_SUM, WORLD, &r[3]);
    MPI_Ibarrier(WORLD, &r[4]);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, WORLD, &r[5]);
    MPI_Ireduce_scatter_block(out, &part, 1, MPI_INT, MPI_SUM, WORLD, &r[6]);
    MPI_Ibcast(&last, 1, MPI_INT, size - 1, WORLD, &r[7]);
    MPI_Ireduce(&mine, &most, 1, MPI_INT, MPI_MAX, 0, WORLD, &r[8]);
    for (int i = 8; i >= 0; i--)
        MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    say(" %d %d %d %d %d", a, sum, up, part, last);
    say_ints("", all, size);
    say_ints("", in, size);
    say(" %d", most);
}

static void broadcasts_in_turn(void)
{
    int data[MOST] = {0}, sum;
    MPI_Request r[MOST];

    data[rank] = 3 * rank + 1;
    for (int root = 0; root < size; root++)
        MPI_Ibcast(&data[root], 1, MPI_INT, root, WORLD, &r[root]);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD); /* a blocking one among them */
    for (int root = size - 1; root >= 0; root--)
        MPI_Wait(&r[root], MPI_STATUS_IGNORE);
    say_ints("", data, size);
    say(" %d", sum);
}

static void long_data(void)
{
    enum { N = 20000 };
    static double a[N], b[N];
    double check = 0;

    for (int i = 0; i < N; i++)
        a[i] = (i * 31 + rank) % 1000;
    MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, WORLD);
    for (int i = 0; i < N; i++)
        check += b[i] * (i % 13);
    MPI_Bcast(a, N, MPI_DOUBLE, size - 1, WORLD);
    say(" %.0f %.0f %.0f", check, a[0], a[N - 1]);
}

const struct subject collectives[] = {{"broadcasts", broadcasts},
                                      {"gathers", gathers},
                                      {"scatters", scatters},
                                      {"all to all", all_to_all},
                                      {"all to all, by types", all_to_all_types},
                                      {"operations", operations},
                                      {"MINLOC, MAXLOC", places_of_extremes},
                                      {"not commuting", not_commuting},
                                      {"reduce and scatter", shared_out},
                                      {"in place", in_place},
                                      {"scans", scans},
                                      {"other elements", other_elements},
                                      {"at the same time", at_the_same_time},
                                      {"broadcasts in turn", broadcasts_in_turn},
                                      {"long data", long_data},
                                      {NULL, NULL}};
