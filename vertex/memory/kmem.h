/*
 * Memory for objects of any size: messages, open files, process structures.
 *
 * Up to KMEM_SMALL_MAX bytes come from slabs, one page divided into equal cells of a size class; a page goes
 * back when its last cell does. Larger ones are whole pages. Addresses are multiples of 8.
 * Pure: host tests link it.
 */
#ifndef VERTEX_KMEM_H
#define VERTEX_KMEM_H

#include <stddef.h>
#include <stdint.h>

#include "vertex/memory/page.h"

#define KMEM_SMALL_MAX 2016u

/* Contents undefined; NULL if there is no memory. The caller frees it with the same owner and size. */
void *kmem_alloc(enum mem_owner owner, size_t bytes);
void kmem_free(enum mem_owner owner, void *object, size_t bytes);

/* Bytes asked for and not freed. */
uint64_t kmem_owned(enum mem_owner owner);

#endif
