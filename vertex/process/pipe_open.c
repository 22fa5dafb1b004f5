/*
 * The front end's part in pipes: numbers for those that a program makes (rexecvf), and the meeting of programs that
 * open one by its name. A process may send to the nodes of its job and, in CONTEXT_PIPE, to the programs that it has
 * met.
 */
#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/message/msg.h"
#include "vertex/process/proc.h"
#include "vertex/trap/syscall.h"

int64_t sys_pipenumber(struct proc *p, const uint64_t *arg)
{
    struct message *m;

    (void)arg;
    if (p->builtin)
        return -N_EPERM;
    int error = request_new(p, &(struct file_request){.seq = 0}, 0, &m);
    return error ? error : request_call(p, m, NODE_HOST, N_PIPE, NULL);
}

/* Notes whom the process may send to, and names the program as in CONTEXT_PIPE. */
static int meet(struct proc *p, struct load_peer *peer)
{
    if (peer->first - proc_job_base(p) < 1u << proc_job_dim(p)) {
        peer->first -= proc_job_base(p);
        return 0;
    }
    if (p->peers == PROC_PEERS_MAX)
        return -N_ENFILE;
    p->peer[p->peers++] = *peer;
    peer->first |= PIPE_ABROAD;
    return 0;
}

static int64_t ask(struct proc *p, uint64_t name, bool writes, struct load_peer *peer)
{
    struct file_request fields = {.sfid = p->base, .offset = p->nodes, .flags = writes};
    int64_t length = vm_copy_string(&p->vm, p->path[0], name, sizeof p->path[0]);
    struct message *m, *reply;

    if (length < 0)
        return length;
    fields.name_bytes = length;
    int error = request_new(p, &fields, length, &m);
    if (error)
        return error;
    request_add(m, p->path[0], length);
    int64_t status = request_call(p, m, NODE_HOST, N_PIPE, &reply);
    return reply_take_structure(status, reply, peer, sizeof *peer);
}

int64_t sys_pipeopen(struct proc *p, const uint64_t *arg)
{
    struct load_peer peer;

    if (p->builtin)
        return -N_EPERM;
    if (p->procid > 0)
        return -N_EINVAL;
    int64_t number = ask(p, arg[0], arg[1] != 0, &peer);
    if (number < 0)
        return number;
    int error = meet(p, &peer);
    if (!error)
        error = vm_copy_out(&p->vm, arg[2], &peer, sizeof peer);
    return error ? error : number;
}
