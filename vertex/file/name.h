/*
 * Calls that name a file: finding the server of a path, and the requests that carry names. file.c opens files.
 */
#pragma once

#include <stdint.h>

#include "vertex/process/proc.h"

struct target { /* a name and its server */
    uint32_t node;
    uint16_t drive;
    const char *name; /* in p->path */
    uint32_t bytes;
};

/* Reads the program's path into p->path[slot] and finds its server. -N_EFAULT, -N_ENAMETOOLONG, -N_ENOENT. */
int name_find(struct proc *p, uint64_t path, int slot, struct target *t);
/* Makes a request that carries one or two names, for the caller to add `room` bytes of data. `second` may be NULL.
 * -N_ENAMETOOLONG, -N_ENOMEM, -N_EINTR. */
int name_request(struct proc *p, const struct target *first, const struct target *second, struct file_request fields,
                 uint32_t room, struct message **m);
/* As request_call, with a request that carries one or two names, and fields.bytes bytes of data; `second` and `data`
 * may be NULL. -N_ENAMETOOLONG, -N_ENOMEM. */
int64_t name_call(struct proc *p, uint32_t type, const struct target *first, const struct target *second,
                  struct file_request fields, const void *data, struct message **reply);
/* For a name that the front end does not have (-N_ENOENT): whether it is "/volume/path", the second way to name a file
 * on a volume, and the front end has nothing called /volume. Then *t is the name on the volume. */
bool name_turn_to_volume(struct proc *p, struct target *t);

/* Returns a simplified absolute copy of p->path[0], which name_free frees. NULL: no memory, or too long. */
char *name_copy(struct proc *p);
char *name_clone(const char *path); /* a copy that name_free frees; NULL: no memory */
void name_free(char *path);         /* NULL is allowed */
