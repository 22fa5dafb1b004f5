#include "vertex/msg.h"

#include <stddef.h>

#include "vertex/addr.h"
#include "vertex/console.h"
#include "vertex/copy.h"
#include "vertex/kmem.h"
#include "vertex/ncu.h"

struct channel {
    struct message *standard; /* the standard buffer; NULL when it became a message for want of memory */
    struct message *armed;    /* what the NCU has: the standard buffer, a longer one, or NULL */
    struct ncu_cause header;  /* of a message that waits, too long for the standard buffer; kind 0: none */
};

#define SPARE_BYTES 64u /* with the header, a cell of 128 bytes (kmem.c) */
#define SPARES 16u

static struct {
    struct message *first;
    uint32_t count;
} spare;

static struct channel channels[NCU_CHANNELS + 1];
uint32_t msg_unarmed;
static uint32_t sends;   /* under way, */
static uint32_t sends_of[MSG_OF_KERNEL + 1]; /* by owner */
static uint32_t count;   /* messages that exist */

/* ---- Buffers ---- */

static uint32_t payload_pages(uint64_t capacity)
{
    return PAGE_ROUND_UP(capacity) / PAGE_BYTES;
}

/* A message is blank but for its payload, which a spare has already. */
static struct message *make_blank(struct message *m)
{
    m->bytes = 0;
    m->holds = 1;
    m->sequence = 0;
    m->owner = MSG_OF_KERNEL;
    m->via = MSG_VIA_NEAREST;
    count++;
    return m;
}

static struct message *new_header(uint64_t inline_bytes, enum message_place place)
{
    struct message *m = kmem_alloc(MEM_MESSAGE, sizeof *m + inline_bytes);

    if (!m)
        return NULL;
    m->payload = (uint64_t *)(m + 1);
    m->capacity = inline_bytes;
    m->place = place;
    return make_blank(m);
}

/* Short messages come and go: a few cells are kept for them. */
static struct message *new_short(void)
{
    struct message *m = spare.first;

    if (!m)
        return new_header(SPARE_BYTES, MSG_INLINE);
    spare.first = m->next;
    spare.count--;
    return make_blank(m);
}

static bool keep_as_spare(struct message *m)
{
    if (m->place != MSG_INLINE || m->capacity != SPARE_BYTES || spare.count == SPARES)
        return false;
    m->next = spare.first;
    spare.first = m;
    spare.count++;
    return true;
}

static void free_header(struct message *m)
{
    count--;
    if (!keep_as_spare(m))
        kmem_free(MEM_MESSAGE, m, sizeof *m + (m->place == MSG_INLINE ? m->capacity : 0));
}

struct message *msg_new_pages(uint64_t capacity)
{
    struct message *m = new_header(0, MSG_PAGES);

    if (!m)
        return NULL;
    m->capacity = capacity ? capacity : 1;
    m->payload = page_alloc(MEM_MESSAGE, payload_pages(m->capacity));
    if (m->payload)
        return m;
    free_header(m);
    return NULL;
}

struct message *msg_new(uint64_t capacity)
{
    bool small = sizeof(struct message) + capacity <= KMEM_SMALL_MAX;

    if (capacity <= SPARE_BYTES)
        return new_short();
    return small ? new_header(capacity, MSG_INLINE) : msg_new_pages(capacity);
}

struct message *msg_new_landing(void *memory, uint64_t capacity)
{
    struct message *m = new_header(0, MSG_LANDED);

    if (m) {
        m->payload = memory;
        m->capacity = capacity;
    }
    return m;
}

void msg_release(struct message *m)
{
    if (m->holds == 0)
        panic("msg_release: message 0x%lx, tag 0x%x, is free", (uint64_t)m, m->tag);
    if (--m->holds > 0)
        return;
    if (m->place == MSG_PAGES)
        page_free(MEM_MESSAGE, m->payload, payload_pages(m->capacity));
    free_header(m);
}

/* ---- Arming ---- */

static void arm(uint32_t c, struct message *m)
{
    channels[c].armed = m;
    channels[c].header.kind = 0;
    msg_unarmed &= ~(1u << c);
    ncu_arm(c, m->payload, m->capacity);
}

/* Without memory the channel stays, or becomes, unarmed. */
void msg_rearm(uint32_t c)
{
    struct channel *ch = &channels[c];
    struct message *m = ch->standard;

    if (ch->header.kind)
        m = msg_new(ch->header.bytes);
    else if (!m)
        m = ch->standard = msg_new(MSG_ARMED_BYTES);
    if (m)
        arm(c, m);
    else
        msg_unarmed |= 1u << c;
}

void msg_arm_unarmed(void)
{
    for (uint32_t c = 0, left = msg_unarmed; left; c++, left >>= 1)
        if (left & 1)
            msg_rearm(c);
}

void msg_init(void)
{
    uint32_t loop_back = NODE_IS_IO(MAILBOX->node) ? NCU_SI_CHANNELS : NCU_CHANNELS;
    uint32_t connected = MAILBOX->channels | 1u << loop_back;

    for (uint32_t c = 0; c <= loop_back; c++)
        if (connected & 1u << c)
            msg_rearm(c);
}

/* ---- Receiving ---- */

bool msg_header_waits(const struct ncu_cause *cause)
{
    struct channel *ch = &channels[cause->channel];

    if (ch->armed && ch->armed->capacity >= cause->bytes)
        return false; /* armed since the header came */
    ch->header = *cause;
    return true;
}

void msg_land(uint32_t channel, struct message *landing)
{
    arm(channel, landing);
}

const struct ncu_cause *msg_waiting_header(uint32_t channel)
{
    return msg_unarmed & 1u << channel && channels[channel].header.kind ? &channels[channel].header : NULL;
}

/* A copy in a buffer of its size, or NULL: too long to be worth it, or no memory. */
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

struct message *msg_keep(uint32_t channel, struct message *m)
{
    struct channel *ch = &channels[channel];
    struct message *copy = m == ch->standard ? copy_of_small(m) : NULL;

    if (copy)
        return copy;
    if (m == ch->standard)
        ch->standard = NULL;
    return m;
}

void msg_drop(uint32_t channel, struct message *m)
{
    if (m != channels[channel].standard)
        msg_release(m);
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
    return m;
}

/* ---- Sending ---- */

static void start_send(struct message *m, uint64_t node, uint32_t tag)
{
    m->node = (uint32_t)node;
    m->tag = tag;
    m->holds++;
    sends++;
    sends_of[m->owner]++;
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
    sends_of[m->owner]--;
    return m;
}

bool msg_owner_sends(uint32_t owner)
{
    return sends_of[owner] > 0;
}

uint32_t msg_count(void)
{
    uint32_t of_channels = 0;

    for (uint32_t c = 0; c <= NCU_CHANNELS; c++) {
        of_channels += channels[c].standard != NULL;
        of_channels += channels[c].armed && channels[c].armed != channels[c].standard;
    }
    return count - of_channels;
}
