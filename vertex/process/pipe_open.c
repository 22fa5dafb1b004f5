/*
 * The front end's part in pipes: numbers for those that a program makes (rexecvf), and the meeting of programs that
 * open one by its name. A process may send to the nodes of its job and, in CONTEXT_PIPE, to the programs that it has
 * met.
 */
#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/request.h"
#include "vertex/message/queue.h"
#include "vertex/process/proc.h"
#include "vertex/trap/syscall.h"

int64_t sys_pipenumber(struct proc *p, const uint64_t *arg)
{
    (void)arg;
    return p->builtin ? -N_EPERM : request_ask(p, &(struct file_request){.seq = 0}, NODE_HOST, N_PIPE, NULL);
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
    const struct file_request fields = {.sfid = p->base, .offset = p->nodes, .flags = writes};
    struct message *reply = NULL;
    int64_t status = request_ask_by_name(p, fields, name, N_PIPE, &reply);

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
