/* Files [13] (subjects.h). */
#include "subjects.h"

#define WORLD MPI_COMM_WORLD

static MPI_File open_new(const char *name, int mode)
{
    char path[200];
    MPI_File f;

    snprintf(path, sizeof path, "%s%s", folder, name);
    if (MPI_File_open(WORLD, path, mode | MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) != MPI_SUCCESS)
        MPI_Abort(WORLD, 4);
    MPI_File_set_size(f, 0);
    MPI_Barrier(WORLD);
    return f;
}

/* What the first n numbers of a file are, for all. */
static void show(MPI_File f, int n)
{
    int all[64] = {0}, got;
    MPI_Status s;
    MPI_Offset bytes;

    MPI_File_sync(f);
    MPI_Barrier(WORLD);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(f, 0, all, n, MPI_INT, &s);
    MPI_Get_count(&s, MPI_INT, &got);
    MPI_File_get_size(f, &bytes);
    say(" %lld bytes;", (long long)bytes);
    say_ints("", all, got);
    MPI_Barrier(WORLD);
}

static void offsets(void)
{
    MPI_File f = open_new("subject_offsets", 0);
    int mine[2] = {rank, rank + 50}, n;
    MPI_Status s;

    MPI_File_write_at(f, 8 * (size - 1 - rank), mine, 2, MPI_INT, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    say(" %d", n);
    show(f, 2 * size);
    MPI_File_close(&f);
    say(" %d", f == MPI_FILE_NULL);
}

static void pointers(void)
{
    MPI_File f = open_new("subject_pointers", 0);
    int mine[3] = {rank, rank * 2, rank * 3}, n;
    MPI_Offset at, bytes;
    MPI_Status s;

    MPI_File_seek(f, 12 * rank, MPI_SEEK_SET);
    MPI_File_write(f, mine, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(f, mine + 2, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_position(f, &at);
    MPI_File_get_byte_offset(f, at, &bytes);
    say(" %lld %lld", (long long)at, (long long)bytes);
    MPI_File_sync(f);
    MPI_Barrier(WORLD);
    MPI_File_seek(f, -4, MPI_SEEK_END);
    MPI_File_read(f, mine, 3, MPI_INT, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    MPI_File_seek(f, 8, MPI_SEEK_SET);
    MPI_File_seek(f, -4, MPI_SEEK_CUR);
    MPI_File_get_position(f, &at);
    say(" %d %d %lld", n, mine[0], (long long)at);
    show(f, 3 * size);
    MPI_File_close(&f);
}

static void views(void)
{
    MPI_File f = open_new("subject_views", 0);
    int mine[4] = {rank, 100 + rank, 200 + rank, 300 + rank}, back[2] = {0}, n;
    MPI_Offset at, bytes;
    MPI_Datatype t, slot, etype, filetype;
    char name[MPI_MAX_DATAREP_STRING];

    MPI_Type_vector(2, 1, size, MPI_INT, &slot);
    MPI_Type_create_resized(slot, 0, 2 * size * (int)sizeof(int), &t);
    MPI_Type_commit(&t);
    MPI_File_set_view(f, 4 * rank, MPI_INT, t, "native", MPI_INFO_NULL);
    MPI_File_write_all(f, mine, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_position(f, &at);
    MPI_File_get_byte_offset(f, 3, &bytes);
    MPI_File_read_at_all(f, 2, back, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_view(f, &at, &etype, &filetype, name);
    MPI_Type_size(filetype, &n);
    say(" %lld %lld %d %d %s %d", (long long)at, (long long)bytes, back[0], back[1], name, n);
    show(f, 4 * size);
    MPI_Type_free(&slot);
    MPI_Type_free(&t);
    MPI_File_close(&f);
}

static void arrays(void)
{
    MPI_File f = open_new("subject_arrays", 0);
    int part[32], n;
    MPI_Datatype t;

    MPI_Type_create_darray(size, rank, 2, (int[]){8, 4}, (int[]){MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
                           (int[]){1, MPI_DISTRIBUTE_DFLT_DARG}, (int[]){size, 1}, MPI_ORDER_C, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Type_size(t, &n);
    n /= (int)sizeof(int);
    for (int i = 0; i < 32; i++)
        part[i] = 100 * rank + i;
    MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL);
    MPI_File_write_all(f, part, n, MPI_INT, MPI_STATUS_IGNORE);
    memset(part, 0, sizeof part);
    MPI_File_read_at_all(f, 0, part, n, MPI_INT, MPI_STATUS_IGNORE);
    say_ints("back", part, n);
    show(f, 32);
    MPI_Type_free(&t);
    MPI_File_close(&f);
}

/* The standard does not say which rank comes first, so the numbers are printed in order. */
static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void shared_pointer(void)
{
    MPI_File f = open_new("subject_shared", 0);
    int all[64] = {0}, mine;
    MPI_Offset at;

    for (int i = 0; i < 3; i++) {
        mine = 10 * rank + i;
        MPI_File_write_shared(f, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(f);
    MPI_Barrier(WORLD);
    MPI_File_get_position_shared(f, &at);
    say(" %lld", (long long)at);
    MPI_File_read_at(f, 0, all, 3 * size, MPI_INT, MPI_STATUS_IGNORE);
    qsort(all, 3 * (size_t)size, sizeof *all, by_value);
    say_ints("", all, 3 * size);
    MPI_Barrier(WORLD);
    MPI_File_seek_shared(f, 4, MPI_SEEK_SET);
    MPI_Barrier(WORLD);
    MPI_File_get_position_shared(f, &at);
    MPI_Barrier(WORLD);
    MPI_File_read_shared(f, &mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, WORLD);
    say(" %lld %d", (long long)at, mine >= 0);
    MPI_File_close(&f);
}

static void ordered(void)
{
    MPI_File f = open_new("subject_ordered", 0);
    int mine[3] = {rank, 20 + rank, 40 + rank}, back[3] = {-1, -1, -1}, n = rank % 3 + 1;
    MPI_Offset at;

    MPI_File_write_ordered(f, mine, n, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_ordered(f, mine, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_get_position_shared(f, &at);
    MPI_Barrier(WORLD);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(f, back, n, MPI_INT, MPI_STATUS_IGNORE);
    say(" %lld", (long long)at);
    say_ints("", back, 3);
    show(f, 30);
    MPI_File_close(&f);
}

static void split(void)
{
    MPI_File f = open_new("subject_split", 0);
    int mine[2] = {rank + 1, rank + 2}, back[2] = {0}, n;
    MPI_Status s;

    MPI_File_write_at_all_begin(f, 8 * rank, mine, 2, MPI_INT);
    MPI_File_write_at_all_end(f, mine, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    MPI_File_seek(f, 8 * rank, MPI_SEEK_SET);
    MPI_File_read_all_begin(f, back, 2, MPI_INT);
    MPI_File_read_all_end(f, back, MPI_STATUS_IGNORE);
    say(" %d %d %d", n, back[0], back[1]);
    MPI_Barrier(WORLD);
    MPI_File_write_ordered_begin(f, mine, 1, MPI_INT);
    MPI_File_write_ordered_end(f, mine, MPI_STATUS_IGNORE);
    show(f, 2 * size);
    MPI_File_close(&f);
}

static void nonblocking(void)
{
    MPI_File f = open_new("subject_nonblocking", 0);
    int mine[2] = {rank + 5, rank + 6}, back[2] = {0}, n;
    MPI_Request r[2];
    MPI_Status s[2];

    MPI_File_iwrite_at(f, 4 * rank, &mine[0], 1, MPI_INT, &r[0]);
    MPI_File_iwrite_at(f, 4 * (size + rank), &mine[1], 1, MPI_INT, &r[1]);
    MPI_Waitall(2, r, s);
    MPI_Get_count(&s[1], MPI_INT, &n);
    MPI_File_sync(f);
    MPI_Barrier(WORLD);
    MPI_File_iread_at(f, 4 * ((rank + 1) % size), back, 1, MPI_INT, &r[0]);
    MPI_File_iread(f, back + 1, 1, MPI_INT, &r[1]);
    MPI_Waitall(2, r, s);
    say(" %d %d %d", n, back[0], back[1]);
    show(f, 2 * size);
    MPI_File_close(&f);
}

static void of_a_file(void)
{
    MPI_File f = open_new("subject_of_a_file", MPI_MODE_DELETE_ON_CLOSE), g;
    MPI_Offset bytes;
    int mode, flag, n;
    MPI_Group group;
    char path[200];

    MPI_File_preallocate(f, 100);
    MPI_File_get_size(f, &bytes);
    say(" %lld", (long long)bytes);
    MPI_Barrier(WORLD);
    MPI_File_set_size(f, 40);
    MPI_Barrier(WORLD);
    MPI_File_get_size(f, &bytes);
    MPI_File_get_amode(f, &mode);
    MPI_File_get_atomicity(f, &flag);
    MPI_File_get_group(f, &group);
    MPI_Group_size(group, &n);
    MPI_Group_free(&group);
    say(" %lld %d %d %d", (long long)bytes, (mode & MPI_MODE_RDWR) != 0, flag, n == size);
    MPI_File_close(&f);
    MPI_Barrier(WORLD);
    snprintf(path, sizeof path, "%ssubject_of_a_file", folder);
    say(" %s", name_of_class(MPI_File_open(WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &g)));
    say(" %s", name_of_class(MPI_File_open(WORLD, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &g)));
    if (rank == 0)
        say(" %s", name_of_class(MPI_File_delete(path, MPI_INFO_NULL)));
}

const struct subject files[] = {{"offsets", offsets},
                                {"pointers", pointers},
                                {"views", views},
                                {"distributed arrays in a file", arrays},
                                {"shared pointer", shared_pointer},
                                {"ordered", ordered},
                                {"split collectives", split},
                                {"nonblocking accesses", nonblocking},
                                {"of a file", of_a_file},
                                {NULL, NULL}};
