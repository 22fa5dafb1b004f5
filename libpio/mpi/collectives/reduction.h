/* A reduction under way (coll_reduce.c), and what its operation is. */
#pragma once

#include "libpio/mpi/collectives/operations.h"

#define REDUCTION_FEW_BYTES 128

struct reduction {
    const struct mpi_type *type;
    MPI_Datatype datatype;
    int count;
    long element_bytes, bytes;    /* of one; of all */
    collect_operation *operation; /* predefined; NULL: the function */
    MPI_User_function *function;  /* of the program */
    bool commutes;
    bool is_packed; /* the elements are; the function gets them in `low` and `high` */
    char *few;      /* memory of the caller's for a few elements, of REDUCTION_FEW_BYTES; NULL: none */
    char *memory;   /* all of this; NULL: it is `few` */
    char *elements, *room;
    char *low, *high;
};

/* Checks the arguments that reductions have, and describes this one. */
int reduction_check(struct reduction *r, const void *sendbuf, const void *recvbuf, int count, MPI_Datatype datatype,
                    MPI_Op op, bool needs_recvbuf);
/* Makes room for `count` elements, which the caller frees: r->memory. MPI_ERR_NO_MEM. */
int reduction_begin(struct reduction *r, int count);
/* Copy the program's data to the elements, and elements back, where gaps stay as they are. */
void reduction_read(const struct reduction *r, const void *buf);
void reduction_write(const struct reduction *r, void *buf, const char *elements);
/* into[i] = low[i] OP high[i], of all elements; `into` is one of the two. `high` may be changed. */
void reduction_combine(const struct reduction *r, void *into, const void *low, const void *high);
/* The reduction for the functions of collect.h. */
struct collect_reduction reduction_for_collect(const struct reduction *r);
/* Combines the elements of all at the root: coll_reduce.c. A class of errors. */
int reduction_reduce(struct mpi_comm *c, const struct reduction *r, int root);

/* Sets what the operation is. MPI_ERR_OP: it is none, or none for the type. */
int reduction_find(struct reduction *r, MPI_Op op);

/* An operation that a program has made: op_create.c, if it makes any. False: it is none. */
bool mpi_find_made_operation(MPI_Op op, struct reduction *r) __attribute__((weak));
