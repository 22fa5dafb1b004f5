#include "vertex/msg.h"

#include <stddef.h>

#include "vertex/addr.h"
#include "vertex/console.h"
#include "vertex/copy.h"
#include "vertex/kmem.h"
#include "vertex/ncu.h"
#include "vertex/resend.h"

struct channel {
    struct message *standard; /* the standard buffer; NULL when it was handed over and not yet replaced */
    struct message *armed;    /* what the NCU has: the standard buffer, a bigger one, or NULL */
    uint64_t wanted_bytes;    /* of the message that waits, if the standard buffer is too small for it */
};

static struct channel channels[NCU_CHANNELS + 1];
static uint32_t unarmed; /* bit c: channel c waits for memory */
static uint32_t sends;   /* under way */

/* ---- Buffers ---- */

struct message *msg_new(uint64_t capacity)
{
    struct message *m = kmem_alloc(MEM_MESSAGE, sizeof *m + capacity);

    if (m) {
        *m = (struct message){.holds = 1, .capacity = capacity, .via = MSG_VIA_NEAREST};
        m->payload = (uint64_t *)(m + 1);
    }
    return m;
}

void msg_release(struct message *m)
{
    if (m->holds == 0)
        panic("msg_release: message 0x%lx, tag 0x%x, is free", (uint64_t)m, m->tag);
    if (--m->holds == 0)
        kmem_free(MEM_MESSAGE, m, sizeof *m + m->capacity);
}

/* ---- Arming ---- */

static void arm(uint32_t c, struct message *m)
{
    channels[c].armed = m;
    channels[c].wanted_bytes = 0;
    unarmed &= ~(1u << c);
    ncu_arm(c, m->payload, m->capacity);
}

/* Arms the channel for what it waits for; without memory it stays, or becomes, unarmed. */
static void arm_channel(uint32_t c)
{
    struct channel *ch = &channels[c];
    struct message *m;

    if (ch->wanted_bytes > MSG_ARMED_BYTES) {
        m = msg_new(ch->wanted_bytes);
    } else {
        if (!ch->standard)
            ch->standard = msg_new(MSG_ARMED_BYTES);
        m = ch->standard;
    }
    if (m)
        arm(c, m);
    else
        unarmed |= 1u << c;
}

void msg_arm_waiting(void)
{
    for (uint32_t c = 0, left = unarmed; left; c++, left >>= 1)
        if (left & 1)
            arm_channel(c);
}

void msg_init(void)
{
    uint32_t loop_back = NODE_IS_IO(MAILBOX->node) ? NCU_SI_CHANNELS : NCU_CHANNELS;
    uint32_t connected = MAILBOX->channels | 1u << loop_back;

    for (uint32_t c = 0; c <= loop_back; c++)
        if (connected & 1u << c)
            arm_channel(c);
}

/* ---- Receiving ---- */

void msg_header_waits(const struct ncu_cause *cause)
{
    struct channel *ch = &channels[cause->channel];

    if (ch->armed && ch->armed->capacity >= cause->bytes)
        return; /* armed since the header came */
    ch->wanted_bytes = cause->bytes;
    arm_channel(cause->channel);
}

/* A copy in a buffer of its size, or NULL: too big, or no memory. */
static struct message *copy_of_small(const struct message *m)
{
    struct message *copy = m->bytes <= MSG_SMALL_BYTES ? msg_new(m->bytes) : NULL;

    if (copy) {
        copy_bytes(copy->payload, m->payload, m->bytes);
        copy->bytes = m->bytes;
        copy->tag = m->tag;
        copy->node = m->node;
        copy->start_cycles = m->start_cycles;
        copy->done_cycles = m->done_cycles;
    }
    return copy;
}

/* Takes the message out of the channel: a copy, so that the standard buffer stays, or the buffer itself. */
static struct message *detach(struct channel *ch, struct message *m)
{
    struct message *copy = m == ch->standard ? copy_of_small(m) : NULL;

    if (copy)
        return copy;
    if (m == ch->standard)
        ch->standard = NULL;
    return m;
}

static void discard(struct channel *ch, struct message *m)
{
    if (m != ch->standard)
        msg_release(m);
    resend_note_damage();
}

struct message *msg_received(const struct ncu_cause *cause)
{
    struct channel *ch = &channels[cause->channel];
    struct message *m = ch->armed;

    if (!m || addr_to_node(m->payload) != cause->addr || cause->bytes > m->capacity)
        panic("msg_received: channel %u, %lu bytes at 0x%lx", cause->channel, cause->bytes, cause->addr);
    m->bytes = cause->bytes;
    m->tag = cause->tag;
    m->node = cause->node;
    m->start_cycles = cause->start_cycles;
    m->done_cycles = cause->done_cycles;
    ch->armed = NULL;
    if (cause->status == NCU_OK) {
        m = detach(ch, m);
    } else {
        discard(ch, m);
        m = NULL;
    }
    arm_channel(cause->channel);
    return m;
}

/* ---- Sending ---- */

static void start_send(struct message *m, uint64_t node, uint32_t tag)
{
    m->node = (uint32_t)node;
    m->tag = tag;
    m->holds++;
    sends++;
    ncu_send(node, m->payload, m->bytes, tag, (uint64_t)m, m->via);
}

void msg_send(struct message *m, uint32_t node, uint32_t tag)
{
    start_send(m, node, tag);
}

void msg_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t tag)
{
    if (MAILBOX->broadcasts) {
        start_send(m, base | NCU_SEND_SUBCUBE(dim), tag);
        return;
    }
    for (uint32_t i = 0; i < 1u << dim; i++)
        if (base + i != MAILBOX->node)
            start_send(m, base + i, tag);
}

void msg_post(struct message *m, uint32_t node, uint32_t tag)
{
    msg_send(m, node, tag);
    msg_release(m);
}

bool msg_sends_under_way(void)
{
    return sends > 0;
}

struct message *msg_sent(const struct ncu_cause *cause)
{
    struct message *m = (struct message *)cause->cookie;

    if (sends == 0 || m->holds == 0)
        panic("msg_sent: cookie 0x%lx", cause->cookie);
    sends--;
    return m;
}
