/*
 * Delivers arriving messages to processes, and reports the ends of sends to their senders (delivery.h).
 */
#include "vertex/message/delivery.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/async.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/channels.h"
#include "vertex/message/charge.h"
#include "vertex/message/lost.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/signal.h"

/* Messages that arrived before their process was loaded. Once a job has run here, a message without a process is late,
 * not early, and is dropped. */
static struct message_queue early;

/* ---- Delivery to a waiting process ---- */

/* The process that waits in nread for the message that has come, or whose header has; or NULL. A program's pattern
 * matches no message for the kernel. */
static struct proc *find_reader(const struct ncu_cause *cause)
{
    struct proc *p = proc_find(TAG_TO(cause->tag));

    if (!p || p->reader.state != READER_OPEN || cause->bytes > p->reader.bytes ||
        !pattern_fits(&p->reader.pattern, cause->node, cause->tag) ||
        (p->builtin && N_IS_FOR_KERNEL(TAG_TYPE(cause->tag))))
        return NULL;
    return p;
}

/* True if the process waits for replies to its starts: no other message is for it, nor the reply to a start that it has
 * dropped. Whether a message is one can be told only when it is there. */
static bool reads_replies(const struct proc *p)
{
    return N_IS_FILE_REPLY(p->reader.pattern.type_low) && p->reader.pattern.types == PATTERN_ONE && !p->builtin;
}

/* The pattern has the reader's own procid, too. */
int64_t delivery_short_bytes(const struct proc *p)
{
    uint64_t most = p->reader.bytes < VM_SHORT_BYTES ? p->reader.bytes : VM_SHORT_BYTES;

    return !p->builtin && !p->long_way && vm_is_short_here(&p->vm, p->reader.va, most) ? (int64_t)most : -1;
}

static void note_taken(struct proc *p, uint64_t start_cycles, uint64_t done_cycles, uint64_t bytes)
{
    p->monitor.recv_start_cycles = start_cycles;
    p->monitor.recv_done_cycles = done_cycles;
    p->monitor.recv_bytes = bytes + 8;
}

/* A whole message is taken: its times, and what it costs. `landed`: without a copy. */
static INLINE void account_taken(struct proc *p, const struct message *m, bool landed)
{
    note_taken(p, m->start_cycles, m->done_cycles, m->bytes);
    if (!stated_covers(p, m->node, TAG_TYPE(m->tag)))
        charge_receive(m->bytes);
    if (stated_concerns(p, m->tag))
        stated_take_message(p, m, landed);
}

static void reader_done(struct proc *p, uint32_t node, uint32_t tag, uint64_t bytes)
{
    delivery_set_reader(p, READER_CLOSED);
    p->reader.bytes = bytes;
    p->reader.pattern.node = node;
    p->reader.tag = tag;
    sched_wake(p);
}

void delivery_interrupt(struct proc *p, int64_t result)
{
    if (p->reader.state != READER_OPEN)
        return;
    delivery_set_reader(p, READER_CLOSED);
    p->reader.bytes = result;
    sched_wake(p);
}

/* The message has been copied from the standard buffer. */
static void copied(struct proc *p, const struct ncu_cause *cause)
{
    message_note_copy();
    p->monitor.copied++;
    note_taken(p, cause->start_cycles, cause->done_cycles, cause->bytes);
    reader_done(p, cause->node, cause->tag, cause->bytes);
}

/* The message, of which the buffer has only the content yet, is the reply to a start. */
static void end_start(struct proc *p, struct message *m, const struct ncu_cause *cause)
{
    m->node = cause->node;
    m->tag = cause->tag;
    m->bytes = cause->bytes;
    async_taken(p, m);
}

/* Copies the message, which is in the standard buffer, to its reader. Before the copy of a large one, which takes as
 * long as part of the next message does, the channel gets another buffer. */
static INLINE bool copy_to_reader(struct proc *p, struct message *m, const struct ncu_cause *cause, bool reply)
{
    bool large = cause->bytes > MESSAGE_SMALL_BYTES;
    uint64_t arm_cycles = stated_arm(cause);

    if (arm_cycles)
        channels_arm_at(arm_cycles);
    if (large) {
        m = channel_received(cause);
        m = channel_keep(cause->channel, m, m->bytes);
        channel_rearm(cause->channel);
    }
    if (vm_copy_by_pages(&p->vm, m->payload, p->reader.va, cause->bytes, PTE_W) != 0) {
        channels_arm_at(0);
        if (large)
            delivery_give(m);
        return large;
    }
    if (reply)
        end_start(p, m, cause);
    if (stated_concerns(p, cause->tag))
        stated_take_cause(p, cause, m->payload);
    if (large)
        message_release(m);
    else if (arm_cycles)
        channel_rearm_standard(cause->channel);
    else
        channel_arm_standard(cause->channel, m);
    if (arm_cycles)
        channels_arm_at(0);
    if (!stated_covers(p, cause->node, TAG_TYPE(cause->tag)))
        charge_receive(cause->bytes);
    copied(p, cause);
    return true;
}

/* A large reply is queued, and copied later, in pieces: meanwhile the messages of other channels are taken as they
 * come, and those channels armed in time (stated_arm). */
static RARE bool take_reply(struct proc *p, struct message *m, const struct ncu_cause *cause)
{
    return cause->bytes <= MESSAGE_SMALL_BYTES && async_expects(p, cause->node, cause->tag, *m->payload) &&
           copy_to_reader(p, m, cause, true);
}

bool delivery_take_by_pages(const struct ncu_cause *cause)
{
    struct proc *p = find_reader(cause);
    struct message *m = channel_in_standard(cause->channel);

    if (!p || !m || cause->status != NCU_OK)
        return false;
    return reads_replies(p) ? take_reply(p, m, cause) : copy_to_reader(p, m, cause, false);
}

bool delivery_take_short(const struct ncu_cause *cause)
{
    struct proc *p = proc_current();
    struct message *m = channel_in_standard(cause->channel);

    if (!p || (int64_t)cause->bytes > p->reader.short_bytes || !m || cause->status != NCU_OK ||
        !pattern_fits(&p->reader.pattern, cause->node, cause->tag) ||
        !vm_touch_user((void *)p->reader.va, m->payload, cause->bytes))
        return false;
    channel_arm_standard(cause->channel, m);
    copied(p, cause);
    return true;
}

struct message *delivery_landing(const struct ncu_cause *cause)
{
    struct proc *p = find_reader(cause);

    if (!p || cause->bytes > MESSAGE_MAX_BYTES || reads_replies(p))
        return NULL;
    void *memory = vm_contiguous(&p->vm, p->reader.va, cause->bytes, PTE_W);
    struct message *m = memory ? message_new_landing(memory, cause->bytes) : NULL;
    if (m)
        delivery_set_reader(p, READER_LANDING);
    return m;
}

void delivery_landed(struct message *m, bool damaged)
{
    struct proc *p = proc_find(TAG_TO(m->tag));

    p->monitor.landed += !damaged;
    if (damaged) {
        delivery_set_reader(p, READER_OVERTAKEN);
        sched_wake(p);
    } else {
        account_taken(p, m, true);
        reader_done(p, m->node, m->tag, m->bytes);
    }
    message_release(m);
}

RARE void delivery_offer_waiting(void)
{
    for (uint32_t c = 0; c <= NCU_CHANNELS; c++) {
        const struct ncu_cause *header = channel_waiting_header(c);
        struct message *m = header ? delivery_landing(header) : NULL;

        if (m)
            channel_land(c, m);
    }
}

/* ---- Delivery to a queue ---- */

/* A program's process wants a file reply only while it waits for it. */
static bool is_wanted(const struct proc *p, const struct message *m)
{
    if (!p->builtin && N_IS_FILE_REPLY(TAG_TYPE(m->tag)))
        return request_is_awaited(p, m);
    return p->successor.first || (p->state != PROC_ENDING && p->state != PROC_ENDED);
}

/* A later message must not be copied to the reader before this one, which is queued. */
static void note_overtaken(struct proc *p, const struct message *m)
{
    if (p->reader.state == READER_OPEN && message_matches(m, &p->reader.pattern))
        delivery_set_reader(p, READER_OVERTAKEN);
}

static void deliver(struct proc *p, struct message *m)
{
    if (p && is_wanted(p, m)) {
        queue_add(&p->inbox, m);
        note_overtaken(p, m);
        signal_arrival(p, m);
        sched_wake(p);
    } else if (NODE_IS_IO(MAILBOX->node)) { /* nsdisk has ended, or is ending */
        request_refuse(m, -N_EHOSTDOWN);
    } else if (!p && !proc_job_has_run()) {
        queue_add(&early, m);
    } else {
        message_release(m);
    }
}

/* A pipe's bytes join the last message that is queued, if that is of the same pipe and node: one read takes both. The
 * next message after one that is full gets a large buffer. No copy of a message that others may join lasts so long that
 * it is interrupted (proc_copy_in). */
static RARE void queue_pipe_data(struct proc *p, uint32_t channel, struct message *m)
{
    struct message *last = p ? p->inbox.last : NULL;
    bool follows = last && last->tag == m->tag && last->node == m->node && !lost_is(last);
    uint64_t at = follows ? PIPE_ALIGN_UP((uint64_t)last->bytes) : 0;

    if (!follows || last->capacity > MESSAGE_SMALL_BYTES || at + m->bytes > last->capacity) {
        deliver(p, channel_keep(channel, m, follows ? MESSAGE_SMALL_BYTES : m->bytes));
        return;
    }
    copy_zero((char *)last->payload + last->bytes, at - last->bytes);
    copy_bytes((char *)last->payload + at, m->payload, m->bytes);
    message_note_copy();
    last->bytes = (uint32_t)at + m->bytes;
    last->done_cycles = m->done_cycles;
    channel_drop(channel, m);
}

static bool is_pipe_data(const struct message *m)
{
    return TAG_CONTEXT(m->tag) == CONTEXT_PIPE && TAG_NUMBER(m->tag) % PIPE_KINDS == PIPE_DATA;
}

void delivery_arrived(uint32_t channel, struct message *m)
{
    struct proc *p = proc_find(TAG_TO(m->tag));

    if (is_pipe_data(m))
        queue_pipe_data(p, channel, m);
    else
        deliver(p, channel_keep(channel, m, m->bytes));
}

void delivery_give(struct message *m)
{
    deliver(proc_find(TAG_TO(m->tag)), m);
}

void delivery_drop_inbox(struct proc *p)
{
    struct message *m;

    while (p->builtin && (m = queue_take_first(&p->inbox)))
        request_refuse(m, -N_EHOSTDOWN);
    message_release_all(&p->inbox);
}

void delivery_leave_inbox(struct proc *p)
{
    struct message *m;

    while ((m = queue_take_first(&p->inbox)))
        if (!TAG_IS_SYSTEM(m->tag))
            queue_add(&early, m);
        else
            message_release(m);
}

void delivery_drop_early(void)
{
    message_release_all(&early);
}

void delivery_give_early(struct proc *p)
{
    struct message_queue all = early;
    struct message *m;

    early = (struct message_queue){0};
    while ((m = queue_take_first(&all)))
        queue_add(TAG_TO(m->tag) == p->procid ? &p->inbox : &early, m);
}

/* ---- Sent and taken ---- */

void delivery_receive(struct proc *p, struct message *m)
{
    queue_remove(&p->inbox, m);
    account_taken(p, m, false);
}

void delivery_get_monitor(const struct proc *p, struct nmonitor *monitor)
{
    *monitor = p->monitor;
    if (!p->last_sent)
        return;
    monitor->sent_start_cycles = monitor->sent_done_cycles = 0;
    monitor->sent_bytes = p->last_sent->bytes + 8;
}

int32_t delivery_error_of_status(int32_t status)
{
    return status == NCU_EDEST || status == NCU_ELINK ? -N_EHOSTUNREACH : -N_EIO;
}

void delivery_sent(const struct message *m, const struct ncu_cause *cause)
{
    struct proc *p = proc_find(m->owner);

    if (channels_ends_are_wanted())
        proc_wake_for_memory();
    if (p && p->last_sent == m) {
        p->monitor.sent_start_cycles = cause->start_cycles;
        p->monitor.sent_done_cycles = cause->done_cycles;
        p->monitor.sent_bytes = cause->bytes + 8;
        if (m->holds == 1)
            p->last_sent = NULL;
    }
}

void delivery_send_failed(const struct message *m, const struct ncu_cause *cause)
{
    struct proc *p = proc_find(m->owner);

    if (!p)
        return;
    if (!request_is(m)) {
        lost_note(p, m, cause);
        return;
    }
    request_failed(p, m, delivery_error_of_status(cause->status));
    note_overtaken(p, m);
    sched_wake(p);
}
