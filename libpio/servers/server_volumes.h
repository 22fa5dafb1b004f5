/* The volumes whose servers a family's client asks, which the machine file names: a line of the text of striped volumes
 * (vertex/contract/system.h). */
#pragma once

#include <stdint.h>

struct server_volumes {
    uint32_t n;        /* 0: the machine has none */
    uint32_t number;   /* the line's own */
    const char **name; /* [n] */
    int *node, *drive; /* [n]: an I/O node's address, and a drive there */
    const char *list;  /* the names, with a space between */
};

/* Reads the family's line, which begins with `word`. What it finds is kept for ever. Without memory there are none. */
void server_volumes_read(const char *word, struct server_volumes *v);
