/*
 * The message calls that send: nwrite, and by the context cwrite (calls.h).
 */
#include <stdbool.h>
#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/message/buffers.h"
#include "vertex/message/calls.h"
#include "vertex/message/charge.h"
#include "vertex/message/delivery.h"
#include "vertex/message/lost.h"
#include "vertex/message/sends.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/kin.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

RARE bool calls_is_procid_beyond(const struct proc *p, uint32_t procid)
{
    return (p->builtin || kin_have_been()) && procid < PROCS_MAX;
}

static RARE bool may_send_beyond(const struct proc *p, int32_t dest)
{
    int32_t node = NODE_OF(dest);

    if (!is_procid(p, PROCID_OF(dest)))
        return false;
    if (p->builtin)
        return node <= (int32_t)NODE_HOST;
    return node < (int32_t)p->nodes || dest == (int32_t)NODE_HOST || node == N_DEST_ALL;
}

/* The first test covers process 0 of most nodes; the second, all other destinations. */
static bool may_send_to(const struct proc *p, int32_t dest)
{
    return (uint32_t)dest >> p->whole_dim == 0 || may_send_beyond(p, dest);
}

int calls_check_send(const struct proc *p, uint64_t bytes, int32_t dest, int32_t type)
{
    return bytes <= MESSAGE_MAX_BYTES && may_send_to(p, dest) && is_type(type) ? 0 : -N_EINVAL;
}

int calls_earlier_failure(struct proc *p, int32_t dest)
{
    if (!p->long_way)
        return 0;
    return lost_tell(p, NODE_OF(dest) == N_DEST_ALL ? LOST_TO_ANY : address_of(p, NODE_OF(dest)));
}

/* In a library's context, to all others: the sender has what it sends. */
static RARE void send_to_all(struct proc *p, struct message *m, uint32_t tag)
{
    if (p->nodes > 1)
        message_send_others(m, p->base, p->dim, p->nodes, tag);
    if (TAG_CONTEXT(tag) >= CONTEXT_SYNC)
        message_release(m);
    else
        message_post(m, MAILBOX->node, tag);
}

void calls_send(struct proc *p, struct message *m, int32_t dest, uint32_t type)
{
    uint32_t tag = TAG(type, p->procid, PROCID_OF(dest));
    uint64_t bytes = m->bytes;

    if (!stated_covers(p, 0, type))
        charge_send(bytes);
    if (p->builtin)
        stated_reply(p, type, bytes);
    delivery_note_sent(p, m);
    if (NODE_OF(dest) == N_DEST_ALL)
        send_to_all(p, m, tag);
    else
        message_post(m, address_of(p, NODE_OF(dest)), tag);
    if (sends_reap_is_due(p->procid, bytes))
        event_reap();
}

static RARE int64_t write_any(struct proc *p, const uint64_t *arg, uint64_t context)
{
    uint64_t bytes = arg[1];
    int32_t dest = arg[2], type = arg[3];
    struct message *m;

    int error = calls_check_send(p, bytes, dest, type);
    if (!error)
        error = calls_earlier_failure(p, dest);
    if (!error)
        error = proc_new_message(p, bytes, false, &m);
    if (error)
        return error;
    m->bytes = bytes;
    error = proc_copy_in(p, m->payload, arg[0], bytes);
    if (error) {
        message_release(m);
    } else {
        message_note_copy();
        calls_send(p, m, dest, full_type(p, type, context));
    }
    return error;
}

/* What nsdisk answers with is copied from where it lies. Checks by itself: write_any, which many messages pass, has the
 * other calls' checks inline. */
RARE int64_t sys_reply(struct proc *p, const uint64_t *arg)
{
    uint64_t head_bytes = arg[1], bytes = arg[3];
    struct message *m;

    if (!p->builtin)
        return -N_EPERM;
    if (head_bytes > MESSAGE_MAX_BYTES || bytes > MESSAGE_MAX_BYTES - head_bytes || NODE_OF(arg[4]) > NODE_HOST ||
        arg[4] >> 16 >= PROCS_MAX || arg[5] > 0xffff)
        return -N_EINVAL;
    int error = proc_new_message(p, head_bytes + bytes, false, &m);
    if (error)
        return error;
    m->bytes = head_bytes + bytes;
    error = proc_copy_in(p, m->payload, arg[0], head_bytes);
    if (!error)
        error = proc_copy_in(p, (char *)m->payload + head_bytes, arg[2], bytes);
    if (error) {
        message_release(m);
        return error;
    }
    message_note_copy();
    calls_send(p, m, (int32_t)arg[4], (uint32_t)arg[5]);
    return 0;
}

/* nsdisk has answered a family's request, and waits until the reply has left. */
RARE int64_t sys_pay(struct proc *p, const uint64_t *arg)
{
    if (!p->builtin)
        return -N_EPERM;
    if (arg[0] > 2 * MESSAGE_MAX_BYTES)
        return -N_EINVAL;
    while (sends_of(p->procid) > 0)
        sched_wait_for_sends();
    charge_after(arg[0]);
    return 0;
}

static RARE int64_t reap(void)
{
    event_reap();
    return 0;
}

/* The fast path: a short message to process 0 of a node of the subcube, as most are; `job`: of the job's subcube. `any`
 * sends all others. */
static INLINE int64_t write_in(struct proc *p, const uint64_t *arg, uint64_t context, bool job,
                               int64_t (*any)(struct proc *p, const uint64_t *arg, uint64_t context))
{
    uint64_t bytes = arg[1], dest = arg[2], type = arg[3];
    struct message *m = message_spares.first;

    if (!m || bytes > MESSAGE_SPARE_BYTES || dest >> (job ? proc_job_dim(p) : p->whole_dim) ||
        type > (context == CONTEXT_PROGRAM ? N_TYPE_USER_MAX : 0xffffu) || p->long_way || !vm_is_short(arg[0], bytes) ||
        !vm_touch_user(m->payload, (const void *)arg[0], bytes))
        return any(p, arg, context);
    message_take_spare(m);
    m->bytes = bytes;
    message_note_copy();
    delivery_note_sent(p, m);
    message_post(m, (job ? proc_job_base(p) : p->base) + dest, TAG(IN_CONTEXT(context, type), p->procid, 0));
    return sends_reap_is_due(p->procid, bytes) ? reap() : 0;
}

int64_t sys_nwrite(struct proc *p, const uint64_t *arg)
{
    return write_in(p, arg, CONTEXT_PROGRAM, false, write_any);
}

/* True if it names a node of a program of another job at the other end of a pipe. */
static bool has_met(const struct proc *p, uint64_t dest)
{
    for (uint32_t i = 0; i < p->peers && dest >> 15 == 0 && dest & PIPE_ABROAD; i++)
        if ((dest & ~(uint64_t)PIPE_ABROAD) - p->peer[i].first < p->peer[i].nodes)
            return true;
    return false;
}

static RARE int64_t write_any_to_job(struct proc *p, const uint64_t *arg, uint64_t context)
{
    uint64_t bytes = arg[1], dest = arg[2];
    int32_t type = arg[3];
    struct message *m;

    if (bytes > MESSAGE_MAX_BYTES || !is_type(type) || (dest >> proc_job_dim(p) && !has_met(p, dest)))
        return -N_EINVAL;
    uint32_t node = dest & PIPE_ABROAD ? (uint32_t)dest & ~PIPE_ABROAD : (uint32_t)(proc_job_base(p) + dest);
    int error = p->long_way ? lost_tell(p, node) : 0;
    if (!error)
        error = proc_new_message(p, bytes, false, &m);
    if (error)
        return error;
    m->bytes = bytes;
    error = proc_copy_in(p, m->payload, arg[0], bytes);
    if (error) {
        message_release(m);
        return error;
    }
    message_note_copy();
    charge_send(bytes);
    delivery_note_sent(p, m);
    message_post(m, node, TAG(IN_CONTEXT(context, type), p->procid, 0));
    return sends_reap_is_due(p->procid, bytes) ? reap() : 0;
}

/* In CONTEXT_PIPE a destination is a node of the job's subcube, not of the program's; or of another job's. The result
 * says whether messages of any kind are queued: a pipe looks for its own among them only then. */
static int64_t write_to_job(struct proc *p, const uint64_t *arg)
{
    int64_t error = p->builtin ? -N_EINVAL : write_in(p, arg, CONTEXT_PIPE, true, write_any_to_job);

    return error ? error : p->inbox.first != NULL;
}

int64_t sys_cwrite(struct proc *p, const uint64_t *arg)
{
    if (arg[4] == CONTEXT_PIPE)
        return write_to_job(p, arg);
    return is_context(arg[4]) ? write_in(p, arg, arg[4], false, write_any) : -N_EINVAL;
}
