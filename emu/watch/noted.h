/*
 * What --check notes while a program runs (checking.h): which files its processes have opened and where, and which
 * types of messages each node has awaited and got.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct noted;

struct noted *noted_new(uint32_t nodes);
void noted_free(struct noted *n);

/* ---- Files ---- */

/* A process, named by its address in Vertex, has opened a file by a call; `ufids` says which of its descriptors belong
 * to it. `place` says where, and outlives `n`. */
void noted_open(struct noted *n, uint32_t node, uint64_t process, const bool *ufids, const char *path,
                const char *place);

/* A process ends. Calls `tell` once for each place at which it has opened files that `is_open` (by descriptor), with
 * "//df00/f and 2 more, opened by open, called in main (x.c:12)"; then forgets the process. */
void noted_end(struct noted *n, uint32_t node, uint64_t process, const bool *is_open,
               void (*tell)(void *ctx, uint32_t node, const char *text), void *ctx);

/* ---- Types ---- */

#define NOTED_ANY (-1)

/* The node waits for a message of this type, or NOTED_ANY; a message of this type has come to it. */
void noted_await(struct noted *n, uint32_t node, int32_t type);
void noted_arrival(struct noted *n, uint32_t node, uint32_t type);

/* Writes "awaited types 5 and any; 3 messages of type 5 and 1 of type 7 came". False: neither. */
bool noted_types(const struct noted *n, uint32_t node, char *text, size_t bytes);
