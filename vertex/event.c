#include "vertex/event.h"

#include "vertex/console.h"
#include "vertex/disk.h"
#include "vertex/load.h"
#include "vertex/msg.h"
#include "vertex/proc.h"
#include "vertex/resend.h"
#include "vertex/system.h"

static bool is_load(const struct message *m)
{
    return TAG_TYPE(m->tag) >= N_LOAD_BEGIN && TAG_TYPE(m->tag) <= N_LOAD_START;
}

/* Messages for the kernel itself go to load.c, all others to the process. */
static void deliver(struct message *m)
{
    uint32_t type = TAG_TYPE(m->tag);

    if (is_load(m))
        load_message(m);
    else if (type == N_KILL)
        load_kill(m);
    else
        proc_deliver(m);
}

static void handle(const struct ncu_cause *cause)
{
    struct message *m;

    switch (cause->kind) {
    case CAUSE_RECV_HEADER:
        msg_header_waits(cause);
        break;
    case CAUSE_RECV_DONE:
        m = msg_received(cause);
        if (m)
            deliver(m);
        break;
    case CAUSE_SEND_DONE:
        if (resend_takes(cause))
            break;
        m = msg_sent(cause);
        if (cause->status != NCU_OK && is_load(m))
            load_undeliverable(cause->node);
        else
            proc_sent(m, cause);
        msg_release(m);
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
