/*
 * Tables of what a program has handles for: requests, messages, types. A handle that has been given back is found out
 * even if its place has been used again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "libpio/mpi/base/inside.h"

struct handle_place {
    void *item;    /* NULL: free */
    uint32_t next; /* free: the next free place, 0: none */
    uint32_t nth;  /* use of this place */
};

struct handle_table {
    struct handle_place *place; /* [places]; handles have the indexes from HANDLE_FIRST on */
    uint32_t places, free;      /* free: 0: none */
    uint32_t used;
    uint32_t begins; /* the use that a new place begins with: none of a table that was given back */
};

#define HANDLE_FIRST 0x100 /* those below are predefined */

/* Gives an item a handle of that kind; NULL: no memory. */
void *handle_new(struct handle_table *t, enum handle_kind kind, void *item);
void handle_free(struct handle_table *t, const void *handle);

/* NULL: it is not, or no longer, one of that kind. */
static inline void *handle_find(const struct handle_table *t, enum handle_kind kind, const void *handle)
{
    uintptr_t index = HANDLE_INDEX(handle) - HANDLE_FIRST;

    if (index >= t->places || HANDLE_KIND(handle) != kind || t->place[index].nth != (uint32_t)((uintptr_t)handle >> 32))
        return NULL;
    return t->place[index].item;
}

/* Gives back the table, which is empty. */
void handle_drop(struct handle_table *t);
