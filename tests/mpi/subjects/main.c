/* Calls all subjects (subjects.h). Arguments: the folder for files. */
#include <stdarg.h>

#include "subjects.h"

enum { TEXT_BYTES = 1 << 15 };

int rank, size;
const char *folder = "";
static MPI_Comm talk; /* for what is said */
static char text[TEXT_BYTES];
static int length;

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    va_end(arguments);
    if (length >= TEXT_BYTES)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

void say_ints(const char *what, const int *list, int n)
{
    say(" %s", what);
    for (int i = 0; i < n; i++)
        say(" %d", list[i]);
    say(";");
}

const char *name_of_class(int code)
{
    static const struct {
        int class;
        const char *name;
    } names[] = {{MPI_SUCCESS, "SUCCESS"},
                 {MPI_ERR_BUFFER, "BUFFER"},
                 {MPI_ERR_COUNT, "COUNT"},
                 {MPI_ERR_TYPE, "TYPE"},
                 {MPI_ERR_TAG, "TAG"},
                 {MPI_ERR_COMM, "COMM"},
                 {MPI_ERR_RANK, "RANK"},
                 {MPI_ERR_ROOT, "ROOT"},
                 {MPI_ERR_GROUP, "GROUP"},
                 {MPI_ERR_OP, "OP"},
                 {MPI_ERR_TOPOLOGY, "TOPOLOGY"},
                 {MPI_ERR_DIMS, "DIMS"},
                 {MPI_ERR_ARG, "ARG"},
                 {MPI_ERR_TRUNCATE, "TRUNCATE"},
                 {MPI_ERR_REQUEST, "REQUEST"},
                 {MPI_ERR_IN_STATUS, "IN_STATUS"},
                 {MPI_ERR_KEYVAL, "KEYVAL"},
                 {MPI_ERR_INFO_NOKEY, "INFO_NOKEY"},
                 {MPI_ERR_NO_SUCH_FILE, "NO_SUCH_FILE"},
                 {MPI_ERR_FILE_EXISTS, "FILE_EXISTS"},
                 {MPI_ERR_AMODE, "AMODE"},
                 {MPI_ERR_ACCESS, "ACCESS"},
                 {MPI_ERR_READ_ONLY, "READ_ONLY"}};
    int class;

    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].class == class)
            return names[i].name;
    return "another class";
}

/* What all have said, with a rank before it, where it differs from the rank's before. */
static void print_all(const char *name)
{
    static char all[TEXT_BYTES], before[TEXT_BYTES];

    if (rank > 0) {
        MPI_Send(text, length + 1, MPI_CHAR, 0, 0, talk);
    } else {
        printf("%s\n 0:%s\n", name, text);
        strcpy(before, text);
        for (int r = 1; r < size; r++) {
            MPI_Recv(all, TEXT_BYTES, MPI_CHAR, r, 0, talk, MPI_STATUS_IGNORE);
            if (strcmp(all, before) != 0)
                printf(" %d:%s\n", r, all);
            strcpy(before, all);
        }
        fflush(stdout);
    }
    length = 0;
    text[0] = 0;
}

int main(int argc, char **argv)
{
    const struct subject *const all[] = {points, types, collectives, communicators, topologies, files};
    int done = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &talk);
    folder = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct subject *s = all[i]; s->name; s++, done++) {
            s->function();
            print_all(s->name);
        }
    if (rank == 0)
        printf("%d subjects on %d ranks\n", done, size);
    MPI_Comm_free(&talk);
    MPI_Finalize();
    return 0;
}
