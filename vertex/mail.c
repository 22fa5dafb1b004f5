#include "vertex/mail.h"

#include <stddef.h>

#include "nsdisk/errors.h"
#include "vertex/copy.h"
#include "vertex/msg.h"
#include "vertex/request.h"
#include "vertex/sched.h"
#include "vertex/signal.h"

/* Messages that overtook the load of the process they are for. Once a job has run here, what comes without a
 * process is late, not early, and is dropped. */
static struct msg_queue early;

/* ---- To the process that waits ---- */

static bool reader_wants(const struct reader *r, const struct message *m)
{
    return r->waiting && !r->landing && m->bytes <= r->bytes && msg_matches(m, &r->pattern);
}

static void reader_done(struct proc *p, const struct message *m)
{
    mail_note_taken(p, m);
    p->reader.waiting = p->reader.landing = false;
    p->reader.bytes = m->bytes;
    p->reader.pattern.node = m->node;
    p->reader.tag = m->tag;
    sched_wake(p);
}

/* From the standard buffer straight to the process, if it waits for it. A long message is queued: the channel is armed
 * again before it is copied. */
static bool take_now(struct proc *p, const struct message *m)
{
    if (m->bytes > MSG_ARMED_BYTES || !reader_wants(&p->reader, m) || vm_copy_out(&p->vm, p->reader.va, m->payload, m->bytes) != 0)
        return false;
    p->monitor.copied++;
    reader_done(p, m);
    return true;
}

struct message *mail_landing(const struct ncu_cause *cause)
{
    struct message head = {.bytes = cause->bytes, .tag = cause->tag, .node = cause->node};
    struct proc *p = proc_find(TAG_TO(head.tag));

    if (!p || cause->bytes > MSG_MAX_BYTES || !reader_wants(&p->reader, &head))
        return NULL;
    void *memory = vm_contiguous(&p->vm, p->reader.va, head.bytes, PTE_W);
    struct message *m = memory ? msg_new_landing(memory, head.bytes) : NULL;
    p->reader.landing = m != NULL;
    return m;
}

void mail_landed(struct message *m, bool damaged)
{
    struct proc *p = proc_find(TAG_TO(m->tag));

    p->monitor.landed += !damaged;
    p->reader.landing = false;
    if (damaged)
        sched_wake(p);
    else
        reader_done(p, m);
    msg_release(m);
}

void mail_offer_waiting(void)
{
    for (uint32_t c = 0; c <= NCU_CHANNELS; c++) {
        const struct ncu_cause *header = msg_waiting_header(c);
        struct message *m = header ? mail_landing(header) : NULL;
        if (m)
            msg_land(c, m);
    }
}

/* ---- To its queue ---- */

/* A reply is for someone only as long as he asks for it. */
static bool is_wanted(const struct proc *p, const struct message *m)
{
    if (!p->builtin && N_IS_FILE_REPLY(TAG_TYPE(m->tag)))
        return request_is_awaited(p, m);
    return p->state != PROC_ENDING && p->state != PROC_ENDED;
}

static void deliver(struct proc *p, struct message *m)
{
    if (p && is_wanted(p, m)) {
        queue_add(&p->inbox, m);
        signal_arrival(p, m);
        sched_wake(p);
    } else if (!p && NODE_IS_IO(MAILBOX->node)) {
        request_refuse(m);
    } else if (!p && !proc_job_has_run()) {
        queue_add(&early, m);
    } else {
        msg_release(m);
    }
}

void mail_arrived(uint32_t channel, struct message *m)
{
    struct proc *p = proc_find(TAG_TO(m->tag));

    if (p && take_now(p, m))
        msg_drop(channel, m);
    else
        deliver(p, msg_keep(channel, m));
}

void mail_drop_inbox(struct proc *p)
{
    struct message *m;

    while ((m = queue_take_first(&p->inbox)))
        msg_release(m);
}

void mail_give_early(struct proc *p)
{
    struct msg_queue all = early;
    struct message *m;

    early = (struct msg_queue){0};
    while ((m = queue_take_first(&all)))
        queue_add(TAG_TO(m->tag) == p->procid ? &p->inbox : &early, m);
}

/* ---- Sent and taken ---- */

void mail_note_sent(struct proc *p, struct message *m)
{
    m->owner = p->procid;
    p->last_sent = m;
    p->monitor.sent_start_cycles = 0;
    p->monitor.sent_done_cycles = 0;
    p->monitor.sent_bytes = m->bytes + 8;
}

void mail_note_taken(struct proc *p, const struct message *m)
{
    p->monitor.recv_start_cycles = m->start_cycles;
    p->monitor.recv_done_cycles = m->done_cycles;
    p->monitor.recv_bytes = m->bytes + 8;
}

static int32_t error_of_status(int32_t status)
{
    return status == NCU_EDEST || status == NCU_ELINK ? -N_EHOSTUNREACH : -N_EIO;
}

void mail_sent(const struct message *m, const struct ncu_cause *cause)
{
    struct proc *p = m->owner == MSG_OF_KERNEL ? NULL : proc_find(m->owner);

    proc_wake_for_memory();
    if (!p)
        return;
    if (p->last_sent == m) {
        p->monitor.sent_start_cycles = cause->start_cycles;
        p->monitor.sent_done_cycles = cause->done_cycles;
    }
    if (cause->status == NCU_OK)
        return;
    if (request_is(m))
        request_failed(p, m, error_of_status(cause->status));
    else
        p->send_status = error_of_status(cause->status);
}
