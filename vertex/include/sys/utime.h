/*
 * The times of a file. Replaces newlib's header, which declares no function.
 */
#ifndef _SYS_UTIME_H
#define _SYS_UTIME_H

#include <sys/types.h>

struct utimbuf {
    time_t actime;
    time_t modtime;
};

/* Sets the access and modification times of path; NULL sets both to now. Returns 0, or -1 with errno. */
int utime(const char *path, const struct utimbuf *times);

#endif
