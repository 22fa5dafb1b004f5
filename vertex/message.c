/*
 * The message calls: nwrite, nread, ntest, nrange.
 *
 * Logical and physical. A program numbers the nodes of its subcube from 0; Vertex adds the subcube's base. The
 * front end and, in replies to readstart and writestart, I/O nodes are named by address. The built-in program
 * sees addresses only (its base is 0) and may use every type.
 */
#include <stdbool.h>
#include <stddef.h>

#include "nsdisk/errors.h"
#include "vertex/async.h"
#include "vertex/msg.h"
#include "vertex/proc.h"
#include "vertex/syscall.h"

enum { ANY = -1 };

static uint32_t subcube_nodes(const struct proc *p)
{
    return 1u << p->dim;
}

/* ---- nwrite ---- */

static bool may_send_to(const struct proc *p, int64_t dest)
{
    if (p->builtin)
        return dest >= 0 && dest <= NODE_HOST;
    return (dest >= 0 && dest < subcube_nodes(p)) || dest == NODE_HOST || dest == N_DEST_ALL;
}

static bool may_send_type(const struct proc *p, int64_t type)
{
    return type >= 0 && type <= (p->builtin ? 0xffff : (int64_t)N_TYPE_USER_MAX);
}

static uint32_t address_of(const struct proc *p, int64_t node)
{
    return NODE_IS_COMPUTE((uint64_t)node) ? p->base + node : node;
}

static void send_to_all(struct proc *p, struct message *m, uint32_t tag)
{
    if (p->dim > 0)
        msg_send_others(m, p->base, p->dim, tag);
    msg_send(m, MAILBOX->node, tag);
}

/* A send that failed after nwrite had returned is reported by the next one. */
static int earlier_failure(struct proc *p)
{
    int status = p->send_status;

    p->send_status = 0;
    return status;
}

int64_t sys_nwrite(struct proc *p, const uint64_t *arg)
{
    uint64_t bytes = arg[1];
    int64_t dest = (int32_t)arg[2], type = (int32_t)arg[3];
    struct message *m;

    if (bytes > MSG_MAX_BYTES || !may_send_to(p, dest) || !may_send_type(p, type))
        return -N_EINVAL;
    int error = earlier_failure(p);
    if (!error)
        error = proc_new_message(p, bytes, &m);
    if (error)
        return error;
    m->bytes = bytes;
    error = vm_copy_in(&p->vm, m->payload, arg[0], bytes);
    if (!error) {
        proc_note_sent(p, m);
        if (dest == N_DEST_ALL)
            send_to_all(p, m, TAG(type, 0, 0));
        else
            msg_send(m, address_of(p, dest), TAG(type, 0, 0));
    }
    msg_release(m);
    return error;
}

/* ---- nread, ntest ---- */

/* A program's int that is -1 (or absent) for "any" and is given back filled. */
static int read_selector(struct proc *p, uint64_t pointer, int32_t *value)
{
    *value = ANY;
    return pointer ? vm_copy_in(&p->vm, value, pointer, sizeof *value) : 0;
}

static int write_selector(struct proc *p, uint64_t pointer, int32_t value)
{
    return pointer ? vm_copy_out(&p->vm, pointer, &value, sizeof value) : 0;
}

static bool is_async_type(const struct proc *p, int32_t type)
{
    return !p->builtin && (type == (int32_t)N_REPLY(N_FREAD) || type == (int32_t)N_REPLY(N_FWRITE));
}

static bool may_read_type(const struct proc *p, int32_t type)
{
    return type == ANY || may_send_type(p, type) || is_async_type(p, type);
}

/* A source that could have sent such a message: programs hear of servers only in replies. */
static bool may_read_from(const struct proc *p, int32_t src, int32_t type)
{
    if (src == ANY || p->builtin)
        return src >= ANY;
    if (is_async_type(p, type))
        return src >= (int32_t)NODE_IO_BASE && src <= (int32_t)NODE_HOST;
    return src >= 0 && (uint32_t)src < subcube_nodes(p);
}

static int make_pattern(struct proc *p, uint64_t src_pointer, uint64_t type_pointer, struct msg_pattern *pattern)
{
    int32_t src, type;

    if (read_selector(p, src_pointer, &src) != 0 || read_selector(p, type_pointer, &type) != 0)
        return -N_EFAULT;
    if (!may_read_type(p, type) || !may_read_from(p, src, type))
        return -N_EINVAL;
    *pattern = (struct msg_pattern){
        .node = src == ANY ? MSG_ANY_NODE : address_of(p, src),
        .type_low = type == ANY ? p->range_low : (uint32_t)type,
        .type_high = type == ANY ? p->range_high : (uint32_t)type,
    };
    return 0;
}

static bool pattern_is_async(const struct proc *p, const struct msg_pattern *pattern)
{
    return is_async_type(p, pattern->type_low);
}

static struct message *find(struct proc *p, const struct msg_pattern *pattern)
{
    return pattern_is_async(p, pattern) ? async_find_arrived(p, pattern) : queue_find(&p->inbox, pattern);
}

static int32_t source_of(const struct proc *p, const struct message *m)
{
    return NODE_IS_COMPUTE(m->node) ? m->node - p->base : m->node;
}

static int write_selectors(struct proc *p, const struct message *m, const uint64_t *pointer)
{
    int error = write_selector(p, pointer[0], source_of(p, m));

    return error ? error : write_selector(p, pointer[1], TAG_TYPE(m->tag));
}

/* Everything that can fail comes before the message leaves the queue. */
static int64_t take(struct proc *p, struct message *m, const uint64_t *arg)
{
    int64_t bytes = m->bytes;

    if (m->bytes > arg[1])
        return -N_EMSGSIZE;
    int error = vm_copy_out(&p->vm, arg[0], m->payload, m->bytes);
    if (!error)
        error = write_selectors(p, m, arg + 2);
    if (error)
        return error;
    queue_remove(&p->inbox, m);
    proc_note_taken(p, m);
    async_taken(p, m);
    msg_release(m);
    return bytes;
}

int64_t sys_nread(struct proc *p, const uint64_t *arg)
{
    struct msg_pattern pattern;
    struct message *m;
    int error = make_pattern(p, arg[2], arg[3], &pattern);

    if (error)
        return error;
    if (arg[1] > INT64_MAX)
        return -N_EINVAL;
    while (!(m = find(p, &pattern))) {
        if (pattern_is_async(p, &pattern) && !async_is_expected(p, &pattern))
            return -N_EINVAL;
        error = proc_wait(p, NCU_WAIT_MESSAGE, pattern.node == MSG_ANY_NODE ? NCU_WAIT_ANY : pattern.node,
                          pattern.type_low == pattern.type_high ? pattern.type_low : NCU_WAIT_ANY);
        if (error)
            return error;
    }
    return take(p, m, arg);
}

int64_t sys_ntest(struct proc *p, const uint64_t *arg)
{
    struct msg_pattern pattern;
    int error = make_pattern(p, arg[0], arg[1], &pattern);

    if (error)
        return error;
    const struct message *m = find(p, &pattern);
    if (!m)
        return -N_EAGAIN;
    error = write_selectors(p, m, arg);
    return error ? error : (int64_t)m->bytes;
}

int64_t sys_nrange(struct proc *p, const uint64_t *arg)
{
    int64_t low = (int32_t)arg[0], high = (int32_t)arg[1];

    if (!may_send_type(p, low) || !may_send_type(p, high) || low > high)
        return -N_EINVAL;
    p->range_low = low;
    p->range_high = high;
    return 0;
}
