/* A reduction under way (coll_reduce.c), and what its operation is. */
#ifndef NCUBE_MPI_REDUCTION_H
#define NCUBE_MPI_REDUCTION_H

#include "libpio/mpi/operations.h"

struct reduction {
    const struct mpi_type *type;
    MPI_Datatype datatype;
    int count;
    long element_bytes, bytes;    /* of one; of all */
    collect_operation *operation; /* predefined; NULL: the function */
    MPI_User_function *function;  /* of the program */
    bool commutes;
    bool is_packed; /* the elements are; the function gets them in `low` and `high` */
    char *memory;   /* all of this: */
    char *elements, *room;
    char *low, *high;
};

/* Sets what the operation is. MPI_ERR_OP: it is none, or none for the type. */
int reduction_find(struct reduction *r, MPI_Op op);

/* An operation that a program has made: op_create.c, if it makes any. False: it is none. */
bool mpi_find_made_operation(MPI_Op op, struct reduction *r) __attribute__((weak));

#endif
