/*
 * <nself.h>: messages between the nodes of a program.
 */
#include <nself.h>
#include <stddef.h>

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

void whoami(int *node, int *proc, int *host, int *dim)
{
    struct abi_whoami self = {0};

    trap_whoami(&self);
    store(node, self.node);
    store(proc, self.proc);
    store(host, self.host);
    store(dim, self.dim);
}

int npid(void)
{
    struct abi_whoami self = {0};

    trap_whoami(&self);
    return N_PROCESS(self.node, self.proc);
}

int nwrite(const void *buf, int n, int dest, int type, int *flag)
{
    (void)flag;
    return (int)trap_nwrite(buf, n, dest, type);
}

int nread(void *buf, int n, int *src, int *type, int *flag)
{
    int any_src = N_ANY;
    int any_type = N_ANY;

    (void)flag;
    return (int)trap_read_message(buf, n, src ? src : &any_src, type ? type : &any_type);
}

int ntest(int *src, int *type)
{
    int any_src = N_ANY;
    int any_type = N_ANY;

    return (int)trap_test_message(src ? src : &any_src, type ? type : &any_type);
}

int nrange(int low, int high)
{
    return (int)trap_nrange(low, high);
}

char *ngetp(int n)
{
    long buf = n < 0 ? trap_note(-N_EINVAL) : trap_ngetp(n);

    return buf < 0 ? NULL : (char *)buf;
}

int nwritep(char *buf, int n, int dest, int type, int *flag)
{
    (void)flag;
    return (int)trap_nwritep(buf, n, dest, type);
}

int nreadp(char **buf, int n, int *src, int *type, int *flag)
{
    int any_src = N_ANY;
    int any_type = N_ANY;

    (void)flag;
    return (int)trap_read_buffer((void **)buf, n, src ? src : &any_src, type ? type : &any_type);
}

int nrelp(char *buf)
{
    return (int)trap_nrelp(buf);
}

int nsync(int type)
{
    struct group all;

    if (type < 0 || type > N_TYPE_MAX)
        return trap_note(-N_EINVAL);
    collect_all(&all, CONTEXT_SYNC);
    return collect_barrier(&all, type);
}
