/*
 * Random types of all constructors [4.1], against maps that are written down entry by entry, as the standard defines
 * them: size, extents, what is packed and unpacked, envelopes and contents, and messages between two types.
 *
 *     random_types ROUNDS SEED
 */
#include "check_mpi.h"

enum { ENTRIES_MAX = 3000, DEPTH = 4, PARTS = 4, SPAN = 400000 };

struct entry {
    long at;
    int size;
};

struct map { /* a type, entry by entry */
    int n, align;
    struct entry *entry;
    long lb, ub;
    int has_lb, has_ub, has_bounds;
    MPI_Datatype type;
};

static char memory[2 * SPAN], other[2 * SPAN], packed[32 * ENTRIES_MAX], repacked[32 * ENTRIES_MAX];

static long extent(const struct map *m)
{
    return m->ub - m->lb;
}

/* Adds `count` copies of a map, an extent apart, at a place. */
static void add(struct map *to, const struct map *m, long at, long count)
{
    for (long k = 0; k < count && m->has_bounds; k++) {
        long by = at + k * extent(m);

        for (int i = 0; i < m->n; i++)
            to->entry[to->n++] = (struct entry){m->entry[i].at + by, m->entry[i].size};
        if (!to->has_bounds || (m->has_lb && !to->has_lb) || (m->has_lb == to->has_lb && m->lb + by < to->lb))
            to->lb = m->lb + by;
        if (!to->has_bounds || (m->has_ub && !to->has_ub) || (m->has_ub == to->has_ub && m->ub + by > to->ub))
            to->ub = m->ub + by;
        to->has_lb |= m->has_lb;
        to->has_ub |= m->has_ub;
        to->has_bounds = 1;
        to->align = m->align > to->align ? m->align : to->align;
    }
}

/* Rounds the extent up to the alignment [4.1.6]. Open MPI has other bounds where some parts of a type have been resized
 * and others have not: they are taken from it. */
static void finish(struct map *m)
{
#ifdef ncube
    long over = m->has_ub || m->align == 0 ? 0 : extent(m) % m->align;

    if (over > 0)
        m->ub += m->align - over;
#else
    MPI_Aint lb, length;

    MPI_Type_get_extent(m->type, &lb, &length);
    m->lb = lb;
    m->ub = lb + length;
#endif
}

static struct map new_map(void)
{
    return (struct map){.entry = malloc((ENTRIES_MAX + 1) * sizeof(struct entry))};
}

static struct map predefined(uint64_t *state)
{
    static const struct {
        MPI_Datatype type;
        int size;
    } basics[] = {{MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}, {MPI_FLOAT, 4}, {MPI_LONG_LONG, 8}};
    size_t i = draw(state) % (sizeof basics / sizeof *basics);
    struct map m = new_map();

    m.entry[0] = (struct entry){0, basics[i].size};
    m.n = m.has_bounds = 1;
    m.ub = m.align = basics[i].size;
    m.type = basics[i].type;
    return m;
}

static long small(uint64_t *state, int most)
{
    return (long)(draw(state) % (unsigned)(most + 1));
}

static struct map draw_map(uint64_t *state, int depth);

static void drop(struct map *m, int depth)
{
    int ints, aints, types, combiner;

    MPI_Type_get_envelope(m->type, &ints, &aints, &types, &combiner);
    check((combiner == MPI_COMBINER_NAMED) == (depth == 0));
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&m->type);
    free(m->entry);
}

static struct map make_struct(uint64_t *state, int depth, struct map m)
{
    int parts = (int)small(state, PARTS), lengths[PARTS] = {0}, depths[PARTS];
    MPI_Aint at[PARTS] = {0};
    MPI_Datatype types[PARTS] = {MPI_INT};
    struct map part[PARTS];

    for (int i = 0; i < parts; i++) {
        depths[i] = (int)small(state, depth - 1);
        part[i] = draw_map(state, depths[i]);
        lengths[i] = (int)small(state, 2);
        at[i] = 16 * (small(state, 40) - 10);
        types[i] = part[i].type;
        if (m.n + lengths[i] * part[i].n <= ENTRIES_MAX)
            add(&m, &part[i], at[i], lengths[i]);
        else
            lengths[i] = 0;
    }
    check_equal(MPI_Type_create_struct(parts, lengths, at, types, &m.type), MPI_SUCCESS);
    for (int i = 0; i < parts; i++)
        drop(&part[i], depths[i]);
    return m;
}

static void make_of_one(uint64_t *state, const struct map *old, struct map *m)
{
    int count = (int)small(state, 3), length = (int)small(state, 3), lengths[4], at[4];
    long stride = small(state, 8) - 3, fits = ENTRIES_MAX / (old->n + 1);
    MPI_Aint bytes[4];

    while (count * 3 > fits)
        count--;
    for (int i = 0; i < count; i++) {
        lengths[i] = (int)small(state, 3);
        at[i] = (int)small(state, 12) - 4;
        bytes[i] = at[i] * 24;
    }
    switch (draw(state) % (old->n > 0 ? 9 : 8)) { /* what the bounds of nothing are is not the same everywhere */
    case 0:
        check_equal(MPI_Type_contiguous(count, old->type, &m->type), MPI_SUCCESS);
        add(m, old, 0, count);
        break;
    case 1:
        check_equal(MPI_Type_vector(count, length, (int)stride, old->type, &m->type), MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            add(m, old, i * stride * extent(old), length);
        break;
    case 2:
        check_equal(MPI_Type_create_hvector(count, length, stride * 16, old->type, &m->type), MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            add(m, old, i * stride * 16, length);
        break;
    case 3:
        check_equal(MPI_Type_indexed(count, lengths, at, old->type, &m->type), MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            add(m, old, at[i] * extent(old), lengths[i]);
        break;
    case 4:
        check_equal(MPI_Type_create_hindexed(count, lengths, bytes, old->type, &m->type), MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            add(m, old, bytes[i], lengths[i]);
        break;
    case 5:
        check_equal(MPI_Type_create_indexed_block(count, length, at, old->type, &m->type), MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            add(m, old, at[i] * extent(old), length);
        break;
    case 6:
        check_equal(MPI_Type_create_hindexed_block(count, length, bytes, old->type, &m->type), MPI_SUCCESS);
        for (int i = 0; i < count; i++)
            add(m, old, bytes[i], length);
        break;
    case 7:
        check_equal(MPI_Type_dup(old->type, &m->type), MPI_SUCCESS);
        add(m, old, 0, 1);
        break;
    default:
        check_equal(MPI_Type_create_resized(old->type, stride * 8, 48, &m->type), MPI_SUCCESS);
        add(m, old, 0, 1);
        m->lb = stride * 8;
        m->ub = m->lb + 48;
        m->has_lb = m->has_ub = m->has_bounds = 1;
    }
}

static struct map draw_map(uint64_t *state, int depth)
{
    if (depth == 0)
        return predefined(state);
    struct map m = new_map();
    if (draw(state) % 4 == 0) {
        m = make_struct(state, depth, m);
    } else {
        struct map old = draw_map(state, depth - 1);

        make_of_one(state, &old, &m);
        drop(&old, depth - 1);
    }
    finish(&m);
    check_equal(MPI_Type_commit(&m.type), MPI_SUCCESS);
    return m;
}

/* ---- What a type does ---- */

static long size_of(const struct map *m)
{
    long size = 0;

    for (int i = 0; i < m->n; i++)
        size += m->entry[i].size;
    return size;
}

/* The first element lies so that all of two fit. */
static long origin(const struct map *m)
{
    (void)m;
    return SPAN;
}

static int is_within(const struct map *m)
{
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < 2; k++) {
            long at = origin(m) + m->entry[i].at + k * extent(m);

            if (at < 0 || at + 32 > 2 * SPAN)
                return 0;
        }
    return 1;
}

static void check_numbers(const struct map *m)
{
    MPI_Aint lb, length, true_lb, true_length;
    MPI_Count long_size;
    long low = 0, high = 0;
    int size_told;

    for (int i = 0; i < m->n; i++) {
        low = i == 0 || m->entry[i].at < low ? m->entry[i].at : low;
        high = i == 0 || m->entry[i].at + m->entry[i].size > high ? m->entry[i].at + m->entry[i].size : high;
    }
    MPI_Type_size(m->type, &size_told);
    check_equal(size_told, size_of(m));
    MPI_Type_size_x(m->type, &long_size);
    check_equal(long_size, size_of(m));
    MPI_Type_get_extent(m->type, &lb, &length);
    if (m->n > 0) {
        check_equal(lb, m->lb);
        check_equal(length, extent(m));
    }
    MPI_Type_get_true_extent(m->type, &true_lb, &true_length);
    if (m->n > 0) {
        check_equal(true_lb, low);
        check_equal(true_length, high - low);
    }
}

static long pack_by_map(const struct map *m, const char *from, char *to)
{
    long n = 0;

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < m->n; i++) {
            memcpy(to + n, from + origin(m) + m->entry[i].at + k * extent(m), (size_t)m->entry[i].size);
            n += m->entry[i].size;
        }
    return n;
}

static int overlaps(const struct map *m)
{
    static char hit[2 * SPAN];
    int found = 0;

    for (int clear = 0; clear < 2; clear++)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < m->n; i++)
                for (int b = 0; b < m->entry[i].size; b++) {
                    char *h = &hit[origin(m) + m->entry[i].at + k * extent(m) + b];

                    found |= !clear && *h;
                    *h = !clear;
                }
    return found;
}

static void check_moves(const struct map *m)
{
    long n = pack_by_map(m, memory, packed);
    int position = 0, count;
    MPI_Request r;
    MPI_Status s;

    memset(repacked, 0, sizeof repacked);
    check_equal(MPI_Pack(memory + origin(m), 2, m->type, repacked, sizeof repacked, &position, MPI_COMM_WORLD),
                MPI_SUCCESS);
    check_equal(position, n);
    check(memcmp(packed, repacked, (size_t)n) == 0);
    /* Sent as it is, received as bytes, and the other way round. */
    MPI_Irecv(repacked, sizeof repacked, MPI_BYTE, 0, 1, MPI_COMM_SELF, &r);
    memset(repacked, 0, (size_t)n);
    MPI_Send(memory + origin(m), 2, m->type, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&r, &s);
    check(memcmp(packed, repacked, (size_t)n) == 0);
    MPI_Get_count(&s, MPI_BYTE, &count);
    check_equal(count, n);
    if (overlaps(m))
        return;
    memset(other, 0x55, sizeof other);
    check_equal(MPI_Sendrecv(packed, (int)n, MPI_BYTE, (rank + 1) % size, 2, other + origin(m), 2, m->type,
                             (rank + size - 1) % size, 2, MPI_COMM_WORLD, &s),
                MPI_SUCCESS);
    MPI_Get_count(&s, m->type, &count);
    check(n == 0 || count == 2);
    MPI_Get_elements(&s, m->type, &count);
    check_equal(count, 2 * m->n);
    check_equal(pack_by_map(m, other, repacked), n);
    check(memcmp(packed, repacked, (size_t)n) == 0);
    for (int i = 0; i < m->n; i++) /* nothing else has changed */
        for (int k = 0; k < 2; k++)
            memset(other + origin(m) + m->entry[i].at + k * extent(m), 0x55, (size_t)m->entry[i].size);
    for (long i = 0; i < 2 * SPAN; i++)
        check(other[i] == 0x55);
}

/* ---- Arrays ---- */

static void check_array(MPI_Datatype type, const char *in_part, const int sizes[2], int order)
{
    int position = 0, n = 0, bytes;
    MPI_Aint lb, length;

    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lb, &length);
    check(lb == 0 && length == sizes[0] * sizes[1] * 4);
    MPI_Pack(memory, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    for (int a = 0; a < sizes[order == MPI_ORDER_C ? 0 : 1]; a++)
        for (int b = 0; b < sizes[order == MPI_ORDER_C ? 1 : 0]; b++) {
            int row = order == MPI_ORDER_C ? a : b, column = order == MPI_ORDER_C ? b : a;
            int at = a * sizes[order == MPI_ORDER_C ? 1 : 0] + b;

            if (in_part[row * sizes[1] + column])
                check(memcmp(packed + 4 * n++, memory + 4 * at, 4) == 0);
        }
    check_equal(position, 4 * n);
    MPI_Type_size(type, &bytes);
    check_equal(bytes, 4 * n);
    MPI_Type_free(&type);
}

static void arrays(uint64_t *state)
{
    int sizes[2] = {1 + (int)small(state, 12), 1 + (int)small(state, 12)}, sub[2], start[2];
    int order = draw(state) % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    char in_part[13 * 13];
    MPI_Datatype type;

    for (int d = 0; d < 2; d++) {
        sub[d] = 1 + (int)small(state, sizes[d] - 1);
        start[d] = (int)small(state, sizes[d] - sub[d]);
    }
    for (int i = 0; i < sizes[0] * sizes[1]; i++) {
        int row = i / sizes[1], column = i % sizes[1];

        in_part[i] = row >= start[0] && row < start[0] + sub[0] && column >= start[1] && column < start[1] + sub[1];
    }
    check_equal(MPI_Type_create_subarray(2, sizes, sub, start, order, MPI_INT, &type), MPI_SUCCESS);
    check_array(type, in_part, sizes, order);

    int procs[2] = {1 + (int)small(state, 2), 1 + (int)small(state, 2)}, how[2], arg[2], length[2];
    int own = (int)small(state, procs[0] * procs[1] - 1), place[2] = {own / procs[1], own % procs[1]};
    for (int d = 0; d < 2; d++) {
        how[d] = draw(state) % 2 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
        arg[d] = draw(state) % 2 ? MPI_DISTRIBUTE_DFLT_DARG : 1 + (int)small(state, 3);
        int least = (sizes[d] + procs[d] - 1) / procs[d];
        if (how[d] == MPI_DISTRIBUTE_BLOCK && arg[d] != MPI_DISTRIBUTE_DFLT_DARG && arg[d] < least)
            arg[d] = least;
        length[d] = arg[d] != MPI_DISTRIBUTE_DFLT_DARG ? arg[d] : how[d] == MPI_DISTRIBUTE_BLOCK ? least : 1;
    }
    for (int i = 0; i < sizes[0] * sizes[1]; i++)
        in_part[i] = i / sizes[1] / length[0] % procs[0] == place[0] && i % sizes[1] / length[1] % procs[1] == place[1];
    check_equal(MPI_Type_create_darray(procs[0] * procs[1], own, 2, sizes, how, arg, procs, order, MPI_INT, &type),
                MPI_SUCCESS);
    check_array(type, in_part, sizes, order);
}

/* ---- Contents ---- */

static void contents(void)
{
    int lengths[2] = {2, 1}, ints, aints, types, combiner, number[3];
    MPI_Aint at[2] = {0, 64}, address[2];
    MPI_Datatype inner, old[2], type, of[2];

    MPI_Type_vector(3, 2, 4, MPI_INT, &inner);
    old[0] = MPI_DOUBLE;
    old[1] = inner;
    MPI_Type_create_struct(2, lengths, at, old, &type);
    MPI_Type_free(&inner);
    MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner);
    check(ints == 3 && aints == 2 && types == 2 && combiner == MPI_COMBINER_STRUCT);
    MPI_Type_get_contents(type, 3, 2, 2, number, address, of);
    check(number[0] == 2 && number[1] == 2 && number[2] == 1 && address[1] == 64 && of[0] == MPI_DOUBLE);
    MPI_Type_free(&type);
    MPI_Type_get_envelope(of[1], &ints, &aints, &types, &combiner);
    check(ints == 3 && aints == 0 && types == 1 && combiner == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents(of[1], 3, 0, 1, number, address, &inner);
    check(number[0] == 3 && number[1] == 2 && number[2] == 4 && inner == MPI_INT);
    MPI_Type_free(&of[1]);
    check(of[1] == MPI_DATATYPE_NULL);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    long sum = 0;

    begin(&argc, &argv);
    for (long i = 0; i < 2 * SPAN; i++)
        memory[i] = (char)(i * 7 + i / 256);
    contents();
    for (int i = 0; i < rounds; i++) {
        int depth = 1 + (int)small(&state, DEPTH - 1);
        struct map m = draw_map(&state, depth);

        check_numbers(&m);
        if (is_within(&m))
            check_moves(&m);
        sum += m.n;
        drop(&m, depth);
        arrays(&state);
    }
    if (rank == 0)
        printf("%d types, %ld\n", rounds, sum);
    end("random_types");
    return 0;
}
