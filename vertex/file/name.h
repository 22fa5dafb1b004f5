/*
 * Calls about names: who serves a path, and the requests that name a file. Opening one is in file.c.
 */
#ifndef VERTEX_NAME_H
#define VERTEX_NAME_H

#include <stdint.h>

#include "vertex/process/proc.h"

struct target { /* a name, and who serves it */
    uint32_t node;
    uint16_t drive;
    const char *name; /* in p->path */
    uint32_t bytes;
};

/* Reads the program's path into p->path[slot] and finds who serves it. -N_EFAULT, -N_ENAMETOOLONG, -N_ENOENT. */
int name_find(struct proc *p, uint64_t path, int slot, struct target *t);
/* A request about one or two names; `second` may be NULL. Else as request_call. -N_ENAMETOOLONG, -N_ENOMEM. */
int64_t name_call(struct proc *p, uint32_t type, const struct target *first, const struct target *second,
                  struct file_request fields, struct message **reply);

/* A simple copy of the path in p->path[0], from the root on, for name_free. NULL: no memory, or it is too long. */
char *name_copy(struct proc *p);
void name_free(char *path); /* NULL is allowed */

#endif
