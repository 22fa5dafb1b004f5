/* Info for the library itself (info.c) [9]. */
#pragma once

#include "libpio/mpi/base/inside.h"

/* The value of a key, until it is set anew; NULL: there is none. */
const char *info_value(MPI_Info handle, const char *key);
/* The value as a number; 0: it is not given, or none above 0. */
int info_number(MPI_Info handle, const char *key);
/* MPI_SUCCESS: it is one, or MPI_INFO_NULL. */
int info_check(MPI_Info handle);
/* Makes one; sets a key that is short enough. Classes. */
int info_new(MPI_Info *handle);
int info_set(MPI_Info handle, const char *key, const char *value);
