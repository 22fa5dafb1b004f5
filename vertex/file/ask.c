/* askstart, askend; requeststart, requestend, requesttest (ask.h). */
#include "vertex/file/ask.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/file/async.h"
#include "vertex/file/file.h"
#include "vertex/file/name.h"
#include "vertex/file/request.h"
#include "vertex/file/watch.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/message/lost.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

struct ask {
    struct ask *next; /* the one asked before */
    uint32_t node, type, sequence;
    uint32_t bytes; /* of the answer, at most */
    int32_t ufid;   /* that N_FOPENREAD opens, or whose view N_FVIEW sets */
    uint32_t view;  /* of N_FVIEW: the one that offsets are in once the server has agreed */
    union {
        uint64_t sfid; /* of N_FVIEW: the UFID may be another file's then */
        void **kept;   /* of a request of a family: lost_owe_end */
    };
    uint64_t sent_cycles; /* virtual time */
};

static bool may_ask(uint64_t type)
{
    return type == N_FSTATNAME || type == N_FREADNAME || type == N_FMAKE || type == N_FUNLINK || type == N_FACCESS ||
           type == N_FOPENREAD;
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

static INLINE void drop(struct ask **link)
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

/* Allocates the record, and the entry of a file to be opened, before it sends the request: after that nothing can fail.
 * Takes over `m`, also on an error. */
static int64_t start(struct proc *p, const struct target *t, const uint64_t *arg, struct message *m)
{
    bool opens = arg[1] == N_FOPENREAD;

    event_reap(); /* sends that have ended may hold the memory for the record */
    struct ask *a = kmem_alloc(MEM_PROCESS, sizeof *a);
    int ufid = !a ? -N_ENOMEM : opens ? file_begin_open(p, t->node, t->drive, arg[2]) : 0;
    if (ufid < 0) {
        if (a)
            kmem_free(MEM_PROCESS, a, sizeof *a);
        message_release(m);
        return ufid;
    }
    *a = (struct ask){
        .next = p->ask, .node = t->node, .type = arg[1], .bytes = arg[4], .ufid = ufid, .sent_cycles = ncu_time()};
    a->sequence = request_send(p, m, t->node, a->type);
    if (opens)
        p->file[ufid]->opening = a->sequence;
    p->ask = a;
    return a->sequence;
}

/* Makes a request with the name and the data or the second name that the arguments of askstart give. */
static int make_request(struct proc *p, const struct target *t, const uint64_t *arg, struct message **m)
{
    uint64_t type = arg[1], bytes = arg[4];
    bool opens = type == N_FOPENREAD, makes = type == N_FMAKE, reads = opens || type == N_FREADNAME;
    const struct file_request fields = {
        .flags = opens ? arg[2] : 0, .mode = opens ? 0 : arg[2], .bytes = makes || reads ? bytes : 0};
    struct target second;
    int error = opens ? name_find(p, arg[3], 1, &second) : 0;

    if (!error && opens && (second.node != t->node || second.drive != t->drive))
        error = -N_EXDEV;
    if (!error)
        error = name_request(p, t, opens ? &second : NULL, fields, makes ? bytes : 0, m);
    if (error || !makes)
        return error;
    error = vm_copy_in(&p->vm, (char *)(*m)->payload + (*m)->bytes, arg[3], bytes);
    (*m)->bytes += bytes;
    if (error)
        message_release(*m);
    return error;
}

/* The server checks the view; until it has agreed, the file is read and written as before. 0: there is nothing to ask.
 */
static int64_t start_view(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    struct message *m;

    if (!f)
        return -N_EBADF;
    if (arg[2] == 0 || arg[2] > FILE_VIEWS)
        return -N_EINVAL;
    if (arg[4] > FILE_VIEW_MAX_BYTES)
        return -N_E2BIG;
    if (arg[4] == 0 && f->view == 0)
        return 0;
    const struct target t = {.node = f->node};
    const struct file_request fields = {.drive = f->drive, .view = arg[2], .sfid = f->sfid, .bytes = arg[4]};
    int error = async_request_with(p, &fields, arg[3], &m);
    int64_t number = error ? error : start(p, &t, arg, m);
    if (number > 0) {
        p->ask->ufid = (int32_t)arg[0];
        p->ask->view = arg[4] ? arg[2] : 0;
        p->ask->sfid = fields.sfid;
    }
    return number;
}

RARE int64_t sys_askstart(struct proc *p, const uint64_t *arg)
{
    struct message *m;
    struct target t;

    if (arg[1] == N_FVIEW)
        return count(p) == ASK_MAX ? -N_EAGAIN : start_view(p, arg);
    if (!may_ask(arg[1]) || arg[4] > ASK_DATA_MAX_BYTES || (arg[1] == N_FOPENREAD && arg[2] > N_O_RDWR))
        return -N_EINVAL;
    if (count(p) == ASK_MAX)
        return -N_EAGAIN;
    int error = name_find(p, arg[0], 0, &t);
    if (!error)
        error = make_request(p, &t, arg, &m);
    return error ? error : start(p, &t, arg, m);
}

static struct ask **find(struct proc *p, uint64_t number)
{
    struct ask **link = &p->ask;

    while (*link && (*link)->sequence != number)
        link = &(*link)->next;
    return *link ? link : NULL;
}

/* Tells the program what is open, and copies the data behind it. */
static int64_t give_opened(struct proc *p, const struct ask *a, int64_t status, const struct message *reply,
                           uint64_t to)
{
    const struct file *f = p->file[a->ufid];
    struct file_opened opened;

    if (f->directory)
        return -N_EISDIR;
    if ((uint64_t)status > a->bytes || reply_bytes(reply) < sizeof opened + (uint64_t)status)
        return -N_EPROTO;
    copy_bytes(&opened, reply_data(reply), sizeof opened);
    const struct abi_opened told = {a->ufid, f->node, opened.stat.size_bytes};
    int error = proc_copy_out(p, to, &told, sizeof told);
    if (!error)
        error = proc_copy_out(p, to + sizeof told, (const char *)reply_data(reply) + sizeof opened, status);
    return error ? error : status;
}

/* The program may have closed the UFID meanwhile. What it is not told of does not stay open. */
static int64_t end_open(struct proc *p, const struct ask *a, int64_t status, struct message *reply, uint64_t to)
{
    const uint64_t ufid = (uint64_t)a->ufid;
    struct file *f = file_get(p, ufid);

    if (!f || f->opening != a->sequence)
        status = -N_EBADF;
    else
        status = file_end_open(p, ufid, status, reply);
    if (status >= 0) {
        f->opening = 0;
        status = give_opened(p, a, status, reply, to);
        if (status < 0)
            sys_close(p, &ufid);
    }
    reply_release(reply);
    return status;
}

static int64_t end_view(struct proc *p, const struct ask *a, int64_t status)
{
    struct file *f = file_get(p, (uint64_t)a->ufid);

    if (status >= 0 && f && f->node == a->node && f->sfid == a->sfid)
        f->view = (uint16_t)a->view;
    return status;
}

/* An answer has as many bytes as its type says, or as its status. */
static int64_t give(struct proc *p, const struct ask *a, int64_t status, struct message *reply, uint64_t to)
{
    if (a->type == N_FOPENREAD)
        return end_open(p, a, status, reply, to);
    if (a->type == N_FSTATNAME)
        return reply_give_structure(p, status, reply, to, sizeof(struct file_stat));
    if (a->type == N_FVIEW)
        status = end_view(p, a, status);
    else if (a->type == N_FREADNAME)
        status = reply_give_data(p, status, reply, to, a->bytes);
    reply_release(reply);
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
        reply_release(reply);
        return status;
    }
    drop(find(p, arg[0]));
    return give(p, &a, status, reply, arg[1]);
}

/* ---- Requests of families ---- */

/* The arguments of requeststart and requestend. */
struct parts {
    uint64_t head, head_bytes, data, bytes;
};

static struct parts parts_of(const uint64_t *arg)
{
    return (struct parts){arg[0], arg[1], arg[2], arg[3]};
}

/* nsdisk has no memory for more. */
static int check_start(const struct proc *p, uint64_t node, uint64_t type, const struct parts *parts)
{
    if (p->builtin)
        return -N_EPERM;
    if (!NODE_IS_IO(node) || !N_IS_FAMILY_REQUEST(type) || type >> 32 || parts->bytes > FILE_IO_MAX_BYTES ||
        parts->head_bytes < sizeof(struct request_head) || parts->head_bytes > REQUEST_HEAD_MAX_BYTES)
        return -N_EINVAL;
    if (parts->bytes > file_io_bytes(MAILBOX->ram_bytes))
        return -N_ENOMEM;
    return count(p) == ASK_MAX ? -N_EAGAIN : 0;
}

_Static_assert(sizeof(struct ask) == LOST_KEPT_BYTES, "its memory is used again");

/* Takes the server's kept memory for a record, or new one; NULL: none. */
static struct ask *new_request(struct proc *p, uint32_t node)
{
    void **kept = lost_owe_end(p, node);
    struct ask *a = kept ? *kept : NULL;

    if (!a && kept)
        a = kmem_alloc(MEM_PROCESS, sizeof *a);
    else if (kept)
        *kept = NULL;
    if (a)
        *a = (struct ask){.node = node, .kept = kept};
    return a;
}

static void end_request(struct ask **link)
{
    struct ask *a = *link;

    *link = a->next;
    if (*a->kept)
        kmem_free(MEM_PROCESS, a, sizeof *a);
    else
        *a->kept = a;
}

/* Heads are short. */
static int copy_part(struct proc *p, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    if (bytes <= VM_SHORT_BYTES)
        return vm_copy_user(&p->vm, kernel, va, bytes, right);
    return proc_copy_pieces(p, kernel, va, bytes, right);
}

static int copy_parts(struct proc *p, char *kernel, const struct parts *parts, pte_t right)
{
    int error = copy_part(p, kernel, parts->head, parts->head_bytes, right);

    return error ? error : copy_part(p, kernel + parts->head_bytes, parts->data, parts->bytes, right);
}

/* Allocates the record, and that of the server, before it sends the request: after that nothing can fail. */
int64_t sys_requeststart(struct proc *p, const uint64_t *arg)
{
    const struct parts parts = parts_of(arg + 2);
    struct message *m;
    int error = check_start(p, arg[0], arg[1], &parts);

    if (!error)
        error = proc_new_message(p, parts.head_bytes + parts.bytes, false, &m);
    if (error)
        return error;
    m->bytes = parts.head_bytes + parts.bytes;
    error = copy_parts(p, (char *)m->payload, &parts, PTE_R);
    if (error) {
        message_release(m);
        return error;
    }
    struct ask *a = new_request(p, arg[0]);
    if (!a) {
        event_reap(); /* sends that have ended may hold the memory for it */
        a = new_request(p, arg[0]);
    }
    if (!a) {
        message_release(m);
        return -N_ENOMEM;
    }
    a->next = p->ask;
    a->type = arg[1];
    a->sent_cycles = ncu_time();
    p->ask = a;
    a->sequence = request_send_of_family(p, m, a->node, a->type);
    return a->sequence;
}

/* The request of that number; NULL: there is none. */
static struct ask **find_request(struct proc *p, uint64_t number)
{
    struct ask **link = find(p, number);

    return link && N_IS_FAMILY_REQUEST((*link)->type) ? link : NULL;
}

static int64_t give_parts(struct proc *p, int64_t status, const struct message *reply, struct parts *parts)
{
    if (status < 0)
        return status;
    uint64_t bytes = reply_bytes(reply);
    if (bytes < parts->head_bytes || bytes - parts->head_bytes > parts->bytes)
        return -N_EPROTO;
    parts->bytes = bytes - parts->head_bytes;
    int error = copy_parts(p, (char *)reply->payload + sizeof(struct file_reply), parts, PTE_W);
    return error ? error : status;
}

/* A reply that has no place in the program is kept, and its record. */
int64_t sys_requestend(struct proc *p, const uint64_t *arg)
{
    struct ask **link = find_request(p, arg[0]);
    struct parts parts = parts_of(arg + 1);
    struct message *reply;

    if (!link)
        return -N_EINVAL;
    const struct ask *a = *link;
    int64_t status = request_await_of_family(p, a->node, a->type, a->sequence, a->sent_cycles, &reply);
    if (p->killed) { /* the end of the process will free the record */
        reply_release(reply);
        return status;
    }
    int64_t result = give_parts(p, status, reply, &parts);
    if (result == -N_EFAULT && status >= 0) {
        queue_add(&p->inbox, reply);
        return result;
    }
    end_request(link);
    reply_release(reply);
    return result;
}

/* Of a request: its server is asked whether it holds it; then its time begins anew. */
static RARE bool limit_has_passed(struct proc *p, struct ask *a)
{
    uint32_t node = a->node, type = a->type, sequence = a->sequence;

    if (!watch_is_held(p, node))
        return true;
    a->sent_cycles = ncu_time();
    return request_has_reply(p, node, type, sequence);
}

int64_t sys_requesttest(struct proc *p, const uint64_t *arg)
{
    struct ask **link = find_request(p, arg[0]);

    if (!link)
        return arg[0] == 0 ? (int64_t)(ASK_MAX - count(p)) : -N_EINVAL;
    struct ask *a = *link;
    if (request_has_reply(p, a->node, a->type, a->sequence))
        return 1;
    return watch_is_overdue(a->sent_cycles) && limit_has_passed(p, a);
}
