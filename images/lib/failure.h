/*
 * Which call on which file failed last, for nfailed of <nio.h>. Part of libvertex.
 */
#ifndef NCUBE_LIB_FAILURE_H
#define NCUBE_LIB_FAILURE_H

#define FAILURE_PATH_BYTES 256 /* longer names are cut, */
#define FAILURE_NAME_BYTES 96  /* those of open descriptors earlier */

struct failure {
    const char *call;              /* NULL: none has failed */
    char path[FAILURE_PATH_BYTES]; /* "": a descriptor without a name */
    int fd;                        /* -1: a path */
    int error;
};

/* Both give the kernel's result back, and note it when it is an error. */
long failure_of_path(const char *call, const char *path, long result);
long failure_of_fd(const char *call, long fd, long result);

/* A descriptor was opened by that name, or closed. */
void failure_name(long fd, const char *path);
void failure_forget(long fd);

const struct failure *failure_last(void);

#endif
