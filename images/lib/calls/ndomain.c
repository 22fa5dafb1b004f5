/*
 * Addressing domains [P1 section 2.2]: an endpoint for some of the PEs of another one. A domain is a group of
 * libpio/group: its context is the number in the tag by which messages of different endpoints never match, and its
 * collective operations are those of nsync and the global operations when `nself` is the domain.
 */
#include <fcntl.h>
#include <group.h>
#include <stdlib.h>

#include "images/lib/devices/endpoint.h"
#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "libpio/group/collect.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

struct domain {
    struct endpoint endpoint; /* the first: a pointer to it is one to the domain */
    struct group group;
};

static struct group *group_of(struct endpoint *e)
{
    return &((struct domain *)e)->group;
}

/* To all members, the caller among them: its own message comes last, as with N_DEST_ALL of the program. */
static long put_to_all(struct group *g, const void *buf, long n, int type)
{
    int result = 0;

    for (int k = 1; result >= 0 && k <= g->size; k++)
        result = group_write(g, buf, (int)n, (g->rank + k) % g->size, type);
    return result;
}

static long domain_put(struct endpoint *e, const void *buf, long n, int dest, int type)
{
    return dest == N_DEST_ALL ? put_to_all(group_of(e), buf, n, type)
                              : group_write(group_of(e), buf, (int)n, dest, type);
}

static long domain_take(struct endpoint *e, void *buf, long n, int *src, int *type)
{
    return group_read(group_of(e), buf, (int)n, src, type);
}

static long domain_test(struct endpoint *e, int *src, int *type)
{
    return group_test(group_of(e), src, type);
}

static long domain_put_buffer(struct endpoint *e, void *buf, long n, int dest, int type)
{
    struct group *g = group_of(e);

    if (dest < 0 || dest >= g->size || type < 0 || type > GROUP_TYPE_MAX)
        return trap_note(-N_EINVAL);
    return trap_nwritep(buf, n, g->process[dest], type, g->context);
}

static long domain_take_buffer(struct endpoint *e, void **buf, long n, int *src, int *type)
{
    struct group *g = group_of(e);
    int from = N_ANY;

    if (*src < N_ANY || *src >= g->size || *type < N_ANY || *type > GROUP_TYPE_MAX)
        return trap_note(-N_EINVAL);
    if (*src >= 0)
        from = g->process[*src];
    long result = trap_read_buffer(buf, n, &from, type, g->context);
    for (int r = 0; r < g->size; r++)
        if (g->process[r] == from)
            *src = r;
    return result;
}

static void domain_learn(struct endpoint *e)
{
    const struct group *g = group_of(e);

    e->info = (struct ninfo){.pid = g->rank, .pes = g->size, .host = trap_self()->host};
    while (1 << e->info.dim < g->size)
        e->info.dim++;
    e->procs = 1;
}

static int domain_close(struct endpoint *e)
{
    int result = group_free(group_of(e));

    endpoint_drop_rests(e);
    free(e);
    return result;
}

static const struct endpoint_way domain_way = {
    .put = domain_put,
    .take = domain_take,
    .test = domain_test,
    .put_buffer = domain_put_buffer,
    .take_buffer = domain_take_buffer,
    .learn = domain_learn,
    .close = domain_close,
};

/* The program's process behind each PE. -N_EADDRNOTAVAIL: the endpoint has no such PE. */
static int find_processes(struct endpoint *e, int n, const int *pid, int *process)
{
    const struct group *g = e->domain;

    for (int k = 0; k < n; k++) {
        if (pid[k] < 0 || N_NODE_OF(pid[k]) >= endpoint_info(e)->pes || N_PROCID_OF(pid[k]) >= e->procs)
            return -N_EADDRNOTAVAIL;
        process[k] = g ? g->process[pid[k]] : pid[k];
    }
    return 0;
}

static int make(struct endpoint *of, int n, const int *pid, struct domain **made)
{
    int *process = n > 0 ? malloc((size_t)n * sizeof *process) : NULL;
    struct domain *d = calloc(1, sizeof *d);
    int error = n < 1 ? -N_EINVAL : !process || !d ? -N_ENOMEM : find_processes(of, n, pid, process);

    if (!error)
        error = group_make_of(&d->group, process, n);
    free(process);
    if (error) {
        free(d);
        return error == -N_EAGAIN ? -N_ENFILE : error;
    }
    d->endpoint = (struct endpoint){.way = &domain_way, .domain = &d->group, .state = N_BOUND, .own_first = -1};
    *made = d;
    return 0;
}

int ndomain(int fd, int n, const int *pid)
{
    int error;
    struct endpoint *of = endpoint_of(fd, &error);
    struct domain *d = NULL;

    if (of)
        error = make(of, n, pid, &d);
    if (!error) {
        error = ndevice_open_state(&message_device, &d->endpoint, O_RDWR);
        if (error < 0)
            domain_close(&d->endpoint);
    }
    return (int)result_to_errno(failure_of_fd("ndomain", fd, error));
}
