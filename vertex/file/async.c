/*
 * readstart, preadstart, readend, writestart, pwritestart, writeend, and their replies (async.h).
 */
#include "vertex/file/async.h"

#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/request.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/trap/event.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

struct async {          /* a start under way */
    struct async *next; /* the one started before */
    uint32_t ufid;
    uint32_t node;
    uint32_t type; /* N_FREAD or N_FWRITE */
    uint32_t sequence;
    bool positioned; /* it did not move the file's offset */
    uint64_t offset;
    uint64_t bytes;
    uint64_t sent_cycles; /* virtual time */
};

/* ---- Records ---- */

static void unlink_record(struct proc *p, struct async *a)
{
    struct async **link = &p->async;

    while (*link != a)
        link = &(*link)->next;
    *link = a->next;
    kmem_free(MEM_PROCESS, a, sizeof *a);
}

static void come_short(struct proc *p, struct file *f, uint64_t end, int64_t status)
{
    if (end < f->short_at)
        f->short_at = end;
    if (status == -N_EPIPE)
        signal_broken_pipe(p);
}

/* Notes where a transfer ended. The server says where it put an append; any other transfer is at its own offset. */
static void note_end(struct proc *p, struct file *f, const struct async *a, int64_t status, const struct message *reply)
{
    uint64_t end = a->offset + (status > 0 ? status : 0);

    if (a->type == N_FWRITE && f->flags & N_O_APPEND && status > 0) {
        end = file_appended_end(reply);
        f->appended_end = end > f->appended_end ? end : f->appended_end;
    } else if (end < a->offset + a->bytes) {
        come_short(p, f, end, status);
    }
}

static void correct_offset(struct file *f)
{
    if (f->short_at != FILE_NOT_SHORT)
        f->offset = f->short_at;
    else if (f->appended_end)
        f->offset = f->appended_end;
    f->short_at = FILE_NOT_SHORT;
    f->appended_end = 0;
}

/* `reply` may be NULL if the status is an error. */
static void end_record(struct proc *p, struct async *a, int64_t status, const struct message *reply)
{
    struct file *f = p->file[a->ufid];

    if (!a->positioned) {
        note_end(p, f, a, status, reply);
        if (--f->pending == 0)
            correct_offset(f);
    }
    unlink_record(p, a);
}

static struct message_pattern reply_to(const struct async *a)
{
    return pattern_reply(a->node, N_REPLY(a->type), a->sequence);
}

/* As message_matches with reply_to(a), but without building a pattern for each record that a search looks at. */
static bool answers(const struct async *a, uint32_t node, uint32_t tag, uint32_t sequence)
{
    return node == a->node && TAG_TYPE(tag) == N_REPLY(a->type) && TAG_FROM(tag) == 0 && sequence == a->sequence;
}

static struct async *find(const struct proc *p, uint32_t node, uint32_t tag, uint32_t sequence)
{
    struct async *a = p->async;

    while (a && !answers(a, node, tag, sequence))
        a = a->next;
    return a;
}

static struct async *record_of(const struct proc *p, const struct message *m)
{
    return find(p, m->node, m->tag, message_sequence(m));
}

static struct async *most_recent(const struct proc *p, uint64_t ufid, uint32_t type)
{
    struct async *a = p->async;

    while (a && (a->ufid != ufid || a->type != type))
        a = a->next;
    return a;
}

/* ---- Replies taken by nread ---- */

struct message *async_find_arrived(const struct proc *p, const struct message_pattern *pattern)
{
    struct message *m = queue_find(&p->inbox, pattern);

    while (m && !record_of(p, m))
        m = queue_find_next(&p->inbox, pattern, m);
    return m;
}

const struct async *async_expected(const struct proc *p, const struct message_pattern *pattern)
{
    for (const struct async *a = p->async; a; a = a->next)
        if (N_REPLY(a->type) == pattern->type_low && (pattern->node == MESSAGE_ANY_NODE || pattern->node == a->node))
            return a;
    return NULL;
}

void async_watch(struct proc *p, const struct async *a, struct watch *w)
{
    watch_begin(p, w, a->node, a->sent_cycles);
}

int async_answer(struct proc *p, uint32_t node, uint32_t reply_type, int32_t error)
{
    const struct async *oldest = NULL;
    struct message *m = message_new(sizeof(struct file_reply));

    if (!m)
        return -N_ENOMEM;
    for (const struct async *a = p->async; a; a = a->next)
        if (a->node == node && N_REPLY(a->type) == reply_type)
            oldest = a;
    *(struct file_reply *)m->payload = (struct file_reply){oldest->sequence, error};
    m->bytes = sizeof(struct file_reply);
    m->node = node;
    m->tag = TAG(reply_type, 0, p->procid);
    m->start_cycles = m->done_cycles = ncu_time();
    queue_add(&p->inbox, m);
    return 0;
}

bool async_awaits(const struct proc *p, const struct message *m)
{
    return record_of(p, m);
}

bool async_expects(const struct proc *p, uint32_t node, uint32_t tag, uint32_t sequence)
{
    return find(p, node, tag, sequence);
}

void async_taken(struct proc *p, const struct message *m)
{
    struct async *a = N_IS_FILE_REPLY(TAG_TYPE(m->tag)) ? record_of(p, m) : NULL;

    if (a)
        end_record(p, a, m->bytes >= sizeof(struct file_reply) ? ((struct file_reply *)m->payload)->status : 0, m);
}

static void drop_reply(struct proc *p, const struct async *a)
{
    const struct message_pattern reply = reply_to(a);
    struct message *m = queue_find(&p->inbox, &reply);

    if (m) {
        queue_remove(&p->inbox, m);
        message_release(m);
    }
}

/* Another process may share the file. */
static void drop_transfer(struct file *f, const struct async *a)
{
    if (!a->positioned && --f->pending == 0)
        correct_offset(f);
}

void async_drop(struct proc *p, uint64_t ufid)
{
    struct async *next;

    for (struct async *a = p->async; a; a = next) {
        next = a->next;
        if (a->ufid == ufid) {
            drop_reply(p, a);
            drop_transfer(p->file[ufid], a);
            unlink_record(p, a);
        }
    }
}

/* ---- Starting ---- */

/* What a start transfers. */
struct place {
    uint64_t bytes, offset;
    bool positioned;
};

/* Allocates the record before it sends the request: after that nothing can fail. Takes over `m`, also on an error. */
static int start(struct proc *p, uint64_t ufid, uint32_t type, const struct place *place, struct message *m)
{
    struct file *f = p->file[ufid];
    struct async *a = kmem_alloc(MEM_PROCESS, sizeof *a);

    if (!a) {
        event_reap(); /* sends that have ended may hold the memory for it */
        a = kmem_alloc(MEM_PROCESS, sizeof *a);
    }
    if (!a) {
        message_release(m);
        return -N_ENOMEM;
    }
    *a = (struct async){p->async, ufid, f->node, type, 0, place->positioned, place->offset, place->bytes, ncu_time()};
    a->sequence = request_send(p, m, f->node, type);
    p->async = a;
    if (!place->positioned) {
        f->pending++;
        f->offset += place->bytes;
    }
    return 0;
}

/* nsdisk has no memory for requests of more than file_io_bytes. */
static int check_length(const struct file *f, uint64_t bytes)
{
    if (bytes == 0 || bytes > FILE_IO_MAX_BYTES)
        return -N_EINVAL;
    return NODE_IS_IO(f->node) && bytes > file_io_bytes(MAILBOX->ram_bytes) ? -N_ENOMEM : 0;
}

/* Checks the place of a positioned start; any other is at the file's offset. */
static int settle_place(const struct file *f, struct place *place)
{
    if (!f)
        return -N_EBADF;
    if (!place->positioned)
        place->offset = f->offset;
    else if (f->stream)
        return -N_ESPIPE;
    else if ((int64_t)place->offset < 0)
        return -N_EINVAL;
    return check_length(f, place->bytes);
}

static int64_t start_read(struct proc *p, uint64_t ufid, struct place place)
{
    struct file *f = file_get(p, ufid);
    struct message *m;
    int error = settle_place(f, &place);

    if (error)
        return error;
    const struct file_request fields = {
        .drive = f->drive, .view = f->view, .sfid = f->sfid, .offset = place.offset, .bytes = place.bytes};
    error = request_new(p, &fields, 0, &m);
    return error ? error : start(p, ufid, N_FREAD, &place, m);
}

int64_t sys_readstart(struct proc *p, const uint64_t *arg)
{
    return start_read(p, arg[0], (struct place){.bytes = arg[1]});
}

int64_t sys_preadstart(struct proc *p, const uint64_t *arg)
{
    return start_read(p, arg[0], (struct place){arg[1], arg[2], true});
}

int async_request_with(struct proc *p, const struct file_request *fields, uint64_t from, struct message **m)
{
    int error = request_new(p, fields, fields->bytes, m);

    if (error)
        return error;
    error = proc_copy_in(p, (char *)(*m)->payload + (*m)->bytes, from, fields->bytes);
    if (error) {
        message_release(*m);
        return error;
    }
    (*m)->bytes += fields->bytes;
    return 0;
}

int async_write_request(struct proc *p, const struct file *f, uint32_t flags, uint64_t from, uint64_t bytes,
                        uint64_t offset, struct message **m)
{
    const struct file_request fields = {
        .drive = f->drive, .view = f->view, .flags = flags, .sfid = f->sfid, .offset = offset, .bytes = bytes};

    return async_request_with(p, &fields, from, m);
}

static int64_t start_write(struct proc *p, uint64_t ufid, uint64_t from, struct place place)
{
    struct file *f = file_get(p, ufid);
    struct message *m;
    int error = settle_place(f, &place);

    if (error)
        return error;
    uint32_t append = place.positioned ? 0 : f->flags & N_O_APPEND;
    error = async_write_request(p, f, append, from, place.bytes, place.offset, &m);
    return error ? error : start(p, ufid, N_FWRITE, &place, m);
}

int64_t sys_writestart(struct proc *p, const uint64_t *arg)
{
    return start_write(p, arg[0], arg[1], (struct place){.bytes = arg[2]});
}

int64_t sys_pwritestart(struct proc *p, const uint64_t *arg)
{
    return start_write(p, arg[0], arg[1], (struct place){arg[2], arg[3], true});
}

/* ---- Ending ---- */

/* Waits for a start's reply, and copies the data of a read to `to`. */
static int64_t finish(struct proc *p, struct async *a, uint64_t to)
{
    struct message *reply;
    int64_t status = request_await_since(p, a->node, a->type, a->sequence, a->sent_cycles, &reply);

    if (p->killed) { /* closing the file will free the record */
        reply_release(reply);
        return status;
    }
    if (a->type == N_FREAD)
        status = reply_give_data(p, status, reply, to, a->bytes);
    else if (status > (int64_t)a->bytes)
        status = -N_EPROTO;
    end_record(p, a, status, reply);
    reply_release(reply);
    return status;
}

/* Ends the most recent start of that kind. */
static int64_t end_start(struct proc *p, uint64_t ufid, uint32_t type, uint64_t to)
{
    struct async *a = file_get(p, ufid) ? most_recent(p, ufid, type) : NULL;

    if (!a)
        return file_get(p, ufid) ? -N_EINVAL : -N_EBADF;
    int error = type == N_FREAD ? vm_check(&p->vm, to, a->bytes, PTE_W) : 0;
    return error ? error : finish(p, a, to);
}

int64_t sys_readend(struct proc *p, const uint64_t *arg)
{
    return end_start(p, arg[0], N_FREAD, arg[1]);
}

int64_t sys_writeend(struct proc *p, const uint64_t *arg)
{
    return end_start(p, arg[0], N_FWRITE, 0);
}
