/*
 * The driver of pipes (pipe.h): descriptors 0 and 1 of the programs of a pipeline. The C library's start calls
 * pipes_start in a program that is in one; elsewhere none of this is loaded (images/program.ld).
 */
#include "libpio/pipes/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "vertex/contract/traps.h"

#define PREFIX "//pipe/"

extern bool global_inside __attribute__((weak)); /* in a program that calls nglobal: global_call.h */

/* ---- Ends ---- */

static void end_free(struct pipe_end *e)
{
    for (int32_t i = 0; i < e->partners; i++)
        plan_window_close(&e->partner[i].window);
    free(e->partner);
    plan_free(e->part);
    pattern_free(e->their);
    pattern_free(e->identity);
}

/* The other end must know that there is nothing more to come or to take, and may wait for the mapping. */
static int pipe_close(void *end)
{
    struct pipe_end *e = end;
    bool was_mapped = e->map;

    if (e->is_parents)
        return 0;
    if (e->nodes == 1)
        pipe_set_map(e, NULL); /* unless it has one */
    if (pipe_know(e, true) == 0)
        pipe_announce(e);
    if (!was_mapped && !e->error)
        pipe_tell_gone(e);
    if (e->writes)
        pipe_end_writing(e);
    else
        pipe_end_reading(e);
    end_free(e);
    return 0;
}

static int pipe_fstat(void *end, struct stat *st)
{
    (void)end;
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFIFO | S_IRUSR | S_IWUSR;
    st->st_nlink = 1;
    st->st_blksize = 8192;
    return 0;
}

/* ---- Requests ---- */

static int pipe_setmap(void *end, const struct pattern *map)
{
    return pipe_set_map(end, map);
}

static bool find_short(void *ctx, const struct plan_run *run)
{
    int64_t *shortest = ctx;

    if (run->bytes < *shortest)
        *shortest = run->bytes;
    return *shortest >= N_PLAN_COARSE_BYTES;
}

/* [P1 section 1.2]: how the bytes of this node go. */
static int plan_of(const struct pipe_end *e)
{
    int64_t shortest = INT64_MAX;

    if (!e->ready)
        return -EAGAIN;
    if (e->partners <= 1)
        return N_PLAN_MATCHED;
    for (int32_t i = 0; i < e->partners; i++) {
        const struct plan *p = e->partner[i].window.plan;

        plan_runs(p, p->from, p->from + p->period, find_short, &shortest);
    }
    return shortest >= N_PLAN_COARSE_BYTES ? N_PLAN_COARSE : N_PLAN_PACKED;
}

static int pipe_ioctl(void *end, int request, void *arg)
{
    struct pipe_end *e = end;
    int plan, error;

    switch (request) {
    case N_GETMAP:
        *(const struct pattern **)arg = e->map;
        return e->by_user ? 0 : -EINVAL;
    case N_PES:
        error = pipe_know(e, true);
        *(int *)arg = (int)e->other.nodes;
        return error;
    case N_GETPLAN:
        plan = plan_of(e);
        *(int *)arg = plan;
        return plan < 0 ? plan : 0;
    case N_STATE:
        *(int *)arg = pipe_state(e);
        return 0;
    default:
        return pipe_message_ioctl(e, request, arg);
    }
}

/* The direction that a descriptor does not have is EBADF, as in Unix, for bytes; messages go both ways. */
static ssize_t end_read(void *end, void *buf, size_t n)
{
    struct pipe_end *e = end;

    if (e->messages.endpoint.is_connected)
        return pipe_read_message(e, buf, n);
    return e->writes ? -EBADF : pipe_read(e, buf, n);
}

static ssize_t end_write(void *end, const void *buf, size_t n)
{
    struct pipe_end *e = end;

    if (e->messages.endpoint.is_connected)
        return pipe_write_message(e, buf, n);
    return e->writes ? pipe_write(e, buf, n) : -EBADF;
}

/* ---- Names ---- */

static int name_match(const char *path)
{
    return strncmp(path, PREFIX, sizeof PREFIX - 1) == 0;
}

/* Waits until another program has opened the other end. Each node of the program opens it. */
static int name_open(const char *path, int flags, mode_t mode, void **state)
{
    const char *name = path + sizeof PREFIX - 1;

    (void)mode;
    if (name[0] == '\0' || strchr(name, '/'))
        return -ENOENT;
    if ((flags & O_ACCMODE) == O_RDWR)
        return -EINVAL;
    if (&global_inside && global_inside)
        return -ENOTSUP;
    struct load_fd fd = {.kind = (flags & O_ACCMODE) == O_WRONLY ? LOAD_FD_WRITES : LOAD_FD_READS};
    long number = trap_pipeopen(name, fd.kind == LOAD_FD_WRITES, &fd.peer);
    if (number < 0)
        return (int)number;
    fd.number = (uint32_t)number;
    *state = pipes_new_end(&fd, trap_self()->nodes, trap_self()->node);
    return *state ? 0 : -ENOMEM;
}

static int name_stat(const char *path, struct stat *st)
{
    (void)path;
    return pipe_fstat(NULL, st);
}

static int name_access(const char *path, int mode)
{
    (void)path;
    return mode & X_OK ? -EACCES : 0;
}

/* ---- Start and end of the program ---- */

const struct ndevice ndevice_pipe = {
    .name = "pipe",
    .match = name_match,
    .open = name_open,
    .stat = name_stat,
    .access = name_access,
    .close = pipe_close,
    .read = end_read,
    .write = end_write,
    .fstat = pipe_fstat,
    .setmap = pipe_setmap,
    .ioctl = pipe_ioctl,
    .poll = pipe_poll,
    .forked = pipe_forked,
    .getmsg = pipe_getmsg,
    .putmsg = pipe_putmsg,
};

static void (*end_before)(void); /* what ndevice_end was before there was an end */
static bool ends_all;

/* A process that ends without closing its descriptors closes its ends of pipes. */
static void end_all(void)
{
    ndevice_end = end_before;
    for (int fd = 0; fd < NDEVICE_DESCRIPTORS; fd++)
        if (ndevice_table[fd].device == &ndevice_pipe)
            close(fd);
    if (end_before)
        end_before();
}

void *pipes_new_end(const struct load_fd *fd, int nodes, int own)
{
    struct pipe_end *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    *e = (struct pipe_end){.number = fd->number,
                           .other = fd->peer,
                           .known = !fd->peer_unknown,
                           .own = own,
                           .nodes = nodes,
                           .writes = fd->kind == LOAD_FD_WRITES};
    if (!ends_all) {
        end_before = ndevice_end;
        ndevice_end = end_all;
    }
    ends_all = true;
    return e;
}

static void start_failed(const char *what, const char *why)
{
    write(STDERR_FILENO, what, strlen(what));
    write(STDERR_FILENO, why, strlen(why));
    _exit(127);
}

static void attach(const struct load_pipes *pipes, const struct load_fd *fd, int own)
{
    struct pipe_end *e = pipes_new_end(fd, (int)pipes->nodes, own);

    if (!e)
        start_failed("a pipe", ": no memory\n");
    ndevice_table[fd->fd] = (struct ndevice_slot){.device = &ndevice_pipe,
                                                  .state = e,
                                                  .flags = e->writes ? O_WRONLY : O_RDONLY,
                                                  .standard = fd->fd <= STDERR_FILENO};
}

/* The parent has created and truncated the file. */
static void open_path(const struct load_fd *fd, const char *path)
{
    int opened = open(path, fd->flags);

    if (opened < 0)
        start_failed(path, ": this node can't open it\n");
    if (opened == (int)fd->fd)
        return;
    ndevice_table[fd->fd] = ndevice_table[opened];
    ndevice_table[fd->fd].standard = fd->fd <= STDERR_FILENO;
    ndevice_table[opened].device = NULL;
}

void pipes_start(const struct load_pipes *pipes)
{
    const struct load_fd *fd = (const struct load_fd *)(pipes + 1);
    const char *path = (const char *)(fd + pipes->fds);

    for (uint32_t i = 0; i < pipes->fds; i++, fd++)
        if (fd->kind == LOAD_FD_PATH) {
            open_path(fd, path);
            path += strlen(path) + 1;
        } else {
            attach(pipes, fd, trap_self()->node);
        }
}
