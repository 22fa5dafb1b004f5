/*
 * Random views of one file, written by collective accesses and by each rank alone, and read again: cluster_file NAME
 * SEED [METHOD]. What is left in the file is for another MPI, or for ncube disk, to compare.
 */
#include "check_mpi.h"

enum { PIECES = 40, LONGEST = 900, ROUNDS = 6, BYTES = PIECES * LONGEST };

static uint64_t drawn;

static int one_of(int n)
{
    return (int)(draw(&drawn) % (unsigned)n);
}

/* Pieces of the file are dealt out at random, alike on all ranks. Returns how many bytes are this rank's. */
static int draw_view(MPI_Datatype *type, int *extent)
{
    int length[PIECES], at[PIECES], n = 0, bytes = 0;
    MPI_Datatype pieces;

    *extent = 0;
    for (int i = 0; i < PIECES; i++) {
        int piece = 1 + one_of(i % 3 ? 30 : LONGEST);

        if (one_of(size) == rank) {
            length[n] = piece;
            at[n++] = *extent;
            bytes += piece;
        }
        *extent += piece;
    }
    MPI_Type_indexed(n, length, at, MPI_BYTE, &pieces);
    MPI_Type_create_resized(pieces, 0, *extent, type);
    MPI_Type_commit(type);
    MPI_Type_free(&pieces);
    return bytes;
}

static void round_of(MPI_File f, int round)
{
    static unsigned char data[2 * BYTES], got[2 * BYTES];
    MPI_Datatype type;
    MPI_Status s;
    int extent, displacement = one_of(5000), bytes = draw_view(&type, &extent), n;

    check_equal(MPI_File_set_view(f, displacement, MPI_BYTE, bytes > 0 ? type : MPI_BYTE, "native", MPI_INFO_NULL),
                MPI_SUCCESS);
    for (int i = 0; i < 2 * bytes; i++)
        data[i] = (unsigned char)(31 * rank + 7 * i + round);
    if (round % 3 == 2)
        check_equal(MPI_File_write_at(f, 0, data, 2 * bytes, MPI_BYTE, &s), MPI_SUCCESS);
    else
        check_equal(MPI_File_write_all(f, data, 2 * bytes, MPI_BYTE, &s), MPI_SUCCESS);
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    check_equal(MPI_File_read_at_all(f, 0, got, 2 * bytes, MPI_BYTE, &s), MPI_SUCCESS);
    MPI_Get_count(&s, MPI_BYTE, &n);
    check_equal(n, 2 * bytes);
    check(memcmp(got, data, (size_t)(2 * bytes)) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_File f;

    begin(&argc, &argv);
    drawn = (uint64_t)atoi(argv[2]);
    MPI_Info_create(&info);
    if (argc > 3)
        MPI_Info_set(info, "clf_method", argv[3]);
    check_equal(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f), MPI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++)
        round_of(f, round);
    check_equal(MPI_File_close(&f), MPI_SUCCESS);
    MPI_Info_free(&info);
    end("cluster_file");
    return 0;
}
