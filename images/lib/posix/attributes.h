/*
 * Sets the times of files, for utime, utimes, utimensat and their family. Part of libvertex.
 */
#pragma once

#include <time.h>

/* As utimensat, with `flags` 0 or AT_SYMLINK_NOFOLLOW. Returns 0, or -1 with errno. */
int attributes_set_times(const char *path, const struct timespec times[2], int flags);
