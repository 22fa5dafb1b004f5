/* askstart, askend (ask.h). */
#include "vertex/file/ask.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/name.h"
#include "vertex/file/request.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/msg.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

struct ask {
    struct ask *next; /* the one asked before */
    uint32_t node, type, sequence;
    uint32_t bytes;       /* of the answer, at most */
    uint64_t sent_cycles; /* virtual time */
};

static bool may_ask(uint64_t type)
{
    return type == N_FSTATNAME || type == N_FREADNAME || type == N_FMAKE || type == N_FUNLINK;
}

static uint32_t count(const struct proc *p)
{
    uint32_t n = 0;

    for (const struct ask *a = p->ask; a; a = a->next)
        n++;
    return n;
}

RARE bool ask_awaits(const struct proc *p, const struct message *m)
{
    for (const struct ask *a = p->ask; a; a = a->next)
        if (m->node == a->node && TAG_TYPE(m->tag) == N_REPLY(a->type) && message_sequence(m) == a->sequence)
            return true;
    return false;
}

static void drop(struct ask **link)
{
    struct ask *a = *link;

    *link = a->next;
    kmem_free(MEM_PROCESS, a, sizeof *a);
}

RARE void ask_drop_all(struct proc *p)
{
    while (p->ask)
        drop(&p->ask);
}

/* Allocates the record before it sends the request: after that nothing can fail. Takes over `m`, also on an error. */
static int64_t start(struct proc *p, uint32_t node, uint32_t type, uint32_t bytes, struct message *m)
{
    event_reap(); /* sends that have ended may hold the memory for the record */
    struct ask *a = kmem_alloc(MEM_PROCESS, sizeof *a);

    if (!a) {
        msg_release(m);
        return -N_ENOMEM;
    }
    *a = (struct ask){p->ask, node, type, 0, bytes, ncu_time()};
    a->sequence = request_send(p, m, node, type);
    p->ask = a;
    return a->sequence;
}

RARE int64_t sys_askstart(struct proc *p, const uint64_t *arg)
{
    uint64_t type = arg[1], bytes = arg[4];
    struct message *m;
    struct target t;

    if (!may_ask(type) || bytes > ASK_DATA_MAX_BYTES)
        return -N_EINVAL;
    if (count(p) == ASK_MAX)
        return -N_EAGAIN;
    int error = name_find(p, arg[0], 0, &t);
    if (error)
        return error;
    bool has_data = type == N_FMAKE;
    const struct file_request fields = {.mode = arg[2], .bytes = type == N_FSTATNAME || type == N_FUNLINK ? 0 : bytes};
    error = name_request(p, &t, NULL, fields, has_data ? bytes : 0, &m);
    if (!error && has_data) {
        error = vm_copy_in(&p->vm, (char *)m->payload + m->bytes, arg[3], bytes);
        m->bytes += bytes;
        if (error)
            msg_release(m);
    }
    return error ? error : start(p, t.node, type, bytes, m);
}

static struct ask **find(struct proc *p, uint64_t number)
{
    struct ask **link = &p->ask;

    while (*link && (*link)->sequence != number)
        link = &(*link)->next;
    return *link ? link : NULL;
}

/* An answer has as many bytes as its type says, or as its status. */
static int64_t give(struct proc *p, const struct ask *a, int64_t status, struct message *reply, uint64_t to)
{
    if (a->type == N_FSTATNAME)
        return reply_give_structure(p, status, reply, to, sizeof(struct file_stat));
    if (a->type == N_FREADNAME)
        status = reply_give_data(p, status, reply, to, a->bytes);
    if (reply)
        msg_release(reply);
    return status;
}

RARE int64_t sys_askend(struct proc *p, const uint64_t *arg)
{
    struct ask **link = find(p, arg[0]);
    struct message *reply;

    if (!link)
        return -N_EINVAL;
    const struct ask a = **link;
    int64_t status = request_await_since(p, a.node, a.type, a.sequence, a.sent_cycles, &reply);
    if (p->killed) { /* the end of the process will free the record */
        if (reply)
            msg_release(reply);
        return status;
    }
    drop(find(p, arg[0]));
    return give(p, &a, status, reply, arg[1]);
}
