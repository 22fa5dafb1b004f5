/*
 * Random collective calls on random parts of all ranks, in random order there, blocking and not: every rank draws all
 * cases, and knows what each member gives, so it knows what it has to get.
 *
 *     random_collectives CASES SEED
 */
#include "check_mpi.h"

enum { COUNT_MAX = 40, MEMBERS_MAX = 64, ITEMS = COUNT_MAX * MEMBERS_MAX, WIDE = 3 };

enum call { BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, GATHERV, SCATTERV, ALLGATHERV, ALLTOALLV, REDUCE_SCATTER, CALLS };

/* x -> multiplier x + added, of which two make one that is not that of the two in the other order. */
struct affine {
    uint32_t multiplier, added;
};

struct play {
    uint64_t state;
    enum call call;
    int is_nonblocking, is_spread, operation, root, count[MEMBERS_MAX], in_place;
    MPI_Comm comm;
    int members, me, seed;
};

static MPI_Op compose;
static MPI_Datatype pair, spread; /* spread: one in WIDE */
static struct affine from[ITEMS * WIDE], to[ITEMS * WIDE];

static void apply(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const struct affine *first = in;
    struct affine *then = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        then[i] = (struct affine){first[i].multiplier * then[i].multiplier,
                                  then[i].multiplier * first[i].added + then[i].added};
}

/* What a member has as its i-th item. */
static struct affine item(const struct play *p, int member, int i)
{
    uint64_t s = (uint64_t)p->seed * 1000003 + (uint64_t)member * 4099 + (uint64_t)i;
    uint32_t first = draw(&s);

    return (struct affine){first, draw(&s)};
}

static struct affine combined(const struct play *p, struct affine a, struct affine b)
{
    struct affine sum = b;
    int n = 1;

    if (p->operation == 0)
        apply(&a, &sum, &n, NULL);
    else if (p->operation == 1)
        sum = (struct affine){a.multiplier + b.multiplier, a.added + b.added};
    else
        sum = (struct affine){a.multiplier ^ b.multiplier, a.added ^ b.added};
    return sum;
}

/* Of members 0 to last, item i. */
static struct affine reduced(const struct play *p, int last, int i)
{
    struct affine sum = item(p, 0, i);

    for (int m = 1; m <= last; m++)
        sum = combined(p, sum, item(p, m, i));
    return sum;
}

static int step_of(const struct play *p)
{
    return p->is_spread ? WIDE : 1;
}

static void expect(const struct play *p, int place, struct affine right)
{
    const struct affine *got = &to[place * step_of(p)];

    check_equal(got->multiplier, right.multiplier);
    check_equal(got->added, right.added);
}

/* ---- The calls ---- */

static MPI_Request request;

/* Either form of a call, whose arguments come as a list. */
#define EITHER(blocking, nonblocking, ...) \
    (p->is_nonblocking ? MPI_##nonblocking(__VA_ARGS__, p->comm, &request) : MPI_##blocking(__VA_ARGS__, p->comm))

static void finish(const struct play *p)
{
    if (p->is_nonblocking)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Displacements of parts one after the other; returns items of all. */
static int place_parts(const struct play *p, int displs[])
{
    int sum = 0;

    for (int m = 0; m < p->members; m++) {
        displs[m] = sum;
        sum += p->count[m];
    }
    return sum;
}

static void fill_own(const struct play *p, int n)
{
    for (int i = 0; i < n; i++)
        from[i * step_of(p)] = item(p, p->me, i);
}

static void play_reduction(const struct play *p)
{
    static const struct affine untouched = {77, 78};
    MPI_Datatype type = p->operation == 0 ? pair : MPI_UINT32_T;
    MPI_Op op = p->operation == 0 ? compose : p->operation == 1 ? MPI_SUM : MPI_BXOR;
    int n = p->count[0], items = p->operation == 0 ? n : 2 * n;

    fill_own(p, n);
    to[0] = untouched;
    if (p->call == REDUCE)
        EITHER(Reduce, Ireduce, from, to, items, type, op, p->root);
    else if (p->call == ALLREDUCE && p->in_place) {
        memcpy(to, from, (size_t)n * sizeof *to);
        EITHER(Allreduce, Iallreduce, MPI_IN_PLACE, to, items, type, op);
    } else if (p->call == ALLREDUCE)
        EITHER(Allreduce, Iallreduce, from, to, items, type, op);
    else if (p->call == SCAN)
        EITHER(Scan, Iscan, from, to, items, type, op);
    else
        EITHER(Exscan, Iexscan, from, to, items, type, op);
    finish(p);
    for (int i = 0; i < n; i++)
        if (p->call == ALLREDUCE || (p->call == REDUCE && p->me == p->root))
            expect(p, i, reduced(p, p->members - 1, i));
        else if (p->call == SCAN || (p->call == EXSCAN && p->me > 0))
            expect(p, i, reduced(p, p->call == SCAN ? p->me : p->me - 1, i));
}

static void play_reduce_scatter(const struct play *p)
{
    MPI_Datatype type = p->operation == 0 ? pair : MPI_UINT32_T;
    MPI_Op op = p->operation == 0 ? compose : p->operation == 1 ? MPI_SUM : MPI_BXOR;
    int displs[MEMBERS_MAX], counts[MEMBERS_MAX], n = place_parts(p, displs);

    for (int m = 0; m < p->members; m++)
        counts[m] = p->operation == 0 ? p->count[m] : 2 * p->count[m];
    fill_own(p, n);
    EITHER(Reduce_scatter, Ireduce_scatter, from, to, counts, type, op);
    finish(p);
    for (int i = 0; i < p->count[p->me]; i++)
        expect(p, i, reduced(p, p->members - 1, displs[p->me] + i));
}

static void play_movement(const struct play *p)
{
    MPI_Datatype t = p->is_spread ? spread : pair;
    int displs[MEMBERS_MAX], counts[MEMBERS_MAX], all = place_parts(p, displs), own = p->count[p->me];

    if (p->call == BCAST) {
        for (int i = 0; i < p->count[0]; i++)
            to[i * step_of(p)] = item(p, p->me, i);
        EITHER(Bcast, Ibcast, to, p->count[0], t, p->root);
        finish(p);
        for (int i = 0; i < p->count[0]; i++)
            expect(p, i, item(p, p->root, i));
    } else if (p->call == SCATTERV) {
        fill_own(p, all);
        EITHER(Scatterv, Iscatterv, from, p->count, displs, t, to, own, t, p->root);
        finish(p);
        for (int i = 0; i < own; i++)
            expect(p, i, item(p, p->root, displs[p->me] + i));
    } else if (p->call == ALLTOALLV) { /* member m gives count[m] to each */
        int froms[MEMBERS_MAX];

        for (int m = 0; m < p->members; m++) {
            counts[m] = own;
            froms[m] = m * own;
        }
        fill_own(p, own * p->members);
        EITHER(Alltoallv, Ialltoallv, from, counts, froms, t, to, p->count, displs, t);
        finish(p);
        for (int m = 0; m < p->members; m++)
            for (int i = 0; i < p->count[m]; i++)
                expect(p, displs[m] + i, item(p, m, p->me * p->count[m] + i));
    } else {
        fill_own(p, own);
        if (p->call == GATHERV)
            EITHER(Gatherv, Igatherv, from, own, t, to, p->count, displs, t, p->root);
        else
            EITHER(Allgatherv, Iallgatherv, from, own, t, to, p->count, displs, t);
        finish(p);
        for (int m = 0; m < p->members && (p->call == ALLGATHERV || p->me == p->root); m++)
            for (int i = 0; i < p->count[m]; i++)
                expect(p, displs[m] + i, item(p, m, i));
    }
}

/* ---- Cases ---- */

/* Draws a case, of which each part of the ranks has its own members. */
static void draw_case(struct play *p)
{
    int colour = 0, key = 0, parts = 1 + (int)(draw(&p->state) % 3);

    for (int r = 0; r < size; r++) {
        int c = (int)(draw(&p->state) % (unsigned)parts), k = (int)(draw(&p->state) % 100);

        if (r == rank) {
            colour = c;
            key = k;
        }
    }
    MPI_Comm_split(MPI_COMM_WORLD, colour, key, &p->comm);
    MPI_Comm_size(p->comm, &p->members);
    MPI_Comm_rank(p->comm, &p->me);
    p->call = (enum call)(draw(&p->state) % CALLS);
    p->is_nonblocking = (int)(draw(&p->state) % 2);
    p->operation = (int)(draw(&p->state) % 3);
    p->in_place = (int)(draw(&p->state) % 2);
    p->is_spread = (int)(draw(&p->state) % 2);
    p->root = (int)(draw(&p->state) % (unsigned)p->members);
    for (int m = 0; m < MEMBERS_MAX; m++)
        p->count[m] = (int)(draw(&p->state) % 4) ? (int)(draw(&p->state) % COUNT_MAX) : 0;
    p->seed = (int)(draw(&p->state) % 1000000);
}

static void play(struct play *p)
{
    draw_case(p);
    if (p->call == REDUCE_SCATTER || (p->call >= REDUCE && p->call <= EXSCAN)) {
        p->is_spread = 0;
        if (p->call == REDUCE_SCATTER)
            play_reduce_scatter(p);
        else
            play_reduction(p);
    } else {
        play_movement(p);
    }
    MPI_Comm_free(&p->comm);
}

int main(int argc, char **argv)
{
    int cases = argc > 1 ? atoi(argv[1]) : 100;
    struct play p = {.state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1};

    begin(&argc, &argv);
    check(size <= MEMBERS_MAX);
    MPI_Op_create(apply, 0, &compose);
    MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_resized(pair, 0, WIDE * sizeof(struct affine), &spread);
    MPI_Type_commit(&spread);
    for (int i = 0; i < cases; i++)
        play(&p);
    MPI_Type_free(&pair);
    MPI_Type_free(&spread);
    MPI_Op_free(&compose);
    if (rank == 0)
        printf("%d cases, %u at last\n", cases, draw(&p.state));
    end("random_collectives");
    return 0;
}
