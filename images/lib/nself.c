/*
 * <nself.h>: messages between the nodes of a program.
 */
#include <nself.h>
#include <stddef.h>

#include "images/lib/trap.h"
#include "nsdisk/errors.h"
#include "vertex/system.h"

_Static_assert(N_TYPE_MAX == N_TYPE_USER_MAX, "<sysn.h> and vertex/system.h agree");
_Static_assert(sizeof(int) == sizeof(int32_t), "abi_whoami's fields are ints");

static void store(int *where, int value)
{
    if (where)
        *where = value;
}

static int finish(int *flag, long result)
{
    store(flag, result < 0 ? (int)result : 0);
    return (int)result;
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
    return self.proc << 16 | self.node;
}

int nwrite(const void *buf, int n, int dest, int type, int *flag)
{
    return finish(flag, trap_nwrite(buf, n, dest, type));
}

int nread(void *buf, int n, int *src, int *type, int *flag)
{
    int any_src = N_ANY;
    int any_type = N_ANY;

    return finish(flag, trap_nread(buf, n, src ? src : &any_src, type ? type : &any_type));
}

int ntest(int *src, int *type)
{
    int any_src = N_ANY;
    int any_type = N_ANY;

    return (int)trap_ntest(src ? src : &any_src, type ? type : &any_type);
}

int nrange(int low, int high)
{
    return (int)trap_nrange(low, high);
}

/* Both sides of one dimension tell each other that they are here. */
static int sync_dimension(int partner, int type)
{
    char nothing;
    int result = nwrite(&nothing, 0, partner, type, NULL);

    return result < 0 ? result : nread(&nothing, 0, &partner, &type, NULL);
}

/*
 * After dimension k a node knows that all 2^(k+1) nodes that differ from it only in bits 0..k have come. Each message
 * is read by its source: a partner that is already in the next barrier cannot be taken for one of this, since
 * messages of one source and type keep their order.
 */
int nsync(int type)
{
    int node, dim;
    int result = 0;

    if (type < 0 || type > N_TYPE_MAX)
        return -N_EINVAL;
    whoami(&node, NULL, NULL, &dim);
    for (int k = 0; k < dim && result >= 0; k++)
        result = sync_dimension(node ^ 1 << k, type);
    return result < 0 ? result : 0;
}
