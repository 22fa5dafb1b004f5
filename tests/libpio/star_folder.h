/*
 * What the tests of parallel files on the host share: a folder for the file x, and how programs for all nodes judge.
 */
#pragma once

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/cstar.h"

static char folder[] = "/tmp/star.XXXXXX", path[64];

static inline void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x", folder);
}

static inline void remove_folder(void)
{
    char command[80];

    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

/* ---- Programs for all nodes: each returns whether it has found what it expects ---- */

#define MUST(condition)                                                                   \
    do                                                                                    \
        if (!(condition)) {                                                               \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
            return false;                                                                 \
        }                                                                                 \
    while (0)
#define MUST_FAIL(call, with) MUST((errno = 0, (call) == -1 && errno == (with)))
#define MUST_NULL(call, with) MUST((errno = 0, (call) == NULL && errno == (with)))

static inline struct cs_shape *shape_of(long n)
{
    return cs_shape(1, &n);
}

#define VPS 37
