/*
 * <nself.h>: messages between the nodes of a program.
 */
#include <nself.h>
#include <stddef.h>

#include "images/lib/devices/endpoint.h"
#include "images/lib/traps/failure.h"
#include "images/lib/traps/self.h"
#include "libpio/group/collect.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

_Static_assert(sizeof(int) == sizeof(int32_t), "abi_whoami's fields are ints");

static void store(int *where, int value)
{
    if (where)
        *where = value;
}

#define RARE __attribute__((noinline, cold))

/* In a domain: the PE. A bad `nself` counts as the program. */
static RARE bool whoami_of_other(int *node, int *proc, int *host, int *dim)
{
    int error;
    struct endpoint *e = endpoint_of_nself(&error);

    if (!e)
        return false;
    const struct ninfo *info = endpoint_info(e);
    store(node, info->pid);
    store(proc, info->procid);
    store(host, info->host);
    store(dim, info->dim);
    return true;
}

void whoami(int *node, int *proc, int *host, int *dim)
{
    if (endpoint_is_other() && whoami_of_other(node, proc, host, dim))
        return;
    const struct abi_whoami *self = trap_self();
    store(node, self->node);
    store(proc, self->proc);
    store(host, self->host);
    store(dim, self->dim);
}

int npid(void)
{
    int node, proc;

    if (endpoint_is_other() && whoami_of_other(&node, &proc, NULL, NULL))
        return N_PROCESS(node, proc);
    return self_process();
}

/* NAME on the endpoint that `nself` is, if it is not the program. */
#define ON_OTHER(name, call, parameters, ...)                                  \
    static RARE int name##_other parameters                                    \
    {                                                                          \
        int error;                                                             \
        struct endpoint *e = endpoint_of_nself(&error);                        \
        long result = e ? call(e, __VA_ARGS__) : error;                        \
                                                                               \
        return (int)(result < 0 ? failure_of_message(result, #name) : result); \
    }

ON_OTHER(nwrite, endpoint_put, (const void *buf, int n, int dest, int type), buf, n, dest, type)
ON_OTHER(nread, endpoint_take, (void *buf, int n, int *src, int *type), buf, n, src, type)
ON_OTHER(ntest, endpoint_test, (int *src, int *type), src, type)
ON_OTHER(nwritep, endpoint_put_buffer, (char *buf, int n, int dest, int type), buf, n, dest, type)
ON_OTHER(nreadp, endpoint_take_buffer, (char **buf, int n, int *src, int *type), (void **)buf, n, src, type)

int nwrite(const void *buf, int n, int dest, int type, int *flag)
{
    (void)flag;
    if (endpoint_is_other())
        return nwrite_other(buf, n, dest, type);
    return (int)trap_nwrite(buf, n, dest, type);
}

/* The name below nwrite, which some codes call. */
int _nwrite(const void *buf, int n, int dest, int type, int *flag) __attribute__((alias("nwrite")));

int nread(void *buf, int n, int *src, int *type, int *flag)
{
    int any_src = N_ANY, any_type = N_ANY;

    (void)flag;
    if (endpoint_is_other())
        return nread_other(buf, n, src ? src : &any_src, type ? type : &any_type);
    return (int)trap_read_message(buf, n, src ? src : &any_src, type ? type : &any_type);
}

int ntest(int *src, int *type)
{
    int any_src = N_ANY, any_type = N_ANY;

    if (endpoint_is_other())
        return ntest_other(src ? src : &any_src, type ? type : &any_type);
    return (int)trap_test_message(src ? src : &any_src, type ? type : &any_type);
}

int nrange(int low, int high)
{
    return (int)trap_nrange(low, high);
}

char *ngetp(int n)
{
    long buf = n < 0 ? failure_of_message(-N_EINVAL, "ngetp") : trap_ngetp(n);

    return buf < 0 ? NULL : (char *)buf;
}

int nwritep(char *buf, int n, int dest, int type, int *flag)
{
    (void)flag;
    if (endpoint_is_other())
        return nwritep_other(buf, n, dest, type);
    return (int)trap_nwritep(buf, n, dest, type, CONTEXT_PROGRAM);
}

int nreadp(char **buf, int n, int *src, int *type, int *flag)
{
    int any_src = N_ANY, any_type = N_ANY;

    (void)flag;
    if (endpoint_is_other())
        return nreadp_other(buf, n, src ? src : &any_src, type ? type : &any_type);
    return (int)trap_read_buffer((void **)buf, n, src ? src : &any_src, type ? type : &any_type, CONTEXT_PROGRAM);
}

int nrelp(char *buf)
{
    return (int)trap_nrelp(buf);
}

int nsync(int type)
{
    struct group all;

    if (type < 0 || type > N_TYPE_MAX)
        return (int)failure_of_message(-N_EINVAL, "nsync");
    collect_all(&all, CONTEXT_SYNC);
    return collect_barrier(&all, all.context == CONTEXT_SYNC ? type : TYPE_OF_DOMAIN(TYPE_OF_SYNC(type)));
}
