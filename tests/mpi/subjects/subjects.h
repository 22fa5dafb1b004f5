/*
 * Subjects of the standard, each a short function that prints what it has got: what we print is compared with what
 * another MPI prints (tests/libpio/test_mpi.sh). Written from the standard's text. A table in each file names its
 * functions; main.c calls them, and prints what all ranks have said, in the order of ranks.
 */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int rank, size;
extern const char *folder; /* for files, "" or with a slash at its end */

/* Adds to what this rank has to say. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_ints(const char *what, const int *list, int n);
/* A class of errors by its name, of those that subjects get. */
const char *name_of_class(int code);

struct subject {
    const char *name;
    void (*function)(void);
};

extern const struct subject points[], types[], collectives[], communicators[], topologies[], files[]; /* NULL ends */
