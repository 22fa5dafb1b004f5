/* For programs that try calls about files: names, and calls that must fail with a certain errno. */
#ifndef CHECK_FILES_H
#define CHECK_FILES_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* A name with the prefix that the program got as its first argument; one of four buffers in turn. */
static inline const char *name_of(const char *name)
{
    static char names[4][1200];
    static unsigned turn;
    char *made = names[turn++ % 4];

    snprintf(made, sizeof names[0], "%s%s", test_argv[0], name);
    return made;
}

#define check_fails(call, expected_errno)                                                                           \
    do {                                                                                                            \
        errno = 0;                                                                                                  \
        long check_result = (long)(call);                                                                           \
        check(check_result == -1 && errno == expected_errno, "%s: %ld, errno %d (%s), not %s", #call, check_result, \
              errno, strerror(errno), #expected_errno);                                                             \
    } while (0)

#define check_works(call)                                                       \
    do {                                                                        \
        errno = 0;                                                              \
        check((call) == 0, "%s: errno %d (%s)", #call, errno, strerror(errno)); \
    } while (0)

#endif
