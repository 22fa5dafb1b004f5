/*
 * <rk.h>: the Reactive Kernel's calls over ngetp, nwritep, nreadp and nrelp. The kernel knows which buffers a program
 * has, but not how much of one is in use; the table below does, the latest buffer last.
 */
#include <rk.h>

#include <limits.h>
#include <n_errno.h>
#include <nself.h>
#include <stdio.h>
#include <stdlib.h>

#include "vertex/contract/errors.h"

static struct {
    char *msg;
    int bytes;
} * table;

static size_t used, room;

_Noreturn static void fail(const char *call, const char *what, const char *why)
{
    char line[200]; /* in one write: other nodes write, too */

    snprintf(line, sizeof line, "%s: node %d: %s%s\n", call, mynode(), what, why);
    fputs(line, stderr);
    abort();
}

/* ---- The table ---- */

static int reserve(void)
{
    size_t more = room ? 2 * room : 16;
    void *larger = used < room ? table : realloc(table, more * sizeof *table);

    if (!larger)
        return -N_ENOMEM;
    room = used < room ? room : more;
    table = larger;
    return 0;
}

static void note(char *msg, int bytes)
{
    table[used].msg = msg;
    table[used++].bytes = bytes;
}

static size_t find(const char *call, const char *msg)
{
    for (size_t i = used; i > 0; i--)
        if (table[i - 1].msg == msg)
            return i - 1;
    fail(call, "the argument is not a message of this process: it comes from neither xmalloc nor xrecv, or was sent",
         "");
}

static void forget(size_t i)
{
    for (used--; i < used; i++)
        table[i] = table[i + 1];
}

/* ---- Buffers ---- */

char *xmalloc(int length)
{
    char *msg = reserve() < 0 ? NULL : ngetp(length);

    if (msg)
        note(msg, length);
    return msg;
}

void xfree(char *msg)
{
    forget(find("xfree", msg));
    nrelp(msg);
}

int xlength(char *msg)
{
    return table[find("xlength", msg)].bytes;
}

/* ---- Messages ---- */

static void must_send(const char *call, int result, int node, int pid)
{
    char what[80];

    if (result >= 0)
        return;
    snprintf(what, sizeof what, "to process %d of node %d: ", pid, node);
    fail(call, what, n_strerror(result));
}

/* -EINVAL: a number that is none of a process, but might look like one among others. */
static int address(int node, int pid)
{
    return node < 0 || node >= N_DEST_ALL || pid < 0 || pid > SHRT_MAX ? -1 : N_PROCESS(node, pid);
}

static void send_last(const char *call, char *msg, int node, int pid)
{
    size_t i = find(call, msg);

    must_send(call, nwritep(msg, table[i].bytes, address(node, pid), RK_TYPE, NULL), node, pid);
    forget(i);
}

void xsend(char *msg, int node, int pid)
{
    send_last("xsend", msg, node, pid);
}

void xmsend(char *msg, int count, int *dest)
{
    int bytes = table[find("xmsend", msg)].bytes;

    if (count < 1) {
        xfree(msg);
        return;
    }
    for (int i = 0; i < 2 * (count - 1); i += 2)
        must_send("xmsend", nwrite(msg, bytes, address(dest[i], dest[i + 1]), RK_TYPE, NULL), dest[i], dest[i + 1]);
    send_last("xmsend", msg, dest[2 * count - 2], dest[2 * count - 1]);
}

static char *receive(const char *call)
{
    int type = RK_TYPE, bytes = reserve();
    char *msg = NULL;

    if (bytes >= 0)
        bytes = nreadp(&msg, INT_MAX, NULL, &type, NULL);
    if (bytes < 0)
        fail(call, "", n_strerror(bytes));
    note(msg, bytes);
    return msg;
}

char *xrecv(void)
{
    int type = RK_TYPE;

    return ntest(NULL, &type) == -N_EAGAIN ? NULL : receive("xrecv");
}

char *xrecvb(void)
{
    return receive("xrecvb");
}

/* ---- Who and where ---- */

int mynode(void)
{
    return N_NODE_OF(npid());
}

int mypid(void)
{
    return N_PROCID_OF(npid());
}

int nnodes(void)
{
    return ncubesize();
}
