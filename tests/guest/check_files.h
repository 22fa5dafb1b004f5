/* For programs that try calls about files: names, and calls that must fail with a certain errno. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

#define check_text(actual, expected)                                                                      \
    do {                                                                                                  \
        const char *text_actual = (actual), *text_expected = (expected);                                  \
        check(text_actual &&strcmp(text_actual, text_expected) == 0, "%s is \"%s\", not \"%s\"", #actual, \
              text_actual ? text_actual : "NULL", text_expected);                                         \
    } while (0)

/* Makes a file, or empties it, and writes a text to it. */
static inline void make_text_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    check(fd >= 0, "open %.200s: %s", path, strerror(errno));
    check_equal(write(fd, text, strlen(text)), strlen(text));
    check_works(close(fd));
}

/* The file is the text, which is shorter than 200 bytes. */
static inline void expect_text_file(const char *path, const char *text)
{
    char got[200] = "";
    int fd = open(path, O_RDONLY);

    check(fd >= 0, "open %.200s: %s", path, strerror(errno));
    check(read(fd, got, sizeof got - 1) >= 0, "read %.200s", path);
    check(strcmp(got, text) == 0, "%.200s has \"%s\", not \"%.100s\"", path, got, text);
    check_works(close(fd));
}
