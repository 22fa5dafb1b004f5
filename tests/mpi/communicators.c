/*
 * Groups and communicators [6.3, 6.4]: every set operation against what it must give, splits by color and key, messages
 * and collective calls of one communicator that no other sees, many at a time and many one after the other.
 */
#include "check_mpi.h"

enum { AT_A_TIME = 100, CYCLES = 20 };

/* Open MPI 4.1 now and then gives a receive of any message in MPI_COMM_WORLD one of another communicator. */
#ifdef ncube
#define ANY_SOURCE MPI_ANY_SOURCE
#define ANY_TAG    MPI_ANY_TAG
#else
#define ANY_SOURCE rank
#define ANY_TAG    6
#endif

static void sets(void)
{
    int ranks[64], other[64], n = 0, result, own;
    int evens[1][3] = {{0, size - 1, 2}};
    MPI_Group all, low, even, both, common, rest, again;

    check_equal(MPI_Comm_group(MPI_COMM_WORLD, &all), MPI_SUCCESS);
    MPI_Group_size(all, &n);
    check_equal(n, size);
    MPI_Group_rank(all, &own);
    check_equal(own, rank);
    for (n = 0; n < (size + 1) / 2; n++)
        ranks[n] = n;
    check_equal(MPI_Group_incl(all, n, ranks, &low), MPI_SUCCESS);
    check_equal(MPI_Group_range_incl(all, 1, evens, &even), MPI_SUCCESS);
    MPI_Group_rank(even, &own);
    check_equal(own, rank % 2 ? MPI_UNDEFINED : rank / 2);
    check_equal(MPI_Group_union(low, even, &both), MPI_SUCCESS);
    check_equal(MPI_Group_intersection(low, even, &common), MPI_SUCCESS);
    check_equal(MPI_Group_difference(low, even, &rest), MPI_SUCCESS);
    MPI_Group_size(common, &n);
    check_equal(n, ((size + 1) / 2 + 1) / 2);
    MPI_Group_size(rest, &n);
    check_equal(n, (size + 1) / 2 / 2);
    MPI_Group_size(both, &n);
    check_equal(n, (size + 1) / 2 + (size + 1) / 2 - ((size + 1) / 2 + 1) / 2);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    check_equal(MPI_Group_translate_ranks(all, size, ranks, even, other), MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        check_equal(other[i], i % 2 ? MPI_UNDEFINED : i / 2);
    for (int i = 0; i < size; i++)
        ranks[i] = size - 1 - i;
    MPI_Group_incl(all, size, ranks, &again);
    MPI_Group_compare(all, again, &result);
    check_equal(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    MPI_Group_compare(all, all, &result);
    check_equal(result, MPI_IDENT);
    MPI_Group_free(&again);
    check_equal(MPI_Group_range_excl(all, 1, evens, &again), MPI_SUCCESS);
    MPI_Group_difference(all, even, &rest);
    MPI_Group_compare(again, rest, &result);
    check_equal(result, MPI_IDENT);
    if (size == 1)
        check(again == MPI_GROUP_EMPTY);
    else
        MPI_Group_free(&again);
    MPI_Group_excl(all, 0, NULL, &again);
    MPI_Group_compare(all, again, &result);
    check_equal(result, MPI_IDENT);
    MPI_Group_free(&again);
    MPI_Group_free(&all);
    check(all == MPI_GROUP_NULL);
    MPI_Group_free(&low);
    MPI_Group_free(&both);
}

/* A message and a sum in the communicator, while one of another is on its way. */
static void use(MPI_Comm comm)
{
    int own, n, sum, value, got = -1, other = -1;
    MPI_Request r[2];
    MPI_Status s;

    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &n);
    MPI_Irecv(&other, 1, MPI_INT, ANY_SOURCE, ANY_TAG, MPI_COMM_WORLD, &r[0]);
    value = 100 + own;
    MPI_Isend(&value, 1, MPI_INT, (own + 1) % n, 5, comm, &r[1]);
    check_equal(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &s), MPI_SUCCESS);
    check_equal(got, 100 + (own + n - 1) % n);
    check_equal(s.MPI_SOURCE, (own + n - 1) % n);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    check_equal(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    check_equal(sum, n * (n - 1) / 2);
    MPI_Bcast(&own, 1, MPI_INT, n - 1, comm);
    check_equal(own, n - 1);
    check_equal(other, -1);
    MPI_Send(&value, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
    MPI_Wait(&r[0], &s);
    check_equal(s.MPI_TAG, 6);
}

static void splits(void)
{
    MPI_Comm row, rows, none, dup, of_group;
    MPI_Group even;
    int own, n, result, evens[1][3] = {{0, size - 1, 2}}, flag;

    check_equal(MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &row), MPI_SUCCESS);
    MPI_Comm_rank(row, &own);
    MPI_Comm_size(row, &n);
    check_equal(n, (size - rank % 3 + 2) / 3);
    check_equal(own, n - 1 - rank / 3); /* by descending rank */
    use(row);
    check_equal(MPI_Comm_split(row, own % 2, 0, &rows), MPI_SUCCESS);
    use(rows);
    check_equal(MPI_Comm_dup(row, &dup), MPI_SUCCESS);
    use(dup);
    MPI_Comm_compare(row, dup, &result);
    check_equal(result, MPI_CONGRUENT);
    MPI_Comm_compare(row, row, &result);
    check_equal(result, MPI_IDENT);
    MPI_Comm_compare(row, MPI_COMM_WORLD, &result);
    check_equal(result, size == 1 ? MPI_CONGRUENT : size <= 3 || n < size ? MPI_UNEQUAL : MPI_SIMILAR);
    check_equal(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 4 : MPI_UNDEFINED, 0, &none), MPI_SUCCESS);
    check((none == MPI_COMM_NULL) == (rank != 0));
    if (rank == 0)
        MPI_Comm_free(&none);
    MPI_Comm_free(&row); /* before the others, which have its lists */
    use(dup);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&rows);
    check(rows == MPI_COMM_NULL);

    MPI_Comm_group(MPI_COMM_WORLD, &even);
    MPI_Group_range_incl(even, 1, evens, &even);
    check_equal(MPI_Comm_create(MPI_COMM_WORLD, even, &of_group), MPI_SUCCESS);
    check((of_group == MPI_COMM_NULL) == (rank % 2 != 0));
    if (rank % 2 == 0) {
        use(of_group);
        MPI_Comm_test_inter(of_group, &flag);
        check(!flag);
        MPI_Comm_free(&of_group);
        check_equal(MPI_Comm_create_group(MPI_COMM_WORLD, even, 3, &of_group), MPI_SUCCESS);
        use(of_group);
        MPI_Comm_free(&of_group);
    }
    MPI_Group_free(&even);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm comm;
    int n;

    MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
    check(strcmp(name, "MPI_COMM_WORLD") == 0 && n == 14);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "halo");
    MPI_Comm_get_name(comm, name, &n);
    check(strcmp(name, "halo") == 0 && n == 4);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_size(comm, &n);
    check_equal(n, 1);
    MPI_Comm_free(&comm);
}

static void many(void)
{
    static MPI_Comm comm[AT_A_TIME];

    for (int cycle = 0; cycle < CYCLES; cycle++) {
        for (int i = 0; i < AT_A_TIME; i++)
            if (i % 10 == 0)
                check_equal(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm[i]), MPI_SUCCESS);
            else
                check_equal(MPI_Comm_dup(i % 2 ? MPI_COMM_WORLD : comm[i - 1], &comm[i]), MPI_SUCCESS);
        use(comm[cycle]);
        for (int i = 0; i < AT_A_TIME; i++)
            MPI_Comm_free(&comm[(i * 37 + cycle) % AT_A_TIME]);
    }
}

/* A communicator that is freed while a message of it is under way ends after that. */
static void freed_early(void)
{
    MPI_Comm comm;
    MPI_Request r;
    int got = -1, before = (rank + size - 1) % size;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(&got, 1, MPI_INT, before, 0, comm, &r);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, comm);
    MPI_Comm_free(&comm);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    check_equal(got, before);
}

static void errors(void)
{
    MPI_Comm comm;
    MPI_Group group, bad;
    int result, too_large = size;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    check_equal(MPI_Send(&result, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK); /* the handler is inherited */
    MPI_Error_class(MPI_Group_incl(group, 1, &too_large, &bad), &result);
    check_equal(result, MPI_ERR_RANK);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    sets();
    splits();
    names();
    many();
    freed_early();
    errors();
    end("communicators");
    return 0;
}
