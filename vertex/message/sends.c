/*
 * Sending, and the ends of sends (sends.h).
 */
#include "vertex/message/sends.h"

#include "vertex/base/panic.h"

uint32_t sends_by_owner[MESSAGE_OF_KERNEL + 1];

void message_send(struct message *m, uint32_t node, uint32_t tag)
{
    m->holds++;
    message_post(m, node, tag);
}

void message_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t nodes, uint32_t tag)
{
    if (MAILBOX->broadcasts && nodes == 1u << dim) {
        m->holds++;
        message_post(m, base | NCU_SEND_SUBCUBE(dim), tag);
        return;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (base + i != MAILBOX->node)
            message_send(m, base + i, tag);
}

bool sends_under_way(void)
{
    uint32_t n = 0;

    for (uint32_t owner = 0; owner <= MESSAGE_OF_KERNEL; owner++)
        n += sends_by_owner[owner];
    return n > 0;
}

struct message *message_sent(const struct ncu_cause *cause)
{
    struct message *m = (struct message *)cause->cookie;

    if (m->holds == 0 || sends_by_owner[m->owner]-- == 0)
        panic("message_sent: cookie 0x%lx", cause->cookie);
    return m;
}
