/*
 * Error classes and codes of the program [8.5].
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/inside.h"

struct code {
    int class; /* of a class: itself */
    char text[MPI_MAX_ERROR_STRING];
};

static struct code *codes;
static int used, room, last = MPI_ERR_LASTCODE;

/* NULL: it has not been added. */
static struct code *find(int code)
{
    return code > MPI_ERR_LASTCODE && code - MPI_ERR_LASTCODE <= used ? &codes[code - MPI_ERR_LASTCODE - 1] : NULL;
}

int codes_class(int code)
{
    const struct code *c = find(code);

    return c ? c->class : code;
}

const char *codes_text(int code)
{
    const struct code *c = find(code);

    return c ? c->text : NULL;
}

/* class 0: a new class. */
static int add(int class, int *code)
{
    if (used == room) {
        int more = room ? 2 * room : 8;
        struct code *new = realloc(codes, (size_t)more * sizeof *new);

        if (!new)
            return mpi_fail_alone(mpi_error(MPI_ERR_NO_MEM, "no memory for an error code", 0, 0));
        codes = new;
        room = more;
    }
    *code = ++last;
    codes[used++] = (struct code){class ? class : last, ""};
    mpi_last_code = &last;
    return MPI_SUCCESS;
}

int PMPI_Add_error_class(int *errorclass)
{
    MPI_ENTER("Add_error_class", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    return add(0, errorclass);
}
MPI_NAME(Add_error_class);

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    const struct code *c = find(errorclass);

    MPI_ENTER("Add_error_code", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!mpi_class_text(errorclass) && (!c || c->class != errorclass))
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "%ld is no error class", errorclass, 0));
    return add(errorclass, errorcode);
}
MPI_NAME(Add_error_code);

int PMPI_Add_error_string(int errorcode, const char *string)
{
    struct code *c = find(errorcode);

    MPI_ENTER("Add_error_string", NULL, MPI_NO_PEER, MPI_NO_PEER);
    mpi_must_run();
    if (!c)
        return mpi_fail_alone(mpi_error(MPI_ERR_ARG, "%ld is no code of the program", errorcode, 0));
    strncpy(c->text, string, sizeof c->text - 1);
    c->text[sizeof c->text - 1] = '\0';
    return MPI_SUCCESS;
}
MPI_NAME(Add_error_string);
