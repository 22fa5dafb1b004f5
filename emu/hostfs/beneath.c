/* Names below one folder. Calls that make, remove or rename a name open its parent folder and work on the last
 * component. */
#include "emu/hostfs/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"
#include "vertex/contract/errors.h"

/* A name in a folder, for the calls that make, remove or rename it. */
struct entry {
    int parent;              /* O_PATH descriptor */
    bool slash;              /* the name was written with a final slash */
    char base[NAME_MAX + 1]; /* one component, never empty, "." or ".." */
};

/* The host's kernel returns EAGAIN when a rename elsewhere on the host races with a lookup through "..". */
#define RACE_TRIES 64

static int call_openat2(int folder, const char *path, int flags, mode_t mode)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int fd = -1;
    mode_t mask = umask(0); /* the mode already contains the program's umask */

    for (int i = 0; i < RACE_TRIES; i++) {
        fd = syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    int reason = errno;
    umask(mask);
    errno = reason;
    return fd;
}

static int open_root(struct beneath *b, const char *folder)
{
    b->root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int probe = b->root < 0 ? -1 : call_openat2(b->root, ".", O_PATH, 0);
    if (probe < 0)
        return -1;
    close(probe);
    return 0;
}

int beneath_open_folder(struct beneath *b, const char *folder)
{
    *b = (struct beneath){.root = -1};
    if (!folder || open_root(b, folder) == 0)
        return 0;
    int reason = errno;
    beneath_close_folder(b);
    errno = reason;
    return -1;
}

void beneath_close_folder(struct beneath *b)
{
    if (b->root >= 0)
        close(b->root);
    *b = (struct beneath){.root = -1};
}

int beneath_open(const struct beneath *b, const char *name, int flags, mode_t mode)
{
    if (b->root < 0)
        return -N_EACCES;
    int fd = call_openat2(b->root, name, flags, mode);
    if (fd >= 0)
        return fd;
    switch (errno) {
    case EXDEV: /* a link of /proc that leads out */
        return -N_EACCES;
    case EMFILE: /* this process is full: the server's limit, not the client's */
        return -N_ENFILE;
    default:
        return errmap_from_host(errno);
    }
}

/* "." and "..", and the root, cannot be made, removed or renamed: `error`. An error of the lookup comes first. */
static int32_t refuse_dots(const struct beneath *b, const char *path, int32_t error)
{
    int fd = beneath_open(b, path, O_PATH, 0);

    if (fd < 0)
        return fd;
    close(fd);
    return error;
}

/* Splits a path into its folder ("." when it names none) and its last component. */
static int32_t split_path(const char *path, char *parent, struct entry *e)
{
    size_t end = strlen(path);

    while (end > 0 && path[end - 1] == '/')
        end--;
    size_t base = end;
    while (base > 0 && path[base - 1] != '/')
        base--;

    if (end - base > NAME_MAX || base >= PATH_MAX)
        return -N_ENAMETOOLONG;
    snprintf(e->base, sizeof e->base, "%.*s", (int)(end - base), path + base);
    snprintf(parent, PATH_MAX, "%.*s", base ? (int)base : 1, base ? path : ".");
    e->slash = path[end] == '/';
    return 0;
}

static bool is_dots(const struct entry *e)
{
    return e->base[0] == '\0' || strcmp(e->base, ".") == 0 || strcmp(e->base, "..") == 0;
}

/* Opens the folder that contains a name; the caller closes entry->parent. Returns 0, or a negative n_error:
 * `dots_error` for a name that ends in dots and for the root. */
static int32_t open_parent_or(const struct beneath *b, const char *name, struct entry *e, int32_t dots_error)
{
    char parent[PATH_MAX];
    int32_t split = split_path(name, parent, e);

    if (split < 0)
        return split;
    if (is_dots(e))
        return refuse_dots(b, name, dots_error);
    e->parent = beneath_open(b, parent, O_PATH | O_DIRECTORY, 0);
    return e->parent < 0 ? e->parent : 0;
}

static int32_t open_parent(const struct beneath *b, const char *name, struct entry *e)
{
    return open_parent_or(b, name, e, -N_EINVAL);
}

static int32_t check_slash(const struct entry *e, bool slash)
{
    struct stat st;

    if (!slash)
        return 0;
    if (fstatat(e->parent, e->base, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errmap_from_host(errno);
    return S_ISDIR(st.st_mode) ? 0 : -N_ENOTDIR;
}

int32_t beneath_remove(const struct beneath *b, const char *name, int flags)
{
    struct entry e;
    int32_t result = open_parent_or(b, name, &e, flags == 0 ? -N_EISDIR : -N_EBUSY);

    if (result == -N_EBUSY && strcmp(e.base, ".") == 0)
        return -N_EINVAL; /* POSIX: rmdir of a name that ends in "." */
    if (result < 0)
        return result;
    result = check_slash(&e, e.slash);
    if (result == 0)
        result = errmap_result(unlinkat(e.parent, e.base, flags));
    close(e.parent);
    return result;
}

int32_t beneath_mkdir(const struct beneath *b, const char *name, mode_t mode, struct stat *made)
{
    struct entry e;
    int32_t result = open_parent(b, name, &e);

    if (result < 0)
        return result == -N_EINVAL ? -N_EEXIST : result; /* "." and ".." exist */
    mode_t mask = umask(0);
    result = errmap_result(mkdirat(e.parent, e.base, mode));
    umask(mask);
    if (result == 0)
        result = errmap_result(fstatat(e.parent, e.base, made, AT_SYMLINK_NOFOLLOW));
    close(e.parent);
    return result;
}

int32_t beneath_symlink(const struct beneath *b, const char *text, const char *name, struct stat *made)
{
    struct entry e;
    int32_t result = open_parent(b, name, &e);

    if (result < 0)
        return result == -N_EINVAL ? -N_EEXIST : result;
    result = e.slash ? -N_ENOENT : errmap_result(symlinkat(text, e.parent, e.base));
    if (result == 0)
        result = errmap_result(fstatat(e.parent, e.base, made, AT_SYMLINK_NOFOLLOW));
    close(e.parent);
    return result;
}

int32_t beneath_readlink(const struct beneath *b, const char *name, char *text, size_t bytes)
{
    struct entry e;
    int32_t result = open_parent(b, name, &e);

    if (result < 0)
        return result;
    ssize_t n = readlinkat(e.parent, e.base, text, bytes);
    result = n < 0 ? errmap_from_host(errno) : (int32_t)n;
    close(e.parent);
    return result;
}

static bool is_folder(const struct entry *e)
{
    struct stat st;

    return fstatat(e->parent, e->base, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int32_t rename_entry(const struct entry *from, const struct entry *to)
{
    int32_t result = check_slash(from, from->slash || to->slash);

    if (result == 0)
        result = errmap_result(renameat(from->parent, from->base, to->parent, to->base));
    /* Linux answers ENOTEMPTY for a folder that contains `from`, whatever `from` is; POSIX and nsdisk do not. */
    return result == -N_ENOTEMPTY && !is_folder(from) ? -N_EISDIR : result;
}

static int32_t link_entry(const struct entry *from, const struct entry *to)
{
    if (from->slash || to->slash)
        return -N_ENOTDIR;
    return errmap_result(linkat(from->parent, from->base, to->parent, to->base, 0));
}

/* Runs a call that takes two names with both their folders open. */
static int32_t with_two_names(const struct beneath *b, const char *from, const char *to,
                              int32_t (*call)(const struct entry *from, const struct entry *to), int32_t dots_error)
{
    struct entry old, new;
    int32_t result = open_parent_or(b, from, &old, dots_error);

    if (result < 0)
        return result;
    result = open_parent(b, to, &new);
    if (result == 0) {
        result = call(&old, &new);
        close(new.parent);
    }
    close(old.parent);
    return result;
}

int32_t beneath_rename(const struct beneath *b, const char *from, const char *to)
{
    return with_two_names(b, from, to, rename_entry, -N_EINVAL);
}

int32_t beneath_link(const struct beneath *b, const char *from, const char *to)
{
    return with_two_names(b, from, to, link_entry, -N_EPERM);
}
