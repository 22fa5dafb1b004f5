/*
 * Global mode: the driver of descriptors that belong to the whole program [P1 section 2.5], and nglobal and nlocal of
 * <nself.h>. Part of libpio, so that only programs that call nglobal have it.
 *
 *     nglobal();                        the switch asks this driver first, for every path
 *     fd = open("data", O_RDONLY);      node 0 opens it by the driver below; the other nodes have a name for it
 *     read(fd, buf, n);                 node 0 reads, all get the bytes (global_call.h)
 *
 * A file stays the program's until it is closed, whatever nlocal says. The standard input and output follow the mode:
 * each node has them anyway. So does every call with a path. The standard error stays each node's own [P1 2.1].
 */
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/ndevices/global_call.h"
#include "libpio/ndevices/global_files.h"

struct global_file {
    const struct ndevice *device; /* at node 0; a standard stream's at every node. NULL elsewhere */
    void *state;
    const struct ndevice *own; /* the file opened again, at every node, for a mapping; or NULL */
    void *own_state;
    struct group nodes; /* whose file it is; not of a stream, which is everybody's */
    uint32_t about;     /* number of the open: the same at all nodes; 0 and 1: a standard stream */
    bool is_stream;     /* standard input or output */
    int server;         /* as of ionode, or a negative errno */
    int started;        /* bytes of the last readstart */
    int flags;          /* of open */
    char *held;         /* input that stdio had read before nglobal; malloc'd */
    size_t held_at, held_bytes;
    struct global_file *next; /* of those that were closed while calls are refused: */
    int fd;                   /* where it comes back, */
    struct ndevice_slot slot; /* as it was */
    char path[];
};

static const struct ndevice global_device;
static bool is_global;           /* the mode */
static bool is_covering;         /* the driver is in the switch */
static struct group current;     /* the nodes that `nself` had when nglobal was called; size 0: it was not */
static struct global_file *kept; /* closed while calls are refused */

/* ---- Opening and closing ---- */

static int match(const char *path)
{
    (void)path;
    return is_global && !global_inside;
}

/* Opens the path by the driver below this one. */
static long open_below(const char *path, int flags, mode_t mode, const struct ndevice **device, void **state)
{
    global_inside = true;
    *device = ndevice_of(path);
    long result = (*device)->open(path, flags, mode, state);
    global_inside = false;
    return result;
}

static struct global_file *new_file(const char *path, int flags)
{
    struct global_file *f = calloc(1, sizeof *f + strlen(path) + 1);

    if (f) {
        f->flags = flags;
        strcpy(f->path, path);
    }
    return f;
}

static int global_open(const char *path, int flags, mode_t mode, void **state)
{
    static uint32_t opens = 1;
    struct global_file *f = new_file(path, flags);
    int server = -ENOTSUP;
    long result = global_begin(&current, GLOBAL_open, global_sum((uint32_t)flags, path), f ? 0 : -ENOMEM);

    if (result >= 0 && global_is_first(&current)) {
        result = open_below(path, flags, mode, &f->device, &f->state);
        if (result >= 0 && f->device->ionode)
            server = f->device->ionode(f->state);
    }
    result = global_share(&current, GLOBAL_open, result, &server, sizeof server);
    if (result < 0) {
        free(f);
        return (int)result;
    }
    f->nodes = current;
    f->server = server;
    f->about = ++opens;
    *state = f;
    if (global_has_file)
        global_has_file();
    return 0;
}

/* Opens the file at this node, too. */
static int global_alone(void *state, int on)
{
    const int creating = O_CREAT | O_EXCL | O_TRUNC;
    struct global_file *f = state;
    long result = 0;

    if (f->is_stream)
        return -ENOTSUP;
    if (on)
        result = open_below(f->path, f->flags & ~creating, 0, &f->own, &f->own_state);
    else if (f->own && f->own->close)
        result = f->own->close(f->own_state);
    if (!on || result < 0)
        f->own = NULL;
    return (int)result;
}

/* True if a call on it is this node's own: a mapping lies on it, or it is a standard stream in local mode. */
static bool is_alone(const struct global_file *f)
{
    return f->own || (f->is_stream && (!is_global || global_inside));
}

static struct group *nodes_of(struct global_file *f)
{
    return f->is_stream ? &current : &f->nodes;
}

#define BELOW(f, entry, missing, ...) NDEVICE_CALL((f)->device, (f)->state, entry, missing __VA_OPT__(, ) __VA_ARGS__)
/* This node's own call. */
#define ALONE(f, entry, missing, ...)                                                              \
    NDEVICE_CALL((f)->own ? (f)->own : (f)->device, (f)->own ? (f)->own_state : (f)->state, entry, \
                 missing __VA_OPT__(, ) __VA_ARGS__)
/* The call of all nodes, or this node's own. `data`: what it stores. */
#define EITHER(f, entry, missing, data, bytes, ...)                     \
    (is_alone(f) ? ALONE(f, entry, missing __VA_OPT__(, ) __VA_ARGS__)  \
                 : GLOBAL_ONCE(nodes_of(f), GLOBAL_##entry, (f)->about, \
                               BELOW(f, entry, missing __VA_OPT__(, ) __VA_ARGS__), data, bytes))

/* The switch closes the descriptor whatever the driver says. */
static int keep(struct global_file *f)
{
    for (f->fd = 0; ndevice_table[f->fd].device != &global_device || ndevice_table[f->fd].state != f; f->fd++)
        ;
    f->slot = ndevice_table[f->fd];
    f->next = kept;
    kept = f;
    return -EINVAL;
}

void global_refuse(bool refuses)
{
    global_refuses = refuses;
    for (; kept && !refuses; kept = kept->next)
        if (!ndevice_slot(kept->fd)) /* else the program has opened another one there */
            ndevice_table[kept->fd] = kept->slot;
}

static int global_close(void *state)
{
    struct global_file *f = state;
    int result;

    if (global_refuses && !is_alone(f))
        return keep(f);
    if (f->own)
        global_alone(f, false);
    if (f->is_stream)
        result = BELOW(f, close, 0);
    else
        result = (int)GLOBAL_ONCE(nodes_of(f), GLOBAL_close, f->about, BELOW(f, close, 0), NULL, 0);
    free(f->held);
    free(f);
    return result;
}

/* ---- Data ---- */

/* Input that stdio had read in local mode comes before what is still unread. */
static ssize_t read_held(struct global_file *f, void *buf, size_t n)
{
    size_t left = f->held_bytes - f->held_at;

    if (n > left)
        n = left;
    memcpy(buf, f->held + f->held_at, n);
    f->held_at += n;
    return (ssize_t)n;
}

static ssize_t read_below(void *state, void *buf, size_t n)
{
    struct global_file *f = state;

    return f->held_at < f->held_bytes ? read_held(f, buf, n) : BELOW(f, read, ENOTSUP, buf, n);
}

/* Of a pipe, node 0 has all bytes, unless the program has set a mapping. */
static void give_all_to_first(const struct global_file *f)
{
    if (f->is_stream && f->device->setmap)
        f->device->setmap(f->state, NULL);
}

static ssize_t global_read_at_offset(void *state, void *buf, size_t n)
{
    static const struct ndevice stream = {.name = "stream", .read = read_below};
    struct global_file *f = state;

    if (f->own)
        return ALONE(f, read, ENOTSUP, buf, n);
    if (is_alone(f))
        return read_below(f, buf, n);
    give_all_to_first(f);
    const struct global_source from = {f->is_stream ? &stream : f->device, f->is_stream ? f : f->state, GLOBAL_read, 0};
    return global_read(nodes_of(f), &from, f->about, buf, (long)n);
}

static ssize_t global_pread(void *state, void *buf, size_t n, off_t at)
{
    struct global_file *f = state;

    if (is_alone(f))
        return ALONE(f, pread, ENOTSUP, buf, n, at);
    return global_read(nodes_of(f), &(struct global_source){f->device, f->state, GLOBAL_pread, at}, f->about, buf,
                       (long)n);
}

/* Node 0's n bytes count. If they were all written, so were this node's, however many they are; else this node's are
 * short, too, so that all nodes go on with the rest. */
static ssize_t own_part(struct group *nodes, ssize_t written, int64_t n_of_first, size_t n)
{
    if (written < 0 || global_is_first(nodes))
        return written;
    if (written == n_of_first)
        return (ssize_t)n;
    return written < (ssize_t)n ? written : n > 0 ? (ssize_t)n - 1 : 0;
}

static ssize_t global_write(void *state, const void *buf, size_t n)
{
    struct global_file *f = state;
    int64_t most = (int64_t)n;

    if (is_alone(f))
        return ALONE(f, write, ENOTSUP, buf, n);
    give_all_to_first(f);
    return own_part(nodes_of(f), EITHER(f, write, ENOTSUP, &most, sizeof most, buf, n), most, n);
}

static ssize_t global_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    struct global_file *f = state;
    int64_t most = (int64_t)n;

    return is_alone(f) ? ALONE(f, pwrite, ENOTSUP, buf, n, at)
                       : own_part(nodes_of(f), EITHER(f, pwrite, ENOTSUP, &most, sizeof most, buf, n, at), most, n);
}

static int global_readstart(void *state, int n)
{
    struct global_file *f = state;

    f->started = n;
    return (int)EITHER(f, readstart, ENOTSUP, NULL, 0, n);
}

static int global_readend(void *state, void *buf)
{
    struct global_file *f = state;

    if (is_alone(f))
        return (int)ALONE(f, readend, ENOTSUP, buf);
    return (int)global_read(nodes_of(f), &(struct global_source){f->device, f->state, GLOBAL_readend, 0}, f->about, buf,
                            f->started);
}

/* ---- Other calls on a descriptor ---- */

static int global_setview(void *state, const void *packed, size_t n)
{
    struct global_file *f = state;

    return f->own ? ALONE(f, setview, ENOTSUP, packed, n) : -ENOTSUP;
}

/* Calls of which all nodes get node 0's result, and the `bytes` bytes at `data`. */
#define GLOBAL_CALL(type, entry, missing, data, bytes, parameters, ...)                 \
    static type global_##entry parameters                                               \
    {                                                                                   \
        struct global_file *f = state;                                                  \
                                                                                        \
        return (type)EITHER(f, entry, missing, data, bytes __VA_OPT__(, ) __VA_ARGS__); \
    }

GLOBAL_CALL(int, writestart, ENOTSUP, NULL, 0, (void *state, const void *buf, int n), buf, n)
GLOBAL_CALL(int, writeend, ENOTSUP, NULL, 0, (void *state))
GLOBAL_CALL(off_t, lseek, ESPIPE, NULL, 0, (void *state, off_t offset, int whence), offset, whence)
GLOBAL_CALL(int, fstatfs, ENOTSUP, st, sizeof *st, (void *state, struct statfs *st), st)
GLOBAL_CALL(int, ftruncate, ENOTSUP, NULL, 0, (void *state, off_t size), size)
GLOBAL_CALL(int, fsync, ENOTSUP, NULL, 0, (void *state))
GLOBAL_CALL(int, fsetattr, ENOTSUP, NULL, 0, (void *state, const struct nattr *attr), attr)
GLOBAL_CALL(int, iochannel, ENOTSUP, NULL, 0, (void *state, int channel), channel)

/* Of a stream, stdio asks when it uses it for the first time, perhaps in local mode; and all nodes get the same. */
static int global_fstat(void *state, struct stat *st)
{
    struct global_file *f = state;

    return f->is_stream ? BELOW(f, fstat, ENOTSUP, st) : (int)EITHER(f, fstat, ENOTSUP, st, sizeof *st, st);
}

/* No call of all nodes: nfailed asks for it. */
static int global_ionode(void *state)
{
    struct global_file *f = state;

    return f->is_stream ? BELOW(f, ionode, ENOTSUP) : f->server;
}

/* ---- Calls with a path ---- */

#define ON_PATH(path, about, entry, data, bytes, ...)          \
    GLOBAL_ONCE(&current, GLOBAL_##entry, about, ({            \
        const struct ndevice *below_ = ndevice_of(path);       \
        below_->entry ? below_->entry(__VA_ARGS__) : -ENOTSUP; \
    }),                                                        \
                data, bytes)

#define GLOBAL_PATH_CALL(entry, sum, data, bytes, parameters, ...)                         \
    static int global_##entry parameters                                                   \
    {                                                                                      \
        return (int)ON_PATH(path, global_sum(sum, path), entry, data, bytes, __VA_ARGS__); \
    }

GLOBAL_PATH_CALL(stat, 0, st, sizeof *st, (const char *path, struct stat *st), path, st)
GLOBAL_PATH_CALL(lstat, 0, st, sizeof *st, (const char *path, struct stat *st), path, st)
GLOBAL_PATH_CALL(access, (uint32_t)mode, NULL, 0, (const char *path, int mode), path, mode)
GLOBAL_PATH_CALL(unlink, 0, NULL, 0, (const char *path), path)
GLOBAL_PATH_CALL(mkdir, 0, NULL, 0, (const char *path, mode_t mode), path, mode)
GLOBAL_PATH_CALL(rmdir, 0, NULL, 0, (const char *path), path)
GLOBAL_PATH_CALL(symlink, global_sum(0, text), NULL, 0, (const char *text, const char *path), text, path)
GLOBAL_PATH_CALL(setattr, (uint32_t)flags, NULL, 0, (const char *path, int flags, const struct nattr *attr), path,
                 flags, attr)

/* The switch does not see which drivers have the two paths. */
#define GLOBAL_NAMES_CALL(entry)                                                                       \
    static int global_##entry(const char *path, const char *other)                                     \
    {                                                                                                  \
        return (int)GLOBAL_ONCE(&current, GLOBAL_##entry, global_sum(global_sum(0, path), other), ({   \
            const struct ndevice *below = ndevice_of(path);                                            \
            below != ndevice_of(other) ? -EXDEV : below->entry ? below->entry(path, other) : -ENOTSUP; \
        }),                                                                                            \
                                NULL, 0);                                                              \
    }

GLOBAL_NAMES_CALL(rename)
GLOBAL_NAMES_CALL(link)

static ssize_t global_readlink(const char *path, char *buf, size_t size)
{
    char text[GLOBAL_DATA_BYTES];
    size_t most = size < sizeof text ? size : sizeof text;
    ssize_t n = ON_PATH(path, global_sum((uint32_t)size, path), readlink, text, sizeof text, path, text, most);

    if (n > 0)
        memcpy(buf, text, (size_t)n);
    return n;
}

static const struct ndevice global_device = {
    .name = "global",
    .match = match,
    .open = global_open,
    .close = global_close,
    .read = global_read_at_offset,
    .write = global_write,
    .pread = global_pread,
    .pwrite = global_pwrite,
    .setview = global_setview,
    .alone = global_alone,
    .lseek = global_lseek,
    .fstat = global_fstat,
    .fstatfs = global_fstatfs,
    .ftruncate = global_ftruncate,
    .fsync = global_fsync,
    .fsetattr = global_fsetattr,
    .readstart = global_readstart,
    .readend = global_readend,
    .writestart = global_writestart,
    .writeend = global_writeend,
    .ionode = global_ionode,
    .iochannel = global_iochannel,
    .stat = global_stat,
    .lstat = global_lstat,
    .access = global_access,
    .unlink = global_unlink,
    .rename = global_rename,
    .link = global_link,
    .mkdir = global_mkdir,
    .rmdir = global_rmdir,
    .symlink = global_symlink,
    .readlink = global_readlink,
    .setattr = global_setattr,
};

/* ---- The mode ---- */

/* Puts the driver on a standard stream, if the descriptor still is one. */
static void cover_stream(int fd)
{
    struct ndevice_slot *slot = ndevice_slot(fd);
    struct global_file *f;

    if (!slot || !slot->standard || !(f = new_file("", slot->flags)))
        return;
    f->device = slot->device;
    f->state = slot->state;
    f->is_stream = true;
    f->about = (uint32_t)fd;
    ndevice_replace(slot, &global_device, f);
}

void global_uncover(struct ndevice_slot *slot)
{
    struct global_file *f = slot->device == &global_device ? slot->state : NULL;

    if (!f || !f->is_stream || !f->device->setmap || f->held)
        return;
    ndevice_replace(slot, f->device, f->state);
    free(f);
}

bool global_is_file(int fd)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    const struct global_file *f = slot && slot->device == &global_device ? slot->state : NULL;

    return f && !f->is_stream && !f->own;
}

/* Takes what stdio has read ahead in local mode: node 0's belongs to all now. The other nodes' comes back with nlocal.
 */
static void hold_input(void)
{
    struct ndevice_slot *slot = ndevice_slot(STDIN_FILENO);
    struct global_file *f = slot && slot->device == &global_device ? slot->state : NULL;
    size_t n = f && f->is_stream ? (size_t)stdin->_r : 0, old = f ? f->held_bytes - f->held_at : 0;
    char *held = n > 0 ? malloc(n + old) : NULL;

    if (!held)
        return;
    for (size_t i = 0; i < n; i++)
        held[i] = (char)getc(stdin);
    memcpy(held + n, f->held ? f->held + f->held_at : held, old);
    free(f->held);
    f->held = held;
    f->held_at = 0;
    f->held_bytes = n + old;
}

static void cover(void)
{
    is_covering = true;
    ndevice_add_outermost(&global_device);
    cover_stream(STDIN_FILENO);
    cover_stream(STDOUT_FILENO);
}

/* What is printed belongs to the mode in which it was printed. A program of one node is the same in both modes. */
int nglobal(void)
{
    int before = is_global;

    if (before)
        return before;
    collect_all(&current, CONTEXT_GROUP);
    if (!is_covering && current.size > 1)
        cover();
    if (is_covering) {
        fflush(stdout);
        hold_input();
    }
    is_global = true;
    return before;
}

int nlocal(void)
{
    int before = is_global;

    if (before && is_covering)
        fflush(stdout);
    is_global = false;
    return before;
}
