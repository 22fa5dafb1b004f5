/* Memory for ncube's own structures: zeroed, or the process ends with one line. */
#ifndef NCUBE_MEMORY_H
#define NCUBE_MEMORY_H

#include <stddef.h>

/* `count` objects of `bytes` each, all zero; never NULL. The caller frees them. */
void *memory_new(size_t count, size_t bytes);

#endif
