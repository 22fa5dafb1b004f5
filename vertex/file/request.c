/*
 * Requests to file servers, and their replies (request.h).
 */
#include "vertex/file/request.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/ask.h"
#include "vertex/file/async.h"
#include "vertex/file/watch.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/charge.h"
#include "vertex/message/delivery.h"
#include "vertex/message/sends.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/event.h"
#include "vertex/trap/timer.h"

static uint32_t last_sequence;

int request_new(struct proc *p, const struct file_request *fields, uint64_t extra, struct message **m)
{
    int error = proc_new_message(p, sizeof *fields + extra, false, m);

    if (!error) {
        (*m)->bytes = 0;
        request_add(*m, fields, sizeof *fields);
    }
    return error;
}

void request_add(struct message *m, const void *bytes, uint32_t n)
{
    copy_bytes((char *)m->payload + m->bytes, bytes, n);
    m->bytes += n;
}

/* ---- The way to an I/O node ---- */

/* Returns the node's entry, else a free entry, else NULL. */
static struct proc_via *find_via(struct proc *p, uint32_t node)
{
    struct proc_via *free = NULL;

    for (uint32_t i = 0; i < PROC_VIA_MAX; i++) {
        if (p->via[i].node == node)
            return &p->via[i];
        if (p->via[i].node == 0)
            free = &p->via[i];
    }
    return free;
}

/* An entry whose node is 0, which is never an I/O node, is free. */
static uint32_t via_of(struct proc *p, uint32_t node)
{
    const struct proc_via *v = NODE_IS_IO(node) ? find_via(p, node) : NULL;

    return v && v->node == node ? v->channel : MESSAGE_VIA_NEAREST;
}

int request_choose_channel(struct proc *p, uint32_t node, int32_t channel)
{
    while (sends_under_way()) {
        sched_wait_for_sends();
        if (p->killed)
            return -N_EINTR;
    }
    struct proc_via *v = find_via(p, node);
    if (!v)
        return -N_ENFILE;
    *v = (struct proc_via){channel < 0 ? 0 : node, channel < 0 ? 0 : channel};
    return 0;
}

/* ---- Requests ---- */

uint32_t request_send(struct proc *p, struct message *m, uint32_t node, uint32_t type)
{
    struct file_request *head = (struct file_request *)m->payload;

    uint64_t bytes = m->bytes;

    head->seq = m->sequence = ++last_sequence;
    m->via = via_of(p, node);
    if (!stated_covers(p, node, type))
        charge_send(bytes);
    stated_request(p, node, type, bytes);
    delivery_note_sent(p, m);
    message_post(m, node, TAG(type, p->procid, 0));
    if (sends_reap_is_due(p->procid, bytes))
        event_reap();
    return last_sequence;
}

static int await(struct proc *p, const struct message_pattern *reply, uint64_t sent_cycles, struct message **m)
{
    struct watch w;
    int error = 0;

    if ((*m = queue_find(&p->inbox, reply)))
        return 0;
    p->awaited = reply->sequence;
    watch_begin(p, &w, reply->node, sent_cycles);
    w.may_hold = reply->type_low >= N_REPLY(TYPES_CLUSTERFILE); /* a family's */
    while (!error && !(*m = queue_find(&p->inbox, reply)))
        if (p->timed_out)
            error = watch_goes_on(p, &w) ? 0 : -N_ETIMEDOUT;
        else
            error = proc_wait(p, NCU_WAIT_REPLY, reply->node, reply->type_low);
    watch_end(p, &w, *m);
    p->awaited = 0;
    return error;
}

bool request_is_awaited(const struct proc *p, const struct message *m)
{
    uint32_t sequence = message_sequence(m);

    return (sequence != 0 && sequence == p->awaited) || async_awaits(p, m) || ask_awaits(p, m);
}

int64_t request_await_since(struct proc *p, uint32_t node, uint32_t type, uint32_t sequence, uint64_t sent_cycles,
                            struct message **reply)
{
    struct message_pattern pattern = pattern_reply(node, N_REPLY(type), sequence);
    struct message *m;

    *reply = NULL;
    int error = await(p, &pattern, sent_cycles, &m);
    if (error)
        return error;
    delivery_receive(p, m);
    stated_return(p);
    if (m->bytes < sizeof(struct file_reply)) {
        message_release(m);
        return -N_EPROTO;
    }
    *reply = m;
    return ((const struct file_reply *)m->payload)->status;
}

/* ---- Requests of families: no cost of theirs is stated ---- */

static void charge(uint32_t cycles, uint64_t bytes)
{
    cycles += bytes * MAILBOX->software.kb_cycles / 1024;
    if (cycles)
        ncu_charge(cycles);
}

/* As via_of, but most processes choose no channel: nothing else is looked at. */
static uint32_t chosen_via(const struct proc *p, uint32_t node)
{
    for (const struct proc_via *v = p->via; v < p->via + PROC_VIA_MAX; v++)
        if (v->node == node)
            return v->channel;
    return MESSAGE_VIA_NEAREST;
}

uint32_t request_send_of_family(struct proc *p, struct message *m, uint32_t node, uint32_t type)
{
    uint64_t bytes = m->bytes;

    ((struct request_head *)m->payload)->seq = m->sequence = ++last_sequence;
    m->via = chosen_via(p, node);
    charge(MAILBOX->software.send_cycles, bytes);
    delivery_note_sent(p, m);
    message_post(m, node, TAG(type, p->procid, 0));
    if (sends_reap_is_due(p->procid, bytes))
        event_reap();
    return last_sequence;
}

/* A reply from an I/O node has been charged, unless costs are stated. */
int64_t request_await_of_family(struct proc *p, uint32_t node, uint32_t type, uint32_t sequence, uint64_t sent_cycles,
                                struct message **reply)
{
    stated_return_is_free();
    int64_t status = request_await_since(p, node, type, sequence, sent_cycles, reply);
    if (*reply && stated_covers(p, node, N_REPLY(type)))
        charge(MAILBOX->software.receive_cycles, (*reply)->bytes);
    return status;
}

RARE bool request_has_reply(const struct proc *p, uint32_t node, uint32_t type, uint32_t sequence)
{
    struct message_pattern pattern = pattern_reply(node, N_REPLY(type), sequence);

    return queue_find(&p->inbox, &pattern) != NULL;
}

/* ---- Calls ---- */

int64_t request_call(struct proc *p, struct message *m, uint32_t node, uint32_t type, struct message **reply)
{
    struct message *answer;
    uint32_t sequence = request_send(p, m, node, type);
    int64_t status = request_await_since(p, node, type, sequence, ncu_time(), &answer);

    if (reply)
        *reply = answer;
    else if (answer)
        message_release(answer);
    return status;
}

int64_t request_ask_by_name(struct proc *p, struct file_request fields, uint64_t name, uint32_t type,
                            struct message **reply)
{
    int64_t length = vm_copy_string(&p->vm, p->path[0], name, sizeof p->path[0]);
    struct message *m;

    if (length < 0)
        return length;
    fields.name_bytes = length;
    int error = request_new(p, &fields, length, &m);
    if (error)
        return error;
    request_add(m, p->path[0], length);
    return request_call(p, m, NODE_HOST, type, reply);
}

const void *reply_data(const struct message *reply)
{
    return (const char *)reply->payload + sizeof(struct file_reply);
}

uint64_t reply_bytes(const struct message *reply)
{
    return reply->bytes - sizeof(struct file_reply);
}

int64_t reply_take_structure(int64_t status, struct message *reply, void *to, uint64_t bytes)
{
    if (status >= 0 && reply_bytes(reply) < bytes)
        status = -N_EPROTO;
    if (status >= 0)
        copy_bytes(to, reply_data(reply), bytes);
    reply_release(reply);
    return status;
}

int64_t reply_give_structure(struct proc *p, int64_t status, struct message *reply, uint64_t to, uint64_t bytes)
{
    if (status >= 0)
        status = reply_bytes(reply) < bytes ? -N_EPROTO : vm_copy_out(&p->vm, to, reply_data(reply), bytes);
    reply_release(reply);
    return status;
}

int64_t reply_give_data(struct proc *p, int64_t status, const struct message *reply, uint64_t to, uint64_t asked)
{
    if (status < 0)
        return status;
    if ((uint64_t)status > asked || reply_bytes(reply) < (uint64_t)status)
        return -N_EPROTO;
    int error = proc_copy_out(p, to, reply_data(reply), status);
    return error ? error : status;
}

bool request_is(const struct message *m)
{
    return m->sequence != 0 && N_IS_FILE_REQUEST(TAG_TYPE(m->tag));
}

void request_failed(struct proc *p, const struct message *request, int32_t status)
{
    struct message *m = (struct message *)request;

    *(struct file_reply *)m->payload = (struct file_reply){m->sequence, status};
    m->bytes = sizeof(struct file_reply);
    m->tag = TAG(N_REPLY(TAG_TYPE(m->tag)), 0, 0);
    m->sequence = 0;
    m->holds++;
    queue_add(&p->inbox, m);
}

void request_refuse(struct message *m, int32_t error)
{
    uint32_t type = TAG_TYPE(m->tag);
    struct message *reply = NULL;

    if (N_IS_FILE_REQUEST(type) || type == N_SHUTDOWN)
        reply = message_new(sizeof(struct file_reply));
    if (reply) {
        *(struct file_reply *)reply->payload = (struct file_reply){message_sequence(m), error};
        reply->bytes = sizeof(struct file_reply);
        message_post(reply, m->node, TAG(N_REPLY(type), 0, TAG_FROM(m->tag)));
    }
    message_release(m);
}
