/*
 * A temporary folder for one test, and the small file jobs that tests do in it. Everything asserts.
 */
#pragma once

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scratch {
    char path[64];
};

static inline void scratch_make(struct scratch *s)
{
    strcpy(s->path, "/tmp/ncube-test-XXXXXX");
    cr_assert_not_null(mkdtemp(s->path));
}

static inline void scratch_remove(struct scratch *s)
{
    char *paths[] = {s->path, NULL};
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *e;

    cr_assert_not_null(tree);
    while ((e = fts_read(tree)))
        if (e->fts_info != FTS_D)
            cr_assert_eq(remove(e->fts_accpath), 0, "%s", e->fts_path);
    fts_close(tree);
}

/* The path of a name in the folder, in one of a few buffers used in turn. */
static inline const char *scratch_path(const struct scratch *s, const char *name)
{
    static char buffer[4][PATH_MAX];
    static unsigned turn;
    char *path = buffer[turn++ % 4];

    snprintf(path, PATH_MAX, "%s/%s", s->path, name);
    return path;
}

static inline void scratch_write(const struct scratch *s, const char *name, const void *bytes, size_t n)
{
    int fd = open(scratch_path(s, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

    cr_assert_geq(fd, 0, "%s", name);
    cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
    close(fd);
}

static inline size_t scratch_read(const struct scratch *s, const char *name, void *bytes, size_t room)
{
    int fd = open(scratch_path(s, name), O_RDONLY);

    cr_assert_geq(fd, 0, "%s", name);
    ssize_t n = read(fd, bytes, room);
    cr_assert_geq(n, 0);
    close(fd);
    return n;
}

/* How many descriptors the process has, and the one with which they are counted. */
static inline unsigned count_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    cr_assert_not_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}
