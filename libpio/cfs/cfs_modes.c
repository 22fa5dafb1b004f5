/*
 * I/O modes of the Concurrent File System, and files that all nodes open together. setiomode and gopen are calls of all
 * nodes, by a group of the file's own; so are reads and writes in mode 2, and close in modes 1 to 3.
 *
 *   mode 1   the pointer is the home server's (N_CPLACE), which moves it on: fetch and add
 *   mode 2   a scan of the lengths tells each node where its bytes are
 *   mode 3   nothing is told: at + i n, and then at += N n
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/cfs/cfs.h"
#include "libpio/cfs/cfs_calls.h"
#include "libpio/cfs/cfs_client.h"
#include "libpio/cfs/cfs_device.h"
#include "libpio/group/group.h"
#include "libpio/servers/server_driver.h"
#include "vertex/contract/errors.h"

struct mode {
    struct cfs_mode calls; /* the first member: cfs_open has it */
    int number;
    struct group group;
    uint32_t place; /* mode 1: the pointer's number at the server */
};

static struct mode *mode_of(const struct cfs_open *f)
{
    return (struct mode *)f->mode;
}

/* ---- Where bytes are ---- */

static int ask_place(struct cfs_open *f, uint16_t op, uint64_t arg, uint64_t *at)
{
    struct cfs_request r = cfs_request_of(f, op, arg);

    r.block = mode_of(f)->place;
    return (int)cfs_end(cfs_start(f->home, N_CPLACE, r, NULL, 0), at, at ? sizeof *at : 0, NULL, 0);
}

static int take_first(struct cfs_open *f, bool write, uint64_t n, uint64_t *at)
{
    return ask_place(f, write ? 1 : 2, n, at);
}

/* The last node knows the sum, and where the file ends, beyond which no read moves the pointer. */
static int scan_lengths(struct cfs_open *f, bool write, uint64_t n, uint64_t *at)
{
    struct group *g = &mode_of(f)->group;
    int64_t before = (int64_t)n;
    int error = group_scan_before(g, &before, 1, GROUP_INT64, GROUP_SUM);

    before = g->rank == 0 ? 0 : before;
    int64_t next = (int64_t)f->at + before + (int64_t)n;
    if (error == 0 && !write && g->rank == g->size - 1) {
        error = cfs_file_header(f, N_CSIZE, 0, 0);
        if ((uint64_t)next > f->header.size_bytes)
            next = (int64_t)(f->at > f->header.size_bytes ? f->at : f->header.size_bytes);
    }
    int told = group_broadcast(g, &next, sizeof next, g->size - 1);
    *at = f->at + (uint64_t)before;
    f->at = (uint64_t)next;
    return error < 0 ? error : told;
}

static int take_in_order(struct cfs_open *f, bool write, uint64_t n, uint64_t *at)
{
    const struct abi_call before = cfs_tell(write ? "write" : "read", f->name);

    cfs_tell_context(mode_of(f)->group.context);
    int error = scan_lengths(f, write, n, at);
    cfs_tell_end(&before);
    return error;
}

static int take_equal(struct cfs_open *f, bool write, uint64_t n, uint64_t *at)
{
    const struct group *g = &mode_of(f)->group;

    (void)write;
    *at = f->at + (uint64_t)g->rank * n;
    f->at += (uint64_t)g->size * n;
    return 0;
}

static int place(struct cfs_open *f, uint64_t *at)
{
    *at = f->at;
    return mode_of(f)->number == 1 ? ask_place(f, 2, 0, at) : 0;
}

/* ---- Changing the mode ---- */

/* Nodes that differ have read or written different lengths. */
static int check_equal(struct cfs_open *f)
{
    int64_t ends[2] = {(int64_t)f->at, -(int64_t)f->at};
    int error = group_all_reduce(&mode_of(f)->group, ends, 2, GROUP_INT64, GROUP_LEAST);

    return error < 0 ? error : ends[0] != -ends[1] ? -N_EINVAL : 0;
}

/* What the mode of until now has ends, on all nodes. */
static int leave(struct cfs_open *f)
{
    struct mode *m = mode_of(f);

    cfs_tell_context(m->group.context);
    if (m->number == 3)
        return check_equal(f);
    int error = group_barrier(&m->group);
    if (error == 0 && m->number == 1 && m->group.rank == 0)
        error = ask_place(f, 3, 0, NULL);
    return error;
}

static int drop_mode(struct cfs_open *f)
{
    struct mode *m = mode_of(f);
    int error = group_free(&m->group);

    free(m);
    f->mode = NULL;
    return error;
}

static int close_all(struct cfs_open *f)
{
    const struct abi_call before = cfs_tell("close", f->name);
    int error = leave(f), dropped = drop_mode(f);

    cfs_tell_end(&before);
    return error < 0 ? error : dropped;
}

/* One node makes the pointer. */
static int begin_first(struct cfs_open *f)
{
    struct mode *m = mode_of(f);
    int number = m->group.rank == 0 ? ask_place(f, 0, 0, NULL) : 0;
    int error = group_broadcast(&m->group, &number, sizeof number, 0);

    m->place = (uint32_t)number;
    return error < 0 ? error : number < 0 ? number : 0;
}

/* Waits for all nodes. */
static int make_mode(struct cfs_open *f)
{
    struct mode *m = calloc(1, sizeof *m);
    int error = m ? group_make(&m->group, NULL, 0) : -N_ENOMEM;

    if (error < 0) {
        free(m);
        return error;
    }
    cfs_tell_context(m->group.context);
    m->calls.close = close_all;
    m->calls.place = place;
    f->mode = &m->calls;
    return 0;
}

/* An error of the mode that ends is that of all nodes; the file is then in mode 0. */
static int set_mode(struct cfs_open *f, int number)
{
    static int (*const take[])(struct cfs_open *, bool, uint64_t, uint64_t *) = {NULL, take_first, take_in_order,
                                                                                 take_equal};
    if (number < 0 || number > 3)
        return -N_EINVAL;
    if (f->end_moves)
        f->end_moves(f);
    int error = f->mode ? leave(f) : make_mode(f);
    f->at = 0;
    if (!f->mode)
        return error;
    mode_of(f)->number = number;
    f->mode->take = take[number];
    if (error == 0 && number == 1)
        error = begin_first(f);
    if (error < 0 || number == 0) {
        int dropped = drop_mode(f);
        return error < 0 ? error : dropped;
    }
    return 0;
}

long _setiomode(int fd, int mode)
{
    int error;
    struct cfs_open *f = cfs_call_file(fd, &error);

    if (!f)
        return cfs_call_result(error);
    const struct abi_call before = cfs_tell("setiomode", f->name);
    error = set_mode(f, mode);
    cfs_tell_end(&before);
    return cfs_call_result(error);
}

void setiomode(int fd, int mode)
{
    cfs_call_must("setiomode", fd, _setiomode(fd, mode));
}

long _iomode(int fd)
{
    int error;
    const struct cfs_open *f = cfs_call_file(fd, &error);

    return cfs_call_result(!f ? error : f->mode ? mode_of(f)->number : 0);
}

long iomode(int fd)
{
    return cfs_call_must("iomode", fd, _iomode(fd));
}

/* ---- Files that all nodes open ---- */

/* What node 0 knows of it; pages of pointers are each node's own. */
struct told {
    int status;
    struct cfs_header header;
    struct file_stat stat;
    uint64_t handle;
    uint32_t home, disks, disk[CFS_DISKS_MAX];
};

static int open_first(const char *path, int flags, mode_t permissions, struct told *told, struct cfs_open **f)
{
    void *state;
    int status = ndevice_cfs.match(path) ? ndevice_cfs.open(path, flags, permissions, &state) : -N_ENOTSUP;

    if (status < 0)
        return status;
    *f = state;
    told->header = (*f)->header;
    told->stat = (*f)->stat;
    told->handle = (*f)->handle;
    told->home = (*f)->home;
    told->disks = (*f)->disks;
    memcpy(told->disk, (*f)->disk, sizeof told->disk);
    return (*f)->folder ? -N_EISDIR : 0;
}

static int open_told(const struct told *told, const char *path, int flags, struct cfs_open **out)
{
    struct cfs_open *f = calloc(1, sizeof *f);

    *out = f;
    if (!f)
        return -N_ENOMEM;
    f->header = told->header;
    f->stat = told->stat;
    f->handle = told->handle;
    f->home = told->home;
    f->disks = told->disks;
    f->flags = (uint32_t)flags;
    f->name = strdup(server_path_name("/cfs", path));
    memcpy(f->disk, told->disk, sizeof told->disk);
    return 0;
}

/* The worst status of all nodes is that of all. */
static int open_all(const char *path, int flags, mode_t permissions, struct cfs_open **f)
{
    struct told told = {.status = 0};
    struct group g;
    int error = group_make(&g, NULL, 0);

    *f = NULL;
    if (error < 0)
        return error;
    cfs_tell_context(g.context);
    if (g.rank == 0)
        told.status = open_first(path, flags, permissions, &told, f);
    error = group_broadcast(&g, &told, sizeof told, 0);
    if (error == 0)
        error = told.status;
    if (error == 0 && g.rank != 0)
        error = open_told(&told, path, flags, f);
    int failed = group_all_reduce(&g, &error, 1, GROUP_INT, GROUP_LEAST), freed = group_free(&g);
    return failed < 0 ? failed : error < 0 ? error : freed;
}

static int open_in_mode(const char *path, int flags, int mode, mode_t permissions, struct cfs_open **f)
{
    const struct abi_call before = cfs_tell("gopen", ndevice_cfs.match(path) ? server_path_name("/cfs", path) : NULL);
    int error = open_all(path, flags, permissions, f);

    if (error == 0 && mode != 0) {
        cfs_tell_context(CONTEXT_GROUP);
        error = set_mode(*f, mode);
    }
    cfs_tell_end(&before);
    return error;
}

int _gopen(const char *path, int flags, int mode, mode_t permissions)
{
    struct cfs_open *f = NULL;
    int error = mode < 0 || mode > 3 ? -N_EINVAL : open_in_mode(path, flags, mode, permissions, &f);
    const int fd = error < 0 ? error : ndevice_open_state(&ndevice_cfs, f, flags);
    if (fd < 0 && f)
        cfs_file_free(f);
    return (int)cfs_call_result(fd);
}

int gopen(const char *path, int flags, int mode, mode_t permissions)
{
    return (int)cfs_call_must("gopen", -1, _gopen(path, flags, mode, permissions));
}
