/*
 * Takes causes from the NCU and passes each to the module that handles it (event.h).
 */
#include "vertex/trap/event.h"

#include "vertex/base/attr.h"
#include "vertex/base/panic.h"
#include "vertex/contract/system.h"
#include "vertex/message/buffers.h"
#include "vertex/message/channels.h"
#include "vertex/message/delivery.h"
#include "vertex/message/pace.h"
#include "vertex/message/resend.h"
#include "vertex/message/sends.h"
#include "vertex/message/stated.h"

enum { TYPES = N_PROGRESS - N_LOAD_BEGIN + 1, CAUSES = CAUSE_STARTED_DONE + 1 };

#define EVENT_TYPE(type, function)  [(type)-N_LOAD_BEGIN] = (function),
#define EVENT_CAUSE(kind, function) [kind] = (function),
static void (*const take_message[TYPES])(struct message *m) = {EVENT_MESSAGES(EVENT_TYPE)};
static void (*const take_failed_send[TYPES])(struct message *m, uint32_t node) = {EVENT_FAILED_SENDS(EVENT_TYPE)};
static void (*const take_cause[CAUSES])(const struct ncu_cause *cause) = {EVENT_CAUSES(EVENT_CAUSE)};
#undef EVENT_TYPE
#undef EVENT_CAUSE

static void deliver(uint32_t channel, struct message *m)
{
    uint32_t i = TAG_TYPE(m->tag) - N_LOAD_BEGIN;

    if (i < TYPES && take_message[i])
        take_message[i](channel_keep(channel, m, m->bytes));
    else
        delivery_arrived(channel, m);
}

/* Drops a damaged message. The sender's NCU reports the damage there, and the sender sends it again. */
static RARE void handle_damage(uint32_t channel, struct message *m)
{
    resend_note_damage();
    if (m->place == MESSAGE_LANDED)
        delivery_landed(m, true);
    else
        channel_drop(channel, m);
}

static void handle_arrival(const struct ncu_cause *cause)
{
    if (delivery_take_by_pages(cause))
        return;
    struct message *m = channel_received(cause);
    uint64_t arm_cycles = stated_arm(cause);

    if (arm_cycles)
        channels_arm_at(arm_cycles);
    if (cause->status != NCU_OK)
        handle_damage(cause->channel, m);
    else if (m->place == MESSAGE_LANDED)
        delivery_landed(m, false);
    else
        deliver(cause->channel, m);
    if (pace_allows(cause))
        channel_rearm(cause->channel);
    else
        channel_rest(cause->channel);
    if (arm_cycles)
        channels_arm_at(0);
}

static RARE void handle_header(const struct ncu_cause *cause)
{
    if (!channel_header_waits(cause))
        return;
    if (channel_rests(cause->channel))
        return;
    struct message *landing = delivery_landing(cause);
    if (landing)
        channel_land(cause->channel, landing);
    else
        channel_rearm(cause->channel);
}

static RARE void handle_failed_send(const struct ncu_cause *cause, struct message *m)
{
    uint32_t i = TAG_TYPE(m->tag) - N_LOAD_BEGIN;

    delivery_send_failed(m, cause);
    if (i < TYPES && take_failed_send[i])
        take_failed_send[i](m, cause->node);
}

static void handle_sent(const struct ncu_cause *cause)
{
    if (resend_takes(cause))
        return;
    struct message *m = message_sent(cause);
    delivery_sent(m, cause);
    if (cause->status != NCU_OK)
        handle_failed_send(cause, m);
    message_release(m);
}

static RARE void handle_other(const struct ncu_cause *cause)
{
    if (cause->kind == CAUSE_RECV_HEADER)
        handle_header(cause);
    else if (cause->kind < CAUSES && take_cause[cause->kind])
        take_cause[cause->kind](cause);
    else
        panic("event: unknown cause %u", cause->kind);
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

/* Fetches further causes. Handling a cause may send messages, which may fail at once: all failures are known only when
 * no cause is left. */
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
static void handle_all(uint64_t n)
{
    if (n != 1 || MAILBOX->cause[0].kind != CAUSE_RECV_DONE || !delivery_take_short(&MAILBOX->cause[0]))
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
