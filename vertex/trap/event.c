/*
 * Takes causes from the NCU and passes each to the module that handles it (event.h).
 */
#include "vertex/trap/event.h"

#include "vertex/base/attr.h"
#include "vertex/base/panic.h"
#include "vertex/contract/system.h"
#include "vertex/file/drive_traps.h"
#include "vertex/message/lost.h"
#include "vertex/message/mail.h"
#include "vertex/message/msg.h"
#include "vertex/message/resend.h"
#include "vertex/process/load.h"
#include "vertex/process/report.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/timer.h"

static bool is_load(const struct message *m)
{
    return N_IS_LOAD(TAG_TYPE(m->tag));
}

/* Messages for the kernel itself go to load.c, signal.c and lost.c, all others to processes. */
static void deliver(uint32_t channel, struct message *m)
{
    switch (TAG_TYPE(m->tag)) {
    case N_LOAD_BEGIN:
    case N_LOAD_DATA:
    case N_LOAD_START:
        load_message(msg_keep(channel, m));
        break;
    case N_KILL:
        load_kill(msg_keep(channel, m));
        break;
    case N_SIGNAL:
        signal_message(msg_keep(channel, m));
        break;
    case N_LOST:
        lost_arrived(msg_keep(channel, m));
        break;
    default:
        mail_arrived(channel, m);
    }
}

/* Its sender knows, and sends it again. */
static RARE void handle_damage(uint32_t channel, struct message *m)
{
    resend_note_damage();
    if (m->place == MSG_LANDED)
        mail_landed(m, true);
    else
        msg_drop(channel, m);
}

static void handle_arrival(const struct ncu_cause *cause)
{
    if (mail_take_by_pages(cause))
        return;
    struct message *m = msg_received(cause);

    if (cause->status != NCU_OK)
        handle_damage(cause->channel, m);
    else if (m->place == MSG_LANDED)
        mail_landed(m, false);
    else
        deliver(cause->channel, m);
    msg_rearm(cause->channel);
}

static RARE void handle_header(const struct ncu_cause *cause)
{
    if (!msg_header_waits(cause))
        return;
    struct message *landing = mail_landing(cause);
    if (landing)
        msg_land(cause->channel, landing);
    else
        msg_rearm(cause->channel);
}

static RARE void handle_failed_send(const struct ncu_cause *cause, struct message *m)
{
    mail_send_failed(m, cause);
    if (is_load(m))
        load_undeliverable(cause->node);
    else if (TAG_TYPE(m->tag) == N_EXIT)
        report_failed(m);
}

static APART void handle_sent(const struct ncu_cause *cause)
{
    if (resend_takes(cause))
        return;
    struct message *m = msg_sent(cause);
    mail_sent(m, cause);
    if (cause->status != NCU_OK)
        handle_failed_send(cause, m);
    msg_release(m);
}

static RARE void handle_other(const struct ncu_cause *cause)
{
    switch (cause->kind) {
    case CAUSE_RECV_HEADER:
        handle_header(cause);
        break;
    case CAUSE_TIMER:
        timer_due(cause->done_cycles);
        break;
    case CAUSE_DISK_DONE:
        disk_done(cause);
        break;
    case CAUSE_STARTED_DONE:
        disk_started_done(cause);
        break;
    default:
        panic("event: unknown cause %u", cause->kind);
    }
}

static void handle_each(uint64_t n)
{
    for (const struct ncu_cause *cause = MAILBOX->cause, *end = cause + n; cause < end; cause++)
        if (cause->kind == CAUSE_RECV_DONE)
            handle_arrival(cause);
        else if (cause->kind == CAUSE_SEND_DONE)
            handle_sent(cause);
        else
            handle_other(cause);
}

/* There may be more. Handling a cause may send, and what was sent may have failed at once: only when there is no cause
 * left are all failures known. */
static RARE void handle_more(uint64_t n)
{
    while (n == NCU_CAUSES_MAX || (resend_is_due() && n > 0)) {
        n = ncu_causes();
        handle_each(n);
    }
    resend_flush();
}

static RARE void handle_any(uint64_t n)
{
    handle_each(n);
    if (n == NCU_CAUSES_MAX || resend_is_due())
        handle_more(n);
}

/* Mostly it is one message, for which the process waits. */
static APART void handle_all(uint64_t n)
{
    if (n != 1 || MAILBOX->cause[0].kind != CAUSE_RECV_DONE || !mail_take_short(&MAILBOX->cause[0]))
        handle_any(n);
}

void event_fetch(void)
{
    handle_all(ncu_causes());
}

void event_reap(void)
{
    uint64_t n;

    do {
        n = ncu_sent();
        handle_each(n);
    } while (n == NCU_CAUSES_MAX);
}

void event_wait(enum ncu_wait why, uint64_t node, uint64_t type)
{
    handle_all(ncu_idle(why, node, type));
}
