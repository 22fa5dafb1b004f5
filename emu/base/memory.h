/* Memory for ncube's own structures: zeroed, or the process ends with one line. */
#ifndef NCUBE_MEMORY_H
#define NCUBE_MEMORY_H

#include <stddef.h>

/* `count` objects of `bytes` each, all zero; never NULL. The caller frees them. */
void *memory_new(size_t count, size_t bytes);

/* An array of *room objects of `bytes` each (NULL: of none), moved to where it has room for at least `needed`: what there
 * was stays, the rest is zero. *room is set to the new room, at least twice the old one, so that growing one by one is
 * cheap. Never NULL; the caller frees it. Without need for more room the array stays where it is. */
void *memory_grow(void *array, size_t *room, size_t needed, size_t bytes);

#endif
