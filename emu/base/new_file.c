#include "emu/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/error_line.h"
#include "emu/base/memory.h"

/* Opens a file without a name in the folder of `path`; or, where the host's file system has no such files, one with a
 * temporary name. */
static int open_nameless(struct new_file *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? memory_copy_text(path, (size_t)(slash - path) + 1) : memory_copy_text(".", 1);

    f->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
    if (f->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return f->fd;
    f->temporary = memory_print("%s.XXXXXX", path);
    f->fd = mkostemp(f->temporary, O_CLOEXEC);
    return f->fd;
}

int new_file_open(struct new_file *f, const char *path, char *error)
{
    struct stat st;
    bool there = stat(path, &st) == 0;

    *f = (struct new_file){.fd = -1};
    if (strcmp(path, "-") == 0)
        f->fd = dup(STDOUT_FILENO);
    else if (there && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (there && !S_ISREG(st.st_mode))
        f->fd = open(path, O_WRONLY | O_CLOEXEC);
    else if (open_nameless(f, path) >= 0)
        f->path = memory_copy_text(path, strlen(path));
    return f->fd < 0 ? error_line(error, "%s: %s", path, strerror(errno)) : 0;
}

/* Gives an open file its name. With `replace`, removes a file that already has the name. */
static int give_name(struct new_file *f, bool replace)
{
    char self[40];

    if (f->temporary)
        return replace ? rename(f->temporary, f->path) : link(f->temporary, f->path);
    snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (errno != EEXIST || !replace)
        return -1;
    char *name = memory_print("%s.%ld.new", f->path, (long)getpid()); /* linkat does not replace; rename does */
    int result = linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
    if (result == 0 && (result = rename(name, f->path)) < 0)
        unlink(name);
    free(name);
    return result;
}

static int close_and_name(struct new_file *f, int result, bool replace, char *error)
{
    if (result == 0 && f->path && give_name(f, replace) < 0)
        result = error_line(error, "%s: %s", f->path, strerror(errno));
    if (f->temporary)
        unlink(f->temporary); /* fails, harmlessly, if it was renamed */
    if (f->fd >= 0 && close(f->fd) < 0 && result == 0)
        result = error_line(error, "%s: %s", f->path ? f->path : "standard output", strerror(errno));
    free(f->path);
    free(f->temporary);
    *f = (struct new_file){.fd = -1};
    return result;
}

int new_file_close(struct new_file *f, int result, char *error)
{
    return close_and_name(f, result, true, error);
}

int new_file_close_as_new(struct new_file *f, int result, char *error)
{
    return close_and_name(f, result, false, error);
}
