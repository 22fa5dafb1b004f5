/*
 * Setting times, shared by the calls for them. Part of libvertex.
 */
#ifndef NCUBE_LIB_ATTRIBUTES_H
#define NCUBE_LIB_ATTRIBUTES_H

#include <sys/types.h>
#include <time.h>

/* As utimensat; flags: 0 or N_O_NOFOLLOW. 0, or -1 with errno. */
int attributes_set_times(const char *path, const struct timespec times[2], long flags);

#endif
