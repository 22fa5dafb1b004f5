/*
 * Memory for objects of any size: messages, open files, process structures.
 *
 * Objects of up to KMEM_SMALL_MAX bytes come from slabs, each a page divided into equal cells of one size class, which
 * is freed with its last cell. Larger objects take whole pages. Addresses are multiples of 8.
 * Pure: host tests link it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "vertex/memory/page.h"

#define KMEM_SMALL_MAX 2016u

/* Returns an object of undefined contents, or NULL if there is no memory. The caller frees it with the same owner and
 * size; kmem_free panics on others. */
void *kmem_alloc(enum mem_owner owner, size_t bytes);
void kmem_free(enum mem_owner owner, void *object, size_t bytes);

/* Returns the bytes that this owner class has allocated and not freed. */
uint64_t kmem_owned(enum mem_owner owner);
