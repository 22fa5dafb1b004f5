/*
 * rexecvf of <rexec.h>: a program with descriptors of its own, ends of pipes or files.
 *
 * A pipe of two programs has two ends that pipe() made. The first end that is given away gets the pipe a number, and
 * the program that gets it does not know the other one yet. What is left of the pipe here, behind the descriptor of the
 * other end, is a `rest`:
 *
 *     pipe() --> two unused ends --rexecvf--> one end is a program's, a rest --rexecvf--> both are programs'
 *                                                                            --close----> PIPE_PEER: nobody will come
 *
 * Whoever has its end first is told who has the other one by PIPE_PEER messages (libpio/pipes/pipe.h). If the parent
 * uses a rest itself, it is the program at that end. For that it needs the driver of pipes, which a program gets that
 * contains the prefix of their names, as this file does (emu/job/loader.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <rexec.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/local_pipe.h"
#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/calls/rexec_load.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

/* ---- The rest of a pipe ---- */

struct rest {
    uint32_t number;
    bool writes;             /* the end that is still here */
    struct load_peer holder; /* the program that has the other end */
};

static void (*end_before)(void); /* what ndevice_end was before there was a rest */
static bool ends_rests;

static void tell(const struct load_peer *whom, uint32_t number, const struct load_peer *peer)
{
    for (uint32_t i = 0; i < whom->nodes; i++)
        trap_cwrite(peer, sizeof *peer, whom->first + i, PIPE_TYPE(number, PIPE_PEER), CONTEXT_PIPE);
}

static int rest_close(void *state)
{
    struct rest *r = state;

    tell(&r->holder, r->number, &(struct load_peer){0, 0});
    free(r);
    return 0;
}

static int rest_fstat(void *state, struct stat *st)
{
    (void)state;
    *st = (struct stat){.st_mode = S_IFIFO | S_IRUSR | S_IWUSR, .st_nlink = 1};
    return 0;
}

/* Any use of the end makes this process the program at it, of one node. Returns its state for the driver of pipes;
 * NULL, with *error. */
static void *rest_bind(struct rest *r, int *error)
{
    const struct load_fd fd = {
        .kind = r->writes ? LOAD_FD_WRITES : LOAD_FD_READS, .number = r->number, .peer = r->holder};
    struct ndevice_slot *slot = ndevice_table;

    *error = program_pipes && program_pipes->has_driver ? 0 : -ENOTSUP;
    void *end = *error ? NULL : pipes_new_end(&fd, 1, 0);
    if (!end) {
        *error = *error ? *error : -ENOMEM;
        return NULL;
    }
    tell(&r->holder, r->number, &(struct load_peer){program_pipes->first + (uint32_t)trap_self()->node, 1});
    while (slot->state != r)
        slot++;
    ndevice_replace(slot, &ndevice_pipe, end);
    free(r);
    return end;
}

#define BOUND(type, call, parameters, ...)                                      \
    static type rest_##call parameters                                          \
    {                                                                           \
        int error;                                                              \
        void *end = rest_bind(state, &error);                                   \
                                                                                \
        return end ? ndevice_pipe.call(end __VA_OPT__(, ) __VA_ARGS__) : error; \
    }

BOUND(ssize_t, read, (void *state, void *buf, size_t n), buf, n)
BOUND(ssize_t, write, (void *state, const void *buf, size_t n), buf, n)
BOUND(int, setmap, (void *state, const struct pattern *map), map)
BOUND(int, ioctl, (void *state, int request, void *arg), request, arg)
BOUND(int, getmsg, (void *state, struct strbuf *ctl, struct strbuf *data, int *flags), ctl, data, flags)
BOUND(int, putmsg, (void *state, const struct strbuf *ctl, const struct strbuf *data, int flags), ctl, data, flags)

static const struct ndevice rest_device = {
    .name = "rest of a pipe",
    .close = rest_close,
    .fstat = rest_fstat,
    .read = rest_read,
    .write = rest_write,
    .setmap = rest_setmap,
    .ioctl = rest_ioctl,
    .getmsg = rest_getmsg,
    .putmsg = rest_putmsg,
};

static struct rest *rest_of(int fd)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);

    return slot && slot->device == &rest_device ? slot->state : NULL;
}

/* A process that ends closes what is left. */
static void end_rests(void)
{
    ndevice_end = end_before;
    for (int fd = 0; fd < NDEVICE_DESCRIPTORS; fd++)
        if (rest_of(fd))
            close(fd);
    if (end_before)
        end_before();
}

/* ---- One call ---- */

struct call {
    int first, nodes;
    const struct rexec_fd *fds;
    int n;
    struct load_fd *load; /* behind a struct load_pipes, before the paths */
    char *paths;
    size_t bytes;
};

static int check_fd(const struct call *c, int i)
{
    const struct rexec_fd *f = &c->fds[i];

    if (f->fd < 0 || f->fd >= NDEVICE_DESCRIPTORS)
        return -EBADF;
    for (int k = 0; k < i; k++)
        if (c->fds[k].fd == f->fd)
            return -EINVAL;
    if (f->end < 0)
        return f->path ? 0 : -EINVAL;
    for (int k = 0; k < i; k++) /* no program can have both ends */
        if (c->fds[k].end >= 0 &&
            (c->fds[k].end == f->end ||
             (local_pipe_number(f->end) > 0 && local_pipe_number(c->fds[k].end) == local_pipe_number(f->end))))
            return -EINVAL;
    if (rest_of(f->end))
        return 0;
    int unused = local_pipe_is_unused(f->end);
    return unused < 0 ? unused : unused == 0 ? -EBUSY : 0;
}

static bool names_pipe(const char *path)
{
    static const char prefix[] = "//pipe/";

    return strncmp(path, prefix, sizeof prefix - 1) == 0;
}

/* Creates and truncates the file here, once; the nodes then only open it. A pipe is opened by the program alone. */
static int open_once(const struct rexec_fd *f)
{
    int fd = names_pipe(f->path) ? 0 : open(f->path, f->flags, f->mode);

    if (fd < 0)
        return -errno;
    if (!names_pipe(f->path))
        close(fd);
    return 0;
}

static int describe_end(const struct call *c, int i)
{
    const struct rest *r = rest_of(c->fds[i].end);
    struct load_fd *f = &c->load[i];

    if (r) {
        f->kind = r->writes ? LOAD_FD_WRITES : LOAD_FD_READS;
        f->number = r->number;
        f->peer = r->holder;
        return 0;
    }
    long number = trap_pipenumber();
    f->kind = local_pipe_end(c->fds[i].end) == LOCAL_PIPE_WRITES ? LOAD_FD_WRITES : LOAD_FD_READS;
    f->number = (uint32_t)number;
    f->peer_unknown = 1;
    return number < 0 ? (int)number : 0;
}

static int describe_path(struct call *c, int i)
{
    struct rexec_name name;
    const struct rexec_fd *f = &c->fds[i];
    int error = open_once(f);

    c->load[i].kind = LOAD_FD_PATH;
    c->load[i].flags = f->flags & ~(O_CREAT | O_TRUNC | O_EXCL);
    c->paths = stpcpy(c->paths, rexec_from_root(f->path, &name)) + 1;
    return error;
}

/* Writes what the program is to find at its start; the caller frees *blob. */
static int describe(struct call *c, struct load_pipes **blob)
{
    size_t room = sizeof **blob + (size_t)c->n * (sizeof *c->load + sizeof(struct rexec_name));
    int error = 0;

    *blob = calloc(1, room);
    if (!*blob)
        return -ENOMEM;
    c->load = (struct load_fd *)(*blob + 1);
    c->paths = (char *)(c->load + c->n);
    for (int i = 0; i < c->n && !error; i++) {
        c->load[i].fd = (uint32_t)c->fds[i].fd;
        error = c->fds[i].end >= 0 ? describe_end(c, i) : describe_path(c, i);
    }
    (*blob)->has_driver = 1;
    (*blob)->fds = (uint32_t)c->n;
    (*blob)->path_bytes = (uint32_t)(c->paths - (char *)(c->load + c->n));
    c->bytes = (size_t)(c->paths - (char *)*blob);
    return error;
}

/* ---- After the load ---- */

/* The other descriptor of a pipe that pipe() has made; -1: it is closed. */
static int other_end(int fd)
{
    for (int other = 0; other < NDEVICE_DESCRIPTORS; other++)
        if (local_pipe_number(other) == local_pipe_number(fd) && local_pipe_end(other) != local_pipe_end(fd))
            return other;
    return -1;
}

/* The program has an end of a pipe of which nothing was given away before. */
static void leave_rest(int fd, const struct load_fd *f, const struct load_peer *program)
{
    int other = other_end(fd);
    struct rest *r = other >= 0 ? malloc(sizeof *r) : NULL;

    if (r) {
        *r = (struct rest){f->number, f->kind == LOAD_FD_READS, *program};
        local_pipe_replace(other, &rest_device, r);
        if (!ends_rests) {
            end_before = ndevice_end;
            ndevice_end = end_rests;
        }
        ends_rests = true;
    } else {
        tell(program, f->number, &(struct load_peer){0, 0});
    }
    local_pipe_take(fd);
}

/* The program has the other end of a pipe. */
static void take_rest(int fd, const struct load_peer *program)
{
    struct rest *r = rest_of(fd);

    tell(&r->holder, r->number, program);
    r->holder.nodes = 0; /* closing tells nobody */
    close(fd);
}

static struct load_peer program_of(const struct call *c)
{
    return (struct load_peer){(program_pipes ? program_pipes->first : 0) + (uint32_t)c->first, (uint32_t)c->nodes};
}

static void give_ends_away(const struct call *c)
{
    const struct load_peer program = program_of(c);

    for (int i = 0; i < c->n; i++)
        if (c->fds[i].end >= 0 && rest_of(c->fds[i].end))
            take_rest(c->fds[i].end, &program);
        else if (c->fds[i].end >= 0)
            leave_rest(c->fds[i].end, &c->load[i], &program);
}

/* Some of the nodes may have started the program all the same: they must not wait for ever. */
static void take_ends_back(const struct call *c)
{
    const struct load_peer program = program_of(c);

    for (int i = 0; i < c->n; i++)
        if (c->load[i].peer_unknown)
            tell(&program, c->load[i].number, &(struct load_peer){0, 0});
}

static int run(struct call *c, const char *path, char *const argv[])
{
    struct load_pipes *blob = NULL;
    int error = 0;

    for (int i = 0; i < c->n && !error; i++)
        error = check_fd(c, i);
    if (!error)
        error = describe(c, &blob);
    if (!error) {
        error = rexec_load(c->first, c->nodes, path, argv, blob, c->bytes);
        if (error == -ENOMEM)
            take_ends_back(c);
        if (!error)
            give_ends_away(c);
    }
    free(blob);
    return error;
}

int rexecvf(int first, int nodes, const char *path, char *const argv[], const struct rexec_fd *fds, int n)
{
    struct call c = {.first = first, .nodes = nodes, .fds = fds, .n = n};
    int before = errno, result = n < 0 || n > NDEVICE_DESCRIPTORS || !argv || !argv[0] ? -EINVAL : run(&c, path, argv);

    errno = before;
    return trap_note(result);
}
