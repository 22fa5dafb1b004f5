/* Types [4] (subjects.h). Each packs a field of numbers by a type, which shows where its data lies, and in which order;
 * what is unpacked shows what is written. */
#include "subjects.h"

enum { FIELD = 64 };

/* The numbers that a type's data are, if the field's numbers are their places; then what unpacking them changes. */
static void show(MPI_Datatype t, int count, int from)
{
    int field[FIELD], packed[FIELD], position = 0, back = 0, bytes, size_in;
    MPI_Aint lb, extent, true_lb, true_extent;

    MPI_Type_commit(&t);
    MPI_Type_size(t, &size_in);
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &true_lb, &true_extent);
    say(" size %d, lb %ld, extent %ld", size_in, (long)lb, (long)extent);
    if (size_in > 0) /* of no data, it is not said */
        say(", true %ld %ld:", (long)true_lb, (long)true_extent);
    for (int i = 0; i < FIELD; i++)
        field[i] = i;
    MPI_Pack(&field[from], count, t, packed, sizeof packed, &position, MPI_COMM_WORLD);
    MPI_Pack_size(count, t, MPI_COMM_WORLD, &bytes);
    for (int i = 0; i < position / (int)sizeof(int); i++)
        say(" %d", packed[i]);
    for (int i = 0; i < FIELD; i++)
        field[i] = 0;
    MPI_Unpack(packed, position, &back, &field[from], count, t, MPI_COMM_WORLD);
    for (int i = 0; i < FIELD; i++)
        position += field[i] * i;
    say(" (%d %d)", position, bytes >= back);
    MPI_Type_free(&t);
}

static void vectors(void)
{
    MPI_Datatype t, u;

    MPI_Type_vector(3, 2, 5, MPI_INT, &t);
    show(t, 2, 0);
    MPI_Type_vector(3, 1, -4, MPI_INT, &t);
    show(t, 2, 20);
    MPI_Type_create_hvector(2, 3, 28, MPI_INT, &t);
    MPI_Type_create_hvector(2, 1, -60, t, &u);
    MPI_Type_free(&t);
    show(u, 1, 30);
    MPI_Type_vector(0, 3, 2, MPI_INT, &t);
    show(t, 4, 0);
}

static void indexed(void)
{
    MPI_Datatype t;

    MPI_Type_indexed(3, (int[]){2, 0, 3}, (int[]){9, 1, 2}, MPI_INT, &t);
    show(t, 2, 0);
    MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){40, -16}, MPI_INT, &t);
    show(t, 1, 10);
    MPI_Type_create_indexed_block(3, 2, (int[]){12, 4, 8}, MPI_INT, &t);
    show(t, 2, 0);
    MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){8, 4}, MPI_INT, &t);
    show(t, 3, 1);
}

static void structures(void)
{
    MPI_Datatype v, t;

    MPI_Type_vector(2, 1, 2, MPI_INT, &v);
    MPI_Type_create_struct(3, (int[]){1, 2, 1}, (MPI_Aint[]){32, 0, 60}, (MPI_Datatype[]){MPI_INT, v, MPI_INT}, &t);
    MPI_Type_free(&v);
    show(t, 2, 0);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){-8, 12}, (MPI_Datatype[]){MPI_INT, MPI_INT}, &t);
    show(t, 3, 8);
}

static void padding(void)
{
    struct {
        char c;
        double d;
        short s;
    } a[2] = {{'x', 1.5, 7}, {'y', 2.5, 9}}, b[2];
    MPI_Aint at[3], base, extent, lb;
    MPI_Datatype t;

    MPI_Get_address(&a[0], &base);
    MPI_Get_address(&a[0].c, &at[0]);
    MPI_Get_address(&a[0].d, &at[1]);
    MPI_Get_address(&a[0].s, &at[2]);
    for (int i = 0; i < 3; i++)
        at[i] = MPI_Aint_diff(at[i], base);
    MPI_Type_create_struct(3, (int[]){1, 1, 1}, at, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, &t);
    MPI_Type_commit(&t);
    MPI_Type_get_extent(t, &lb, &extent);
    memset(b, 0, sizeof b);
    MPI_Sendrecv(a, 2, t, rank, 0, b, 2, t, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say(" %ld: %c %.1f %d %c %.1f %d", (long)extent, b[0].c, b[0].d, b[0].s, b[1].c, b[1].d, b[1].s);
    MPI_Type_free(&t);
}

static void subarrays(void)
{
    MPI_Datatype t;

    MPI_Type_create_subarray(2, (int[]){4, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &t);
    show(t, 1, 0);
    MPI_Type_create_subarray(2, (int[]){4, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_FORTRAN, MPI_INT, &t);
    show(t, 1, 0);
    MPI_Type_create_subarray(3, (int[]){2, 3, 4}, (int[]){2, 1, 2}, (int[]){0, 2, 1}, MPI_ORDER_C, MPI_INT, &t);
    show(t, 2, 0);
}

static void distributed_arrays(void)
{
    const int kinds[3][2] = {{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                             {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                             {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE}};
    MPI_Datatype t;

    for (int i = 0; i < 3; i++) {
        int parts[2] = {size, 1}, args[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};

        if (i == 1)
            args[0] = 2;
        MPI_Type_create_darray(size, rank, 2, (int[]){8, 5}, kinds[i], args, parts,
                               i == 2 ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_INT, &t);
        show(t, 1, 0);
    }
}

static void resized(void)
{
    MPI_Datatype column, t;
    int all[40], mine[8] = {0};

    MPI_Type_vector(4, 1, 10, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &t);
    MPI_Type_free(&column);
    MPI_Type_commit(&t);
    for (int i = 0; i < 40; i++)
        all[i] = i;
    MPI_Scatter(all, 1, t, mine, 4, MPI_INT, 0, MPI_COMM_WORLD);
    say_ints("column", mine, 4);
    show(t, 3, 2);
    MPI_Type_contiguous(2, MPI_INT, &column);
    MPI_Type_create_resized(column, -4, 20, &t);
    MPI_Type_free(&column);
    show(t, 2, 1);
}

static void short_extents(void)
{
    MPI_Datatype row, t;

    MPI_Type_contiguous(4, MPI_INT, &row);
    MPI_Type_create_resized(row, 0, 2 * sizeof(int), &t); /* elements overlap: to be packed only */
    MPI_Type_free(&row);
    MPI_Type_commit(&t);
    int field[12], packed[16], at = 0;
    for (int i = 0; i < 12; i++)
        field[i] = i;
    MPI_Pack(field, 3, t, packed, sizeof packed, &at, MPI_COMM_WORLD);
    say_ints("overlapping", packed, at / (int)sizeof(int));
    MPI_Type_free(&t);
}

static void packing(void)
{
    char buffer[200], text[6] = "hello", text_back[6];
    double d = 2.25, d_back;
    int n[3] = {1, 2, 3}, n_back[3], at = 0;

    MPI_Pack(n, 3, MPI_INT, buffer, 200, &at, MPI_COMM_WORLD);
    MPI_Pack(&d, 1, MPI_DOUBLE, buffer, 200, &at, MPI_COMM_WORLD);
    MPI_Pack(text, 6, MPI_CHAR, buffer, 200, &at, MPI_COMM_WORLD);
    MPI_Bcast(buffer, 200, MPI_PACKED, size - 1, MPI_COMM_WORLD);
    say(" %d", at);
    at = 0;
    MPI_Unpack(buffer, 200, &at, n_back, 3, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, 200, &at, &d_back, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(buffer, 200, &at, text_back, 6, MPI_CHAR, MPI_COMM_WORLD);
    say_ints(" back", n_back, 3);
    say(" %.2f %s %d", d_back, text_back, at);
}

static void contents(void)
{
    int ints, aints, types_in, combiner, list[8];
    MPI_Aint places[8];
    MPI_Datatype t, parts[4];

    MPI_Type_create_struct(2, (int[]){3, 4}, (MPI_Aint[]){8, 64}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &t);
    MPI_Type_get_envelope(t, &ints, &aints, &types_in, &combiner);
    MPI_Type_get_contents(t, ints, aints, types_in, list, places, parts);
    say(" %d %d %d %d:", ints, aints, types_in, combiner == MPI_COMBINER_STRUCT);
    say_ints("", list, ints);
    say(" %ld %ld %d %d", (long)places[0], (long)places[1], parts[0] == MPI_DOUBLE, parts[1] == MPI_CHAR);
    MPI_Type_free(&t);
    MPI_Type_vector(2, 3, 4, MPI_INT, &t);
    MPI_Type_get_envelope(t, &ints, &aints, &types_in, &combiner);
    MPI_Type_get_contents(t, ints, aints, types_in, list, places, parts);
    say(" %d %d %d %d:", ints, aints, types_in, combiner == MPI_COMBINER_VECTOR);
    say_ints("", list, ints);
    MPI_Type_free(&t);
    MPI_Type_get_envelope(MPI_INT, &ints, &aints, &types_in, &combiner);
    say(" %d %d %d %d", ints, aints, types_in, combiner == MPI_COMBINER_NAMED);
}

static void duplicates(void)
{
    MPI_Datatype t, d;
    int key, *value, flag, six = 6, n;
    char name[MPI_MAX_OBJECT_NAME];

    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_set_name(t, "three");
    MPI_Type_set_attr(t, key, &six);
    MPI_Type_dup(t, &d);
    MPI_Type_get_attr(d, key, &value, &flag);
    say(" %d %d", flag, flag ? *value : 0);
    MPI_Type_delete_attr(d, key);
    MPI_Type_get_attr(d, key, &value, &flag);
    MPI_Type_get_name(t, name, &n);
    say(" %d %s %d", flag, name, n);
    MPI_Type_get_name(MPI_DOUBLE, name, &n);
    say(" %s", name);
    MPI_Type_free(&t);
    MPI_Type_size(d, &n);
    say(" %d", n);
    MPI_Type_free(&d);
    MPI_Type_free_keyval(&key);
}

static void large_counts(void)
{
    MPI_Datatype t, u;
    MPI_Count n, lb, extent;
    int small;

    MPI_Type_contiguous(1 << 30, MPI_INT, &t);
    MPI_Type_contiguous(4, t, &u);
    MPI_Type_size_x(u, &n);
    MPI_Type_size(u, &small);
    MPI_Type_get_extent_x(u, &lb, &extent);
    say(" %lld %d %lld %lld", (long long)n, small == MPI_UNDEFINED, (long long)lb, (long long)extent);
    MPI_Type_get_true_extent_x(u, &lb, &extent);
    say(" %lld", (long long)extent);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
}

static void sizes(void)
{
    const MPI_Datatype list[] = {MPI_CHAR,     MPI_SHORT,      MPI_INT,       MPI_LONG,     MPI_LONG_LONG,
                                 MPI_FLOAT,    MPI_DOUBLE,     MPI_INT8_T,    MPI_UINT16_T, MPI_INT32_T,
                                 MPI_UINT64_T, MPI_C_BOOL,     MPI_BYTE,      MPI_PACKED,   MPI_C_DOUBLE_COMPLEX,
                                 MPI_2INT,     MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_AINT,     MPI_OFFSET,
                                 MPI_COUNT};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        int n;
        MPI_Aint lb, extent;

        MPI_Type_size(list[i], &n);
        MPI_Type_get_extent(list[i], &lb, &extent);
        say(" %d/%ld", n, (long)extent);
    }
}

const struct subject types[] = {{"vectors", vectors},       {"indexed", indexed},
                                {"structures", structures}, {"padding", padding},
                                {"subarrays", subarrays},   {"distributed arrays", distributed_arrays},
                                {"resized", resized},       {"short extents", short_extents},
                                {"packing", packing},       {"contents", contents},
                                {"duplicates", duplicates}, {"large counts", large_counts},
                                {"sizes", sizes},           {NULL, NULL}};
