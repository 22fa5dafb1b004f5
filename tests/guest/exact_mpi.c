/*
 * Random MPI programs: all ranks draw the same sequence of operations from a seed (messages in any order, wildcards,
 * probes, tests, collective calls of both kinds, communicators), compute for different times between them, and add up
 * what they saw, and when: the sum is each rank's last line, so that a single cycle's difference between two runs
 * shows.
 *
 *   exact_mpi MIX SEED     MIX: not used; make exact names one
 */
#include <mpi.h>

#include "exact_work.h"

enum { TURNS = 30, RANKS_MAX = 64, BYTES_MAX = 40000, AT_ONCE = 6 };

static uint64_t common;
static int rank, size;
static char out[AT_ONCE][BYTES_MAX], in[AT_ONCE][BYTES_MAX];

static int length(uint32_t drawn)
{
    return (int)(drawn % 5 == 0 ? drawn % BYTES_MAX : drawn % 3 ? 8 : drawn % 300);
}

/* Each sends to the rank `by` on, and waits in one of several ways. */
static void messages(MPI_Comm c, uint32_t drawn)
{
    int me, n, done = 0, count = (int)(drawn % AT_ONCE) + 1, by = (int)(drawn / 6 % 5), bytes = length(drawn / 30);
    MPI_Request r[2 * AT_ONCE];
    MPI_Status s;

    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    for (int i = 0; i < count; i++) {
        int source = drawn % 2 ? MPI_ANY_SOURCE : (me + n - by % n) % n;

        fill_pattern(out[i], (size_t)bytes, (uint32_t)me + (uint32_t)i);
        if (drawn % 7 < 4) {
            MPI_Irecv(in[i], BYTES_MAX, MPI_BYTE, source, i + 300 * (drawn % 3 == 0), c, &r[count + i]);
            compute();
        }
        MPI_Isend(out[i], bytes, MPI_BYTE, (me + by) % n, i + 300 * (drawn % 3 == 0), c, &r[i]);
    }
    for (int i = 0; i < count && drawn % 7 >= 4; i++) { /* no receive is there yet */
        compute();
        if (drawn % 4 == 0)
            MPI_Probe(MPI_ANY_SOURCE, i + 300 * (drawn % 3 == 0), c, &s);
        MPI_Irecv(in[i], BYTES_MAX, MPI_BYTE, MPI_ANY_SOURCE, i + 300 * (drawn % 3 == 0), c, &r[count + i]);
    }
    for (int index; done < 2 * count && drawn % 3 == 0; done++) {
        MPI_Waitany(2 * count, r, &index, &s);
        note((uint64_t)index);
    }
    if (drawn % 3 == 1)
        for (int flag = 0; !flag; note(0))
            MPI_Testall(2 * count, r, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitall(2 * count, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        check(find_wrong_byte(in[i], (size_t)bytes, (uint32_t)((me + n - by % n) % n + i)) == (size_t)bytes, "message");
}

static void collectives(MPI_Comm c, uint32_t drawn)
{
    int me, n, bytes = length(drawn), root, sum = 0, last = 0;
    MPI_Request r[4];

    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    root = (int)(drawn / 5 % (unsigned)n);
    fill_pattern(out[0], (size_t)bytes, me == root ? drawn : 0);
    MPI_Ibcast(out[0], bytes, MPI_BYTE, root, c, &r[0]);
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c, &r[1]);
    compute();
    MPI_Ibarrier(c, &r[2]);
    if (drawn % 3 == 0)
        MPI_Barrier(c);
    MPI_Ibcast(&last, 1, MPI_INT, (root + 1) % n, c, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    check(find_wrong_byte(out[0], (size_t)bytes, drawn) == (size_t)bytes, "broadcast");
    check_equal(sum, n * (n - 1) / 2);
    MPI_Allreduce(&me, &last, 1, MPI_INT, MPI_MAX, c);
    check_equal(last, n - 1);
    note((uint64_t)sum);
}

int main(int argc, char **argv)
{
    MPI_Comm c;

    check(argc >= 3, "usage: exact_mpi MIX SEED");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    common = strtoull(argv[2], NULL, 10) * 7919 + 1;
    own_choice = common * 31 + (uint64_t)rank;
    draw(&common);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    for (int i = 0; i < TURNS; i++) {
        uint32_t what = draw(&common) % 5, drawn = draw(&common) % 1000000;

        compute();
        if (what == 0) {
            MPI_Comm_free(&c);
            MPI_Comm_split(MPI_COMM_WORLD, drawn % 2 ? rank % 2 : 0, drawn % 3 ? rank : -rank, &c);
        } else if (what < 3) {
            messages(c, drawn);
        } else {
            collectives(c, drawn);
        }
        note(what);
    }
    MPI_Comm_free(&c);
    MPI_Finalize();
    printf("rank %d: %.2f us, %016llx\n", rank, amicclk(), (unsigned long long)seen);
    return 0;
}
