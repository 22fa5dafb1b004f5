/*
 * The message calls that read: nread, ntest, nrange, and by the context cread and ctest (calls.h).
 */
#include <stdbool.h>
#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/async.h"
#include "vertex/file/drive_traps.h"
#include "vertex/file/request.h"
#include "vertex/message/buffers.h"
#include "vertex/message/calls.h"
#include "vertex/message/channels.h"
#include "vertex/message/delivery.h"
#include "vertex/message/lost.h"
#include "vertex/message/replies.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/proc.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

enum { ANY = -1 };

/* ---- Selecting a message ---- */

static bool is_async_type(const struct proc *p, int32_t type)
{
    return !p->builtin && (type == (int32_t)N_REPLY(N_FREAD) || type == (int32_t)N_REPLY(N_FWRITE));
}

/* A program may name its own processes as a source; the built-in program, any. */
static bool may_read_from(const struct proc *p, int32_t src)
{
    if (src == ANY || p->builtin)
        return src >= ANY;
    return (is_procid(p, PROCID_OF(src)) && NODE_OF(src) < (int32_t)p->nodes) || src == (int32_t)NODE_HOST;
}

/* Programs also use the type numbers of these replies for messages of their own. A reply is meant if the source is a
 * server, or if it is any source and a reply of that type is still expected. */
static bool is_for_replies(const struct proc *p, int32_t src, int32_t type, struct message_pattern *pattern)
{
    if (!is_async_type(p, type) || (src >= 0 && (src < (int32_t)NODE_IO_BASE || src > (int32_t)NODE_HOST)))
        return false;
    *pattern = pattern_one(src == ANY ? MESSAGE_ANY_NODE : (uint32_t)src, 0, type);
    return src != ANY || async_expected(p, pattern);
}

static struct message_pattern pattern_of_range(const struct proc *p, uint32_t node, uint32_t procid, uint64_t context)
{
    if (context != CONTEXT_PROGRAM || p->builtin)
        return pattern_of_context(node, procid, context);
    if (p->range_low == p->range_high)
        return pattern_one(node, procid, TYPE_OF_PROGRAM(p->range_low));
    return pattern_of_program(node, procid, p->range_low, p->range_high);
}

int calls_make_pattern(struct proc *p, int32_t src, int32_t type, uint64_t context, struct message_pattern *pattern)
{
    uint32_t node = src == ANY ? MESSAGE_ANY_NODE : address_of(p, NODE_OF(src)), procid = PROCID_OF(src);

    if (type > (int32_t)N_TYPE_USER_MAX && context == CONTEXT_PROGRAM && is_for_replies(p, src, type, pattern))
        return 0;
    if ((type != ANY && !is_type(type)) || !may_read_from(p, src))
        return -N_EINVAL;
    *pattern = type == ANY ? pattern_of_range(p, node, procid, context)
                           : pattern_one(node, procid, full_type(p, type, context));
    pattern->mask |= TAG_ALL_TO;
    pattern->tag |= p->procid << 24;
    return 0;
}

static bool pattern_is_async(const struct proc *p, const struct message_pattern *pattern)
{
    return pattern->types == PATTERN_ONE && is_async_type(p, pattern->type_low);
}

static struct message *find(struct proc *p, const struct message_pattern *pattern)
{
    return pattern_is_async(p, pattern) ? async_find_arrived(p, pattern) : queue_find(&p->inbox, pattern);
}

/* Sets the results of nread and ntest: source and type. */
static void give_selectors(struct proc *p, uint32_t node, uint32_t tag)
{
    p->frame->a[1] = (NODE_IS_COMPUTE(node) ? node - p->base : node) | TAG_FROM(tag) << 16;
    p->frame->a[2] = TAG_NUMBER(tag);
}

/* ---- nread, ntest ---- */

void calls_remove(struct proc *p, struct message *m)
{
    delivery_receive(p, m);
    async_taken(p, m);
    give_selectors(p, m->node, m->tag);
}

int64_t calls_refuse(struct proc *p, struct message *m)
{
    if (!lost_is(m) && !p->builtin)
        return -N_EMSGSIZE;
    if (!lost_is(m)) {
        queue_remove(&p->inbox, m);
        request_refuse(m, -N_ENOMEM);
        return SYSCALL_AGAIN;
    }
    queue_remove(&p->inbox, m);
    give_selectors(p, m->node, m->tag);
    message_release(m);
    return -N_EIO;
}

/* Everything that can fail comes before the message leaves the queue. */
static int64_t take(struct proc *p, struct message *m, uint64_t to, uint64_t most)
{
    int64_t bytes = m->bytes;

    if (m->bytes > most)
        return calls_refuse(p, m);
    int error = proc_copy_out(p, to, m->payload, m->bytes);
    if (error)
        return error;
    p->monitor.copied++;
    message_note_copy();
    calls_remove(p, m);
    message_release(m);
    return bytes;
}

static RARE uint64_t types_of_range(const struct message_pattern *pattern)
{
    uint64_t context = pattern->tag & TAG_ALL_CONTEXTS;

    return context >= IN_CONTEXT(CONTEXT_SYNC, 0) ? NCU_WAIT_ANY_TYPE | context : NCU_WAIT_ANY;
}

static void wait_for(const struct message_pattern *pattern)
{
    sched_wait(NCU_WAIT_MESSAGE, pattern->node == MESSAGE_ANY_NODE ? NCU_WAIT_ANY : pattern->node,
               pattern->types == PATTERN_ONE ? pattern->type_low : types_of_range(pattern));
}

int64_t calls_await_queued(struct proc *p, const struct message_pattern *pattern, struct message **m)
{
    while (!(*m = find(p, pattern))) {
        if (pattern_is_async(p, pattern)) {
            int64_t error = replies_await_queued(p, pattern);

            if (error)
                return error;
            continue;
        }
        wait_for(pattern);
        if (p->killed)
            return -N_EINTR;
        if (signal_is_due(p) && !find(p, pattern))
            return SYSCALL_AGAIN;
    }
    return 0;
}

/* Waits while arriving messages may be written straight to the program (delivery.h). Returns 1 if that has happened,
 * 0 if a message is queued instead, or an error. */
static INLINE int64_t await_open(struct proc *p)
{
    int64_t result = 0;

    p->reader.state = READER_OPEN;
    p->reader.short_bytes = delivery_short_bytes(p);
    if (channels_unarmed)
        delivery_offer_waiting();
    do {
        wait_for(&p->reader.pattern);
        if (p->reader.state == READER_CLOSED)
            return 1;
    } while (!replies_reader_gives_up(p, &result));
    delivery_set_reader(p, READER_CLOSED);
    return result;
}

/* Waits until the message is queued, and takes it. */
static int64_t read_queued(struct proc *p)
{
    struct message *m;
    int64_t error =
        calls_await_queued(p, &p->reader.pattern, &m); /* delivery.c changes the pattern of an open reader only */

    return error ? error : take(p, m, p->reader.va, p->reader.bytes);
}

/* The message has been taken for the reader while it waited. */
static INLINE int64_t read_taken(struct proc *p)
{
    give_selectors(p, p->reader.pattern.node, p->reader.tag);
    return p->reader.bytes;
}

static INLINE int64_t read_in(struct proc *p, const uint64_t *arg, uint64_t context)
{
    struct reader *r = &p->reader;

    r->va = arg[0];
    r->bytes = arg[1];
    int64_t result = calls_make_pattern(p, arg[2], arg[3], context, &r->pattern);
    if (result)
        return result;
    if (r->bytes >= LOST_BYTES)
        return -N_EINVAL;
    bool replies = pattern_is_async(p, &r->pattern);
    struct message *m = p->inbox.first && !replies ? queue_find(&p->inbox, &r->pattern) : NULL;
    if (m)
        return take(p, m, r->va, r->bytes);
    result = replies ? replies_await(p) : await_open(p);
    result = result > 0 ? read_taken(p) : result ? result : read_queued(p);
    if (replies)
        stated_return(p);
    return result;
}

int64_t sys_nread(struct proc *p, const uint64_t *arg)
{
    return read_in(p, arg, CONTEXT_PROGRAM);
}

/* In CONTEXT_PIPE the source may be any node, and is then named as in the job's subcube. The fourth result is the
 * number of messages of any kind that are queued. */
static int64_t read_from_job(struct proc *p, const uint64_t *arg)
{
    if ((int32_t)arg[2] != ANY)
        return -N_EINVAL;
    int64_t result = read_in(p, arg, CONTEXT_PIPE);
    if (result >= 0 || result == -N_EIO) {
        uint32_t node = (uint32_t)p->frame->a[1] + p->base, in_job = node - proc_job_base(p);

        p->frame->a[1] = in_job < 1u << proc_job_dim(p) ? in_job : node | PIPE_ABROAD;
        p->frame->a[3] = p->inbox.count;
    }
    return result;
}

int64_t sys_cread(struct proc *p, const uint64_t *arg)
{
    if (arg[4] == CONTEXT_PIPE)
        return read_from_job(p, arg);
    return is_context(arg[4]) ? read_in(p, arg, arg[4]) : -N_EINVAL;
}

/* For operations of all nodes: what a node gives to its parent in the tree, and the result that it waits for then.
 * After the write, the trap in the frame is cread: so a signal handler that interrupts the wait does not repeat the
 * write. */
int64_t sys_cwrite_read(struct proc *p, const uint64_t *arg)
{
    uint64_t *a = p->frame->a;
    int64_t error = sys_cwrite(p, arg);

    if (error < 0) {
        a[3] = -1;
        return error;
    }
    a[2] = a[5];
    a[7] = TRAP_cread;
    return sys_cread(p, a);
}

/* When a command is done, delivery_interrupt ends the wait. */
int64_t sys_disk_or_read(struct proc *p, const uint64_t *arg)
{
    if (!p->builtin)
        return -N_EPERM;
    return disk_has_done() ? -N_EAGAIN : sys_nread(p, arg);
}

static int64_t test_in(struct proc *p, const uint64_t *arg, uint64_t context)
{
    struct message_pattern pattern;
    int error = calls_make_pattern(p, arg[2], arg[3], context, &pattern);

    if (error)
        return error;
    const struct message *m = find(p, &pattern);
    if (!m)
        return -N_EAGAIN;
    give_selectors(p, m->node, m->tag);
    return lost_is(m) ? -N_EIO : (int64_t)m->bytes;
}

int64_t sys_ntest(struct proc *p, const uint64_t *arg)
{
    return test_in(p, arg, CONTEXT_PROGRAM);
}

int64_t sys_ctest(struct proc *p, const uint64_t *arg)
{
    return is_context(arg[4]) ? test_in(p, arg, arg[4]) : -N_EINVAL;
}

int64_t sys_nrange(struct proc *p, const uint64_t *arg)
{
    int32_t low = arg[0], high = arg[1];

    if (!is_type(low) || !is_type(high) || low > high)
        return -N_EINVAL;
    p->range_low = low;
    p->range_high = high;
    return 0;
}
