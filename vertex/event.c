#include "vertex/event.h"

#include "vertex/console.h"
#include "vertex/disk.h"
#include "vertex/load.h"
#include "vertex/mail.h"
#include "vertex/msg.h"
#include "vertex/resend.h"
#include "vertex/signal.h"
#include "vertex/system.h"
#include "vertex/timer.h"

static bool is_load(const struct message *m)
{
    return TAG_TYPE(m->tag) >= N_LOAD_BEGIN && TAG_TYPE(m->tag) <= N_LOAD_START;
}

/* Messages for the kernel itself go to load.c and signal.c, all others to processes. */
static void deliver(uint32_t channel, struct message *m)
{
    uint32_t type = TAG_TYPE(m->tag);

    if (is_load(m))
        load_message(msg_keep(channel, m));
    else if (type == N_KILL)
        load_kill(msg_keep(channel, m));
    else if (type == N_SIGNAL)
        signal_message(msg_keep(channel, m));
    else
        mail_arrived(channel, m);
}

/* Its sender knows, and sends it again. */
static void handle_damage(uint32_t channel, struct message *m)
{
    resend_note_damage();
    if (m->place == MSG_LANDED)
        mail_landed(m, true);
    else
        msg_drop(channel, m);
}

static void handle_arrival(const struct ncu_cause *cause)
{
    struct message *m = msg_received(cause);

    if (cause->status != NCU_OK)
        handle_damage(cause->channel, m);
    else if (m->place == MSG_LANDED)
        mail_landed(m, false);
    else
        deliver(cause->channel, m);
    msg_rearm(cause->channel);
}

static void handle_header(const struct ncu_cause *cause)
{
    if (!msg_header_waits(cause))
        return;
    struct message *landing = mail_landing(cause);
    if (landing)
        msg_land(cause->channel, landing);
    else
        msg_rearm(cause->channel);
}

static void handle(const struct ncu_cause *cause)
{
    struct message *m;

    switch (cause->kind) {
    case CAUSE_RECV_HEADER:
        handle_header(cause);
        break;
    case CAUSE_RECV_DONE:
        handle_arrival(cause);
        break;
    case CAUSE_SEND_DONE:
        if (resend_takes(cause))
            break;
        m = msg_sent(cause);
        mail_sent(m, cause);
        if (cause->status != NCU_OK && is_load(m))
            load_undeliverable(cause->node);
        msg_release(m);
        break;
    case CAUSE_TIMER:
        timer_due(cause->done_cycles);
        break;
    case CAUSE_DISK_DONE:
        disk_done(cause);
        break;
    default:
        panic("event: unknown cause %u", cause->kind);
    }
}

static void handle_all(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        handle(&MAILBOX->cause[i]);
}

/* Handling a cause may send, and what was sent may have failed at once: only when there is no cause left are all
 * failures known. */
static void settle_resends(void)
{
    uint64_t n = 1;

    while (resend_is_due() && n > 0) {
        n = ncu_causes();
        handle_all(n);
    }
    resend_flush();
}

void event_fetch(void)
{
    uint64_t n;

    do {
        n = ncu_causes();
        handle_all(n);
    } while (n == NCU_CAUSES_MAX);
    settle_resends();
}

void event_wait(enum ncu_wait why, uint64_t node, uint64_t type)
{
    uint64_t n = ncu_idle(why, node, type);

    handle_all(n);
    if (n == NCU_CAUSES_MAX)
        event_fetch();
    else
        settle_resends();
}
