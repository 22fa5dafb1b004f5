/*
 * `nself`: the endpoint of the own program, whose messages go by the traps, and which endpoint the program has put into
 * that variable. A program that does not name it has none of this.
 */
#include <sysn.h>

#include "images/lib/devices/endpoint.h"
#include "images/lib/devices/ndevice_switch.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

static long self_put(struct endpoint *e, const void *buf, long n, int dest, int type)
{
    (void)e;
    return trap_nwrite(buf, n, dest, type);
}

static long self_take(struct endpoint *e, void *buf, long n, int *src, int *type)
{
    (void)e;
    return trap_read_message(buf, n, src, type);
}

static long self_test(struct endpoint *e, int *src, int *type)
{
    (void)e;
    return trap_test_message(src, type);
}

static long self_put_buffer(struct endpoint *e, void *buf, long n, int dest, int type)
{
    (void)e;
    return trap_nwritep(buf, n, dest, type, CONTEXT_PROGRAM);
}

static long self_take_buffer(struct endpoint *e, void **buf, long n, int *src, int *type)
{
    (void)e;
    return trap_read_buffer(buf, n, src, type, CONTEXT_PROGRAM);
}

/* The kernel knows how many processes a node has: signal 0 asks. */
static void self_learn(struct endpoint *e)
{
    const struct abi_whoami *self = trap_self();
    int before = trap_last_error;

    e->info = (struct ninfo){
        .pid = self->node, .procid = self->proc, .pes = self->nodes, .dim = self->dim, .host = self->host};
    for (e->procs = 1; trap_kill(N_PROCESS(0, e->procs), 0) >= 0; e->procs++)
        ;
    trap_last_error = before;
}

static const struct endpoint_way self_way = {
    .put = self_put,
    .take = self_take,
    .test = self_test,
    .put_buffer = self_put_buffer,
    .take_buffer = self_take_buffer,
    .learn = self_learn,
};

static struct endpoint own_program = {.way = &self_way, .is_program = true, .state = N_BOUND, .own_first = -1};

int nself = NSELF_DESCRIPTOR;

/* Opens it before main, in programs that name it. */
__attribute__((constructor)) static void open_nself(void)
{
    ndevice_table[NSELF_DESCRIPTOR] =
        (struct ndevice_slot){.device = &message_device, .state = &own_program, .flags = 2};
}

/* ---- Descriptors ---- */

struct endpoint *endpoint_of(int fd, int *error)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);

    *error = !slot ? -N_EBADF : slot->device != &message_device ? -N_ENOSTR : 0;
    return *error ? NULL : slot->state;
}

struct endpoint *endpoint_of_nself(int *error)
{
    return endpoint_of(nself, error);
}

struct group *endpoint_domain(void)
{
    int error;
    const struct endpoint *e = nself == NSELF_DESCRIPTOR ? NULL : endpoint_of(nself, &error);

    return e ? e->domain : NULL;
}
