/*
 * Errors of files [13.7]: file_errors NAME [PART]. On whatever NAME is, the classes are the same, and the texts have
 * the file's name; where a volume was full, PART, too.
 */
#include "check_mpi.h"

static const char *name, *part = "";

static void expect(int error, int class, const char *of)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, found;

    MPI_Error_class(error, &found);
    check_equal(found, class);
    MPI_Error_string(error, text, &n);
    check_equal(n, strlen(text));
    if (!strstr(text, of) && !strstr(text, "at another rank")) {
        fprintf(stderr, "rank %d: '%s' has no '%s'\n", rank, text, of);
        MPI_Abort(MPI_COMM_WORLD, 4);
    }
}

static int open_it(const char *of, int amode, MPI_File *f)
{
    return MPI_File_open(MPI_COMM_WORLD, of, amode, MPI_INFO_NULL, f);
}

static void names(void)
{
    const char *own = strncmp(name, "pio:", 4) == 0 ? name + 4 : name;
    char other[80];
    MPI_File f;
    int x = 1;

    snprintf(other, sizeof other, "%s.none", name);
    if (rank == 0) {
        expect(MPI_File_open(MPI_COMM_SELF, other, MPI_MODE_RDONLY, MPI_INFO_NULL, &f), MPI_ERR_NO_SUCH_FILE, own);
        expect(MPI_File_delete(other, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, own);
    }
    snprintf(other, sizeof other, "%s.none/x", name);
    if (rank == 0)
        expect(MPI_File_open(MPI_COMM_SELF, other, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f),
               MPI_ERR_NO_SUCH_FILE, own);
    check_equal(open_it(name, MPI_MODE_RDWR | MPI_MODE_CREATE, &f), MPI_SUCCESS);
    MPI_File_close(&f);
    expect(open_it(name, MPI_MODE_RDWR | MPI_MODE_RDONLY, &f), MPI_ERR_AMODE, own);
    expect(open_it(name, MPI_MODE_RDONLY | MPI_MODE_EXCL, &f), MPI_ERR_AMODE, own);
    if (rank == 0)
        expect(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &f),
               MPI_ERR_FILE_EXISTS, own);
    MPI_Barrier(MPI_COMM_WORLD);
    check_equal(open_it(name, MPI_MODE_RDONLY, &f), MPI_SUCCESS);
    expect(MPI_File_write_at(f, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY, own);
    expect(MPI_File_set_size(f, 10), MPI_ERR_READ_ONLY, own);
    expect(MPI_File_preallocate(f, 10), MPI_ERR_READ_ONLY, own);
    MPI_File_close(&f);
    check_equal(open_it(name, MPI_MODE_WRONLY, &f), MPI_SUCCESS);
    expect(MPI_File_read_at(f, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS, own);
    MPI_File_close(&f);
}

/* Rank 0 writes until a volume is full. */
static void full(void)
{
    static char data[100000];
    MPI_File f;
    int error = MPI_SUCCESS;

    check_equal(open_it(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, &f), MPI_SUCCESS);
    for (int i = 0; i < 200 && error == MPI_SUCCESS && rank == 0; i++)
        error = MPI_File_write_at(f, (MPI_Offset)i * (int)sizeof data, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    if (rank == 0)
        expect(error, MPI_ERR_NO_SPACE, part);
    MPI_Barrier(MPI_COMM_WORLD);
    check_equal(MPI_File_close(&f), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    name = argv[1];
    names();
    if (argc > 2) {
        part = argv[2];
        full();
    }
    end("file_errors");
    return 0;
}
