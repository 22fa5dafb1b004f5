/*
 * The message calls: nwrite, nread, ntest, nrange, and those that pass buffers without a copy: ngetp, nwritep, nreadp,
 * nrelp.
 *
 * Logical and physical. A program numbers the nodes of its subcube from 0; Vertex adds the subcube's base. The front
 * end and, in replies to readstart and writestart, I/O nodes are named by address. A procid in the bits from 16 up says
 * which process of a node is meant. The built-in program sees addresses only (its base is 0) and may use every type.
 */
#include <stdbool.h>
#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/async.h"
#include "vertex/file/drive_traps.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/message/charge.h"
#include "vertex/message/lost.h"
#include "vertex/message/mail.h"
#include "vertex/message/msg.h"
#include "vertex/message/replies.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/kin.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

enum { ANY = -1 };

#define NODE_OF(name)   ((name)&0xffff)
#define PROCID_OF(name) ((name) >> 16)

static uint32_t address_of(const struct proc *p, int32_t node)
{
    return NODE_IS_COMPUTE((uint32_t)node) ? p->base + node : (uint32_t)node;
}

/* ---- Sending ---- */

/* The built-in program may name any procid, as it serves programs with any number of processes; so may a program of
 * which some process here has forked. */
static RARE bool is_procid_beyond(const struct proc *p, uint32_t procid)
{
    return (p->builtin || kin_have_been()) && procid < PROCS_MAX;
}

static bool is_procid(const struct proc *p, int32_t procid)
{
    return (uint32_t)procid < p->procs || is_procid_beyond(p, (uint32_t)procid);
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

static bool is_type(int32_t type)
{
    return (uint32_t)type <= 0xffff;
}

/* True for the program's context and for those of libraries. */
static bool is_context(uint64_t context)
{
    return context == CONTEXT_PROGRAM || (context >= CONTEXT_SYNC && context <= CONTEXT_MOST);
}

/* Returns the type with its context, as in a tag. */
static uint32_t full_type(const struct proc *p, int32_t type, uint64_t context)
{
    if (context != CONTEXT_PROGRAM)
        return IN_CONTEXT(context, type);
    return p->builtin ? (uint32_t)type : TYPE_OF_PROGRAM(type);
}

static int check_send(const struct proc *p, uint64_t bytes, int32_t dest, int32_t type)
{
    return bytes <= MSG_MAX_BYTES && may_send_to(p, dest) && is_type(type) ? 0 : -N_EINVAL;
}

/* If a send failed after nwrite had returned, the next nwrite to the same node returns the error. */
static int earlier_failure(struct proc *p, int32_t dest)
{
    if (!p->long_way)
        return 0;
    return lost_tell(p, NODE_OF(dest) == N_DEST_ALL ? LOST_TO_ANY : address_of(p, NODE_OF(dest)));
}

/* In a library's context, to all others: the sender has what it sends. */
static RARE void send_to_all(struct proc *p, struct message *m, uint32_t tag)
{
    if (p->nodes > 1)
        msg_send_others(m, p->base, p->dim, p->nodes, tag);
    if (TAG_CONTEXT(tag) >= CONTEXT_SYNC)
        msg_release(m);
    else
        msg_post(m, MAILBOX->node, tag);
}

/* Takes the message over. The type is a full one. */
static void send(struct proc *p, struct message *m, int32_t dest, uint32_t type)
{
    uint32_t tag = TAG(type, p->procid, PROCID_OF(dest));
    uint64_t bytes = m->bytes;

    if (!stated_covers(p, 0, type))
        charge_send(bytes);
    if (p->builtin)
        stated_reply(p, type, bytes);
    mail_note_sent(p, m);
    if (NODE_OF(dest) == N_DEST_ALL)
        send_to_all(p, m, tag);
    else
        msg_post(m, address_of(p, NODE_OF(dest)), tag);
    if (msg_reap_is_due(p->procid, bytes))
        event_reap();
}

static RARE int64_t write_any(struct proc *p, const uint64_t *arg, uint64_t context)
{
    uint64_t bytes = arg[1];
    int32_t dest = arg[2], type = arg[3];
    struct message *m;

    int error = check_send(p, bytes, dest, type);
    if (!error)
        error = earlier_failure(p, dest);
    if (!error)
        error = proc_new_message(p, bytes, false, &m);
    if (error)
        return error;
    m->bytes = bytes;
    error = proc_copy_in(p, m->payload, arg[0], bytes);
    if (error) {
        msg_release(m);
    } else {
        msg_note_copy();
        send(p, m, dest, full_type(p, type, context));
    }
    return error;
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
    struct message *m = msg_spares.first;

    if (!m || bytes > MSG_SPARE_BYTES || dest >> (job ? proc_job_dim(p) : p->whole_dim) ||
        type > (context == CONTEXT_PROGRAM ? N_TYPE_USER_MAX : 0xffffu) || p->long_way || !vm_is_short(arg[0], bytes) ||
        !vm_touch_user(m->payload, (const void *)arg[0], bytes))
        return any(p, arg, context);
    msg_take_spare(m);
    m->bytes = bytes;
    msg_note_copy();
    mail_note_sent(p, m);
    msg_post(m, (job ? proc_job_base(p) : p->base) + dest, TAG(IN_CONTEXT(context, type), p->procid, 0));
    return msg_reap_is_due(p->procid, bytes) ? reap() : 0;
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

    if (bytes > MSG_MAX_BYTES || !is_type(type) || (dest >> proc_job_dim(p) && !has_met(p, dest)))
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
        msg_release(m);
        return error;
    }
    msg_note_copy();
    charge_send(bytes);
    mail_note_sent(p, m);
    msg_post(m, node, TAG(IN_CONTEXT(context, type), p->procid, 0));
    return msg_reap_is_due(p->procid, bytes) ? reap() : 0;
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
static bool is_for_replies(const struct proc *p, int32_t src, int32_t type, struct msg_pattern *pattern)
{
    if (!is_async_type(p, type) || (src >= 0 && (src < (int32_t)NODE_IO_BASE || src > (int32_t)NODE_HOST)))
        return false;
    *pattern = pattern_one(src == ANY ? MSG_ANY_NODE : (uint32_t)src, 0, type);
    return src != ANY || async_expected(p, pattern);
}

static struct msg_pattern pattern_of_range(const struct proc *p, uint32_t node, uint32_t procid, uint64_t context)
{
    if (context != CONTEXT_PROGRAM || p->builtin)
        return pattern_of_context(node, procid, context);
    if (p->range_low == p->range_high)
        return pattern_one(node, procid, TYPE_OF_PROGRAM(p->range_low));
    return pattern_of_program(node, procid, p->range_low, p->range_high);
}

static int make_pattern(struct proc *p, int32_t src, int32_t type, uint64_t context, struct msg_pattern *pattern)
{
    uint32_t node = src == ANY ? MSG_ANY_NODE : address_of(p, NODE_OF(src)), procid = PROCID_OF(src);

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

static bool pattern_is_async(const struct proc *p, const struct msg_pattern *pattern)
{
    return pattern->types == PATTERN_ONE && is_async_type(p, pattern->type_low);
}

static struct message *find(struct proc *p, const struct msg_pattern *pattern)
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

static void remove(struct proc *p, struct message *m)
{
    mail_receive(p, m);
    async_taken(p, m);
    give_selectors(p, m->node, m->tag);
}

/* A message that is longer than the reader's buffer stays queued. A lost message leaves the queue, and so does a
 * request that is too long for the built-in program, whose buffer will never be longer. */
static int64_t refuse(struct proc *p, struct message *m)
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
    msg_release(m);
    return -N_EIO;
}

/* Everything that can fail comes before the message leaves the queue. */
static int64_t take(struct proc *p, struct message *m, uint64_t to, uint64_t most)
{
    int64_t bytes = m->bytes;

    if (m->bytes > most)
        return refuse(p, m);
    int error = proc_copy_out(p, to, m->payload, m->bytes);
    if (error)
        return error;
    p->monitor.copied++;
    msg_note_copy();
    remove(p, m);
    msg_release(m);
    return bytes;
}

static RARE uint64_t types_of_range(const struct msg_pattern *pattern)
{
    uint64_t context = pattern->tag & TAG_ALL_CONTEXTS;

    return context >= IN_CONTEXT(CONTEXT_SYNC, 0) ? NCU_WAIT_ANY_TYPE | context : NCU_WAIT_ANY;
}

static void wait_for(const struct msg_pattern *pattern)
{
    sched_wait(NCU_WAIT_MESSAGE, pattern->node == MSG_ANY_NODE ? NCU_WAIT_ANY : pattern->node,
               pattern->types == PATTERN_ONE ? pattern->type_low : types_of_range(pattern));
}

/* Waits until a message that fits is queued. SYSCALL_AGAIN: a signal handler must run first. */
static int64_t await_queued(struct proc *p, const struct msg_pattern *pattern, struct message **m)
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

/* Waits while arriving messages may be written straight to the program (mail.h). Returns 1 if that has happened, 0 if
 * a message is queued instead, or an error. */
static INLINE int64_t await_open(struct proc *p)
{
    int64_t result = 0;

    p->reader.state = READER_OPEN;
    p->reader.short_bytes = mail_short_bytes(p);
    if (msg_unarmed)
        mail_offer_waiting();
    do {
        wait_for(&p->reader.pattern);
        if (p->reader.state == READER_CLOSED)
            return 1;
    } while (!replies_reader_gives_up(p, &result));
    mail_set_reader(p, READER_CLOSED);
    return result;
}

/* Waits until the message is queued, and takes it. */
static int64_t read_queued(struct proc *p)
{
    struct message *m;
    int64_t error = await_queued(p, &p->reader.pattern, &m); /* mail.c changes the pattern of an open reader only */

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
    int64_t result = make_pattern(p, arg[2], arg[3], context, &r->pattern);
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

/* When a command is done, mail_interrupt ends the wait. */
int64_t sys_disk_or_read(struct proc *p, const uint64_t *arg)
{
    if (!p->builtin)
        return -N_EPERM;
    return disk_has_done() ? -N_EAGAIN : sys_nread(p, arg);
}

static int64_t test_in(struct proc *p, const uint64_t *arg, uint64_t context)
{
    struct msg_pattern pattern;
    int error = make_pattern(p, arg[2], arg[3], context, &pattern);

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

/* ---- Buffers that the program has ---- */

/* As vm_map_buffer, but without memory tries again after freeing the sends that have ended. */
static uint64_t map_buffer(struct proc *p, const struct message *m)
{
    uint64_t va = vm_map_buffer(&p->vm, m->payload, m->capacity);

    if (va)
        return va;
    event_reap(); /* sends that have ended may hold the memory for tables */
    return vm_map_buffer(&p->vm, m->payload, m->capacity);
}

/* Returns the link to the buffer at this address; NULL: the program has no such buffer. */
static struct message **find_buffer(struct proc *p, uint64_t va)
{
    struct message **link = &p->buffers;

    while (*link && vm_buffer_address((*link)->payload) != va)
        link = &(*link)->next;
    return *link ? link : NULL;
}

/* Maps the buffer for the program. Returns its address, or -N_ENOMEM. */
static int64_t give_buffer(struct proc *p, struct message *m)
{
    uint64_t va = map_buffer(p, m);

    if (!va)
        return -N_ENOMEM;
    m->next = p->buffers;
    p->buffers = m;
    return va;
}

/* Takes the buffer back from the program. */
static struct message *take_buffer(struct proc *p, struct message **link)
{
    struct message *m = *link;

    *link = m->next;
    vm_unmap_buffer(&p->vm, m->payload, m->capacity);
    return m;
}

/* Clears the rest of the pages, so that the program does not see old data of other programs. */
static void clear_beyond(struct message *m, uint64_t from)
{
    copy_zero((char *)m->payload + from, PAGE_ROUND_UP(m->capacity) - from);
}

int64_t sys_ngetp(struct proc *p, const uint64_t *arg)
{
    struct message *m;

    if (arg[0] > MSG_MAX_BYTES)
        return -N_EINVAL;
    int error = proc_new_message(p, arg[0], true, &m);
    if (error)
        return error;
    clear_beyond(m, 0);
    int64_t va = give_buffer(p, m);
    if (va < 0)
        msg_release(m);
    return va;
}

int64_t sys_nwritep(struct proc *p, const uint64_t *arg)
{
    struct message **link = find_buffer(p, arg[0]);
    int32_t dest = arg[2], type = arg[3];

    if (!link)
        return -N_EFAULT;
    int error = arg[1] > (*link)->capacity || !is_context(arg[4]) ? -N_EINVAL : check_send(p, arg[1], dest, type);
    if (!error)
        error = earlier_failure(p, dest);
    if (error)
        return error;
    struct message *m = take_buffer(p, link);
    m->bytes = arg[1];
    send(p, m, dest, full_type(p, type, arg[4]));
    return 0;
}

int64_t sys_nrelp(struct proc *p, const uint64_t *arg)
{
    struct message **link = find_buffer(p, arg[0]);

    if (!link)
        return -N_EFAULT;
    msg_release(take_buffer(p, link));
    return 0;
}

/* Finds a buffer of whole pages: the message's own, or a new one with a copy, as a short message has no pages. */
static int buffer_for(struct proc *p, struct message *m, struct message **buffer)
{
    if (m->place == MSG_PAGES && m->holds == 1) {
        *buffer = m;
        return 0;
    }
    int error = proc_new_message(p, m->bytes, true, buffer);
    if (!error)
        copy_bytes((*buffer)->payload, m->payload, m->bytes);
    return error;
}

/* Gives `buffer`, with the message in it, to the program; m leaves the queue. */
static int64_t hand_over(struct proc *p, struct message *m, struct message *buffer)
{
    int64_t bytes = m->bytes;

    if (buffer == m)
        m->holds++;
    uint64_t va = map_buffer(p, buffer);
    if (!va) {
        msg_release(buffer);
        return -N_ENOMEM;
    }
    if (buffer == m) {
        p->monitor.mapped++;
    } else {
        p->monitor.copied++;
        msg_note_copy();
    }
    remove(p, m);
    msg_release(m);
    buffer->next = p->buffers;
    p->buffers = buffer;
    p->frame->a[3] = va;
    return bytes;
}

int64_t sys_nreadp(struct proc *p, const uint64_t *arg)
{
    struct msg_pattern pattern;
    struct message *m, *buffer;
    uint64_t most = arg[1];
    int64_t result = is_context(arg[4]) ? make_pattern(p, arg[2], arg[3], arg[4], &pattern) : -N_EINVAL;

    if (!result && most >= LOST_BYTES)
        result = -N_EINVAL;
    if (!result)
        result = await_queued(p, &pattern, &m);
    if (!result && m->bytes > most)
        result = refuse(p, m);
    if (!result)
        result = buffer_for(p, m, &buffer);
    if (result)
        return result;
    clear_beyond(buffer, m->bytes);
    return hand_over(p, m, buffer);
}
