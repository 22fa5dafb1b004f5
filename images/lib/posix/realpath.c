/*
 * realpath: goes through the names of a path one by one, and replaces each symbolic link by its text.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/lib/traps/result.h"
#include "vertex/contract/traps.h"

#define PATH_BYTES (FILE_NAME_MAX_BYTES + 1)
#define LINKS_MOST 40

struct walk {
    char done[PATH_BYTES]; /* the part without links; from `root` on "" or "/name..." */
    char rest[PATH_BYTES]; /* the part still to do, or "" */
    size_t root;           /* bytes of "//volume", or 0 */
    int links;
};

static bool fail(int error)
{
    result_set_errno(-error);
    return false;
}

/* Puts the absolute path into w->rest, but its "//volume" into w->done. */
static bool begin(struct walk *w, const char *path)
{
    size_t at = 0;

    if (path[0] != '/') {
        if (!getcwd(w->rest, sizeof w->rest))
            return false;
        at = strlen(w->rest);
        w->rest[at++] = '/';
    }
    if (at + strlen(path) >= sizeof w->rest)
        return fail(ENAMETOOLONG);
    strcpy(w->rest + at, path);
    w->root = strncmp(w->rest, "//", 2) == 0 ? 2 + strcspn(w->rest + 2, "/") : 0;
    memcpy(w->done, w->rest, w->root);
    w->done[w->root] = '\0';
    memmove(w->rest, w->rest + w->root, strlen(w->rest + w->root) + 1);
    w->links = 0;
    return true;
}

/* Replaces the link at the end of w->done, which had `length` bytes before it: w->rest becomes the link's text and
 * the names behind the link. */
static bool follow(struct walk *w, size_t length, const char *text, size_t n, const char *behind)
{
    if (++w->links > LINKS_MOST)
        return fail(ELOOP);
    if (n + strlen(behind) >= sizeof w->rest)
        return fail(ENAMETOOLONG);
    memmove(w->rest + n, behind, strlen(behind) + 1);
    memcpy(w->rest, text, n);
    w->done[text[0] == '/' ? w->root : length] = '\0';
    return true;
}

static bool enter(struct walk *w, const char *name, size_t n)
{
    char text[PATH_BYTES];
    size_t length = strlen(w->done);

    if (length + 1 + n >= sizeof w->done)
        return fail(ENAMETOOLONG);
    w->done[length] = '/';
    memcpy(w->done + length + 1, name, n);
    w->done[length + 1 + n] = '\0';
    int before = errno;
    ssize_t bytes = readlink(w->done, text, sizeof text);
    if (bytes >= 0)
        return follow(w, length, text, (size_t)bytes, name + n);
    if (errno != EINVAL)
        return false;
    errno = before;
    memmove(w->rest, name + n, strlen(name + n) + 1);
    return true;
}

/* Goes one name further. */
static bool step(struct walk *w)
{
    const char *name = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(name, "/");
    bool up = n == 2 && name[0] == '.' && name[1] == '.';

    if (n > 0 && !up && !(n == 1 && name[0] == '.'))
        return enter(w, name, n);
    if (up && strrchr(w->done + w->root, '/'))
        *strrchr(w->done + w->root, '/') = '\0';
    memmove(w->rest, name + n, strlen(name + n) + 1);
    return true;
}

char *realpath(const char *path, char *resolved)
{
    struct walk w;

    if (!path || !path[0]) {
        result_set_errno(path ? -ENOENT : -EINVAL);
        return NULL;
    }
    if (!begin(&w, path))
        return NULL;
    while (w.rest[0])
        if (!step(&w))
            return NULL;
    if (w.done[w.root] == '\0')
        strcpy(w.done + w.root, "/");
    return resolved ? strcpy(resolved, w.done) : strdup(w.done);
}
