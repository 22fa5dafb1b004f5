/* What the calls of <cfs.h> share. */
#pragma once

#include <stdint.h>

#include "vertex/contract/abi.h"

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

/* What nodes that wait in a collective call are said to wait in. name: the file's, below /cfs; NULL: not known. The
 * first messages are of CONTEXT_GROUP. Returns what was told before, for cfs_tell_end, which tells that again. */
struct abi_call cfs_tell(const char *call, const char *name);
/* The next messages are of that group's context. */
void cfs_tell_context(int context);
void cfs_tell_end(const struct abi_call *before);
