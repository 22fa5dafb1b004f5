/* newlib's, and BSD's wait3: fork(3n). */
#ifndef NCUBE_SYS_WAIT_H
#define NCUBE_SYS_WAIT_H

#include_next <sys/wait.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rusage;

pid_t wait3(int *status, int options, struct rusage *usage);

#ifdef __cplusplus
}
#endif

#endif
