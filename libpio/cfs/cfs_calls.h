/* What the calls of <cfs.h> share. */
#ifndef LIBPIO_CFS_CALLS_H
#define LIBPIO_CFS_CALLS_H

#include <stdint.h>

struct cfs_open;

/* The open file of a descriptor; NULL, and *error. */
struct cfs_open *cfs_call_file(int fd, int *error);
/* n, or -1 and errno. */
long cfs_call_result(int64_t n);
/* Ends the program with a line if n is an error, which errno has. */
long cfs_call_must(const char *call, int fd, long n);
/* Ends the program with a line. */
void cfs_call_fails(const char *call, int fd, const char *why);
/* The same after a move of fewer bytes than were asked for, or of none, moved < 0: with the disk at which it failed, or
 * else with errno's reason, or why. */
void cfs_call_moves_less(const char *call, int fd, long moved, const char *why);

#endif
