/*
 * Intercommunicators [6.6]: even and odd ranks, of different numbers; messages, all collective calls, and what is made
 * of them. One rank alone has none.
 */
#include "check_mpi.h"

enum { N = 5 };

static MPI_Comm half, inter;
static int own_rank, own_size, others, is_odd;

/* Rank i of the other side in MPI_COMM_WORLD, and of this one. */
static int other(int i)
{
    return 2 * i + !is_odd;
}

static int mine(int i)
{
    return 2 * i + is_odd;
}

static void make(void)
{
    int flag, n, result;
    MPI_Group group;

    is_odd = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, is_odd, 0, &half);
    MPI_Comm_rank(half, &own_rank);
    MPI_Comm_size(half, &own_size);
    others = size - own_size;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !is_odd, 12, &inter);
    MPI_Comm_test_inter(inter, &flag);
    check(flag);
    MPI_Comm_test_inter(half, &flag);
    check(!flag);
    MPI_Comm_remote_size(inter, &n);
    check_equal(n, others);
    MPI_Comm_size(inter, &n);
    check_equal(n, own_size);
    MPI_Comm_rank(inter, &n);
    check_equal(n, own_rank);
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_size(group, &n);
    check_equal(n, others);
    MPI_Group_free(&group);
    MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
    check_equal(result, MPI_UNEQUAL);
}

static void messages(MPI_Comm comm, int tag)
{
    int got, value = 1000 + rank;
    MPI_Status s;
    MPI_Request r;

    MPI_Isend(&value, 1, MPI_INT, own_rank % others, tag, comm, &r);
    for (int i = 0; i < own_size + others; i++)
        if (i < others && i % own_size == own_rank) {
            MPI_Recv(&got, 1, MPI_INT, i, tag, comm, &s);
            check_equal(got, 1000 + other(i));
            check_equal(s.MPI_SOURCE, i);
        }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

/* The root is in the odd group. */
static int root(int i)
{
    return !is_odd ? i : own_rank == i ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(void)
{
    int data[N], all[N * 16], from = (size / 2) - 1, sum = 0;

    for (int i = 0; i < N; i++)
        data[i] = is_odd && own_rank == from ? 7 * i : -1;
    MPI_Bcast(data, N, MPI_INT, root(from), inter);
    for (int i = 0; i < N && !is_odd; i++)
        check_equal(data[i], 7 * i);
    for (int i = 0; i < N; i++)
        data[i] = 10 * rank + i;
    MPI_Gather(data, N, MPI_INT, all, N, MPI_INT, root(from), inter);
    for (int i = 0; i < others && is_odd && own_rank == from; i++)
        check_equal(all[N * i + 2], 10 * other(i) + 2);
    for (int i = 0; i < N * others && is_odd && own_rank == from; i++)
        all[i] = 3 * i;
    MPI_Scatter(all, N, MPI_INT, data, N, MPI_INT, root(from), inter);
    if (!is_odd)
        check_equal(data[1], 3 * (N * own_rank + 1));
    data[0] = rank;
    MPI_Reduce(data, all, 1, MPI_INT, MPI_SUM, root(from), inter);
    for (int i = 0; i < others; i++)
        sum += other(i);
    if (is_odd && own_rank == from)
        check_equal(all[0], sum);
}

static void of_all(void)
{
    int data[2 * 16], got[2 * 16], counts[16], sum = 0;

    for (int i = 0; i < 2 * others; i++)
        data[i] = 100 * rank + i;
    MPI_Allgather(data, 2, MPI_INT, got, 2, MPI_INT, inter);
    for (int i = 0; i < others; i++)
        check_equal(got[2 * i + 1], 100 * other(i) + 1);
    MPI_Alltoall(data, 2, MPI_INT, got, 2, MPI_INT, inter);
    for (int i = 0; i < others; i++)
        check_equal(got[2 * i], 100 * other(i) + 2 * own_rank);
    data[0] = rank + 1;
    MPI_Allreduce(data, got, 1, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < others; i++)
        sum += other(i) + 1;
    check_equal(got[0], sum);

    int all = own_size * others;
    int *elements = malloc((size_t)all * sizeof *elements), *part = malloc((size_t)all * sizeof *part);
    for (int i = 0; i < own_size; i++)
        counts[i] = others;
    for (int i = 0; i < all; i++)
        elements[i] = rank + i;
    MPI_Reduce_scatter(elements, part, counts, MPI_INT, MPI_SUM, inter);
    sum = 0;
    for (int i = 0; i < others; i++)
        sum += other(i);
    check_equal(part[0], sum + others * (own_rank * others));
    MPI_Reduce_scatter_block(elements, part, others, MPI_INT, MPI_SUM, inter);
    check_equal(part[others - 1], sum + others * (own_rank * others + others - 1));
    free(elements);
    free(part);
}

static void nonblocking(void)
{
    int value = rank, sum, all[16], expected = 0;
    MPI_Request r[3];

    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter, &r[0]);
    MPI_Ibarrier(inter, &r[1]);
    MPI_Iallgather(&value, 1, MPI_INT, all, 1, MPI_INT, inter, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < others; i++) {
        expected += other(i);
        check_equal(all[i], other(i));
    }
    check_equal(sum, expected);
}

/* Even ranks first, odd ones first, and by themselves. */
static void merge(void)
{
    for (int high = 0; high < 3; high++) {
        MPI_Comm all;
        int n, place;

        MPI_Intercomm_merge(inter, high == 2 ? 0 : is_odd == high, &all);
        MPI_Comm_size(all, &n);
        check_equal(n, size);
        MPI_Comm_rank(all, &place);
        if (high == 0) /* even ones say that they are */
            check_equal(place, is_odd ? own_rank : others + own_rank);
        else if (high == 1)
            check_equal(place, is_odd ? others + own_rank : own_rank);
        MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, all);
        check_equal(n, size * (size - 1) / 2);
        MPI_Comm_free(&all);
    }
}

static void others_made_of_it(void)
{
    MPI_Comm copy, part;
    MPI_Group group, firsts;
    int n, result;

    MPI_Comm_dup(inter, &copy);
    MPI_Comm_compare(inter, copy, &result);
    check_equal(result, MPI_CONGRUENT);
    messages(copy, 3);

    MPI_Comm_group(copy, &group);
    MPI_Group_incl(group, 1, (int[]){0}, &firsts);
    MPI_Comm_create(copy, firsts, &part);
    check((part == MPI_COMM_NULL) == (own_rank > 0));
    if (part != MPI_COMM_NULL) {
        int value = 50 + rank, got;

        MPI_Comm_remote_size(part, &n);
        check_equal(n, 1);
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, part, MPI_STATUS_IGNORE);
        check_equal(got, 50 + other(0));
        MPI_Comm_free(&part);
    }
    MPI_Group_free(&firsts);
    MPI_Group_free(&group);

    /* the last of each side by itself, the others together, in descending order */
    int color = own_rank == own_size - 1 ? MPI_UNDEFINED : 4;
    MPI_Comm_split(copy, color, -own_rank, &part);
    int both = own_size > 1 && others > 1;
    check((part == MPI_COMM_NULL) == (color == MPI_UNDEFINED || !both));
    if (part != MPI_COMM_NULL) {
        MPI_Comm_rank(part, &n);
        check_equal(n, own_size - 2 - own_rank);
        MPI_Comm_remote_size(part, &n);
        check_equal(n, others - 1);
        MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MAX, part);
        check_equal(n, other(others - 2));
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (size > 1) {
        make();
        messages(inter, 7);
        rooted();
        of_all();
        nonblocking();
        merge();
        others_made_of_it();
        check(mine(own_rank) == rank);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    end("intercomms");
    return 0;
}
