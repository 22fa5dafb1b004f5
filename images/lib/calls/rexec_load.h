/* What rexecv and rexecvf have in common (rexec.c). Part of libvertex. */
#pragma once

#include <stddef.h>

#include "vertex/contract/proto.h"

struct rexec_name {
    char text[FILE_NAME_MAX_BYTES + 1];
};

/* Returns the path for someone who knows no working directory: absolute, perhaps in *name. */
const char *rexec_from_root(const char *path, struct rexec_name *name);

/* As rexecv. With `fds`, a struct load_pipes and what follows it, as rexecvf. Returns 0, or a negative errno. */
int rexec_load(int first, int nodes, const char *path, char *const argv[], const void *fds, size_t fds_bytes);
