/*
 * Messages between this node and the NCU's channels: buffers, arming, sending, receiving (msg.h).
 */
#include "vertex/message/msg.h"

#include <stddef.h>

#include "vertex/base/addr.h"
#include "vertex/base/attr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/trap/trap.h"

#define SPARES MSG_REAP_SHORT /* so many are given back at once */

struct msg_spares msg_spares;
/* By channel: */
static struct message
    *standard[NCU_CHANNELS + 1];                /* NULL: it was given to a reader and there is no memory for another */
static struct message *armed[NCU_CHANNELS + 1]; /* what the NCU has: the standard buffer, a longer one, or NULL */
static struct ncu_cause header[NCU_CHANNELS + 1]; /* of a message that waits, too long for the former; kind 0: none */
static uint32_t armed_bytes;                      /* of standard buffers, but for the loop-back channel's */
uint32_t msg_unarmed, msg_resting;
static uint32_t needed; /* calls of msg_need_sends not yet undone */
static bool reaping;    /* the NCU makes the end of a send a cause */
uint32_t msg_sends[MSG_OF_KERNEL + 1];
static uint32_t count;           /* messages that exist, spares too */
static struct message *reserved; /* held once by this module */
static uint64_t arm_at_cycles;   /* when channels are armed; 0: at once */

/* ---- Buffers ---- */

static uint32_t payload_pages(uint64_t capacity)
{
    return PAGE_ROUND_UP(capacity) / PAGE_BYTES;
}

static struct message *new_header(uint64_t inline_bytes, enum message_place place)
{
    struct message *m = kmem_alloc(MEM_MESSAGE, sizeof *m + inline_bytes);

    if (!m)
        return NULL;
    m->payload = (uint64_t *)(m + 1);
    m->capacity = inline_bytes;
    m->place = place;
    count++;
    return msg_make_blank(m);
}

static bool keep_as_spare(struct message *m)
{
    if (m->place != MSG_INLINE || m->capacity != MSG_SPARE_BYTES || msg_spares.count == SPARES)
        return false;
    m->next = msg_spares.first;
    msg_spares.first = m;
    msg_spares.count++;
    return true;
}

static void free_header(struct message *m)
{
    if (keep_as_spare(m))
        return;
    count--;
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

RARE struct message *msg_new_sized(uint64_t capacity)
{
    bool small = sizeof(struct message) + capacity <= KMEM_SMALL_MAX;

    if (capacity <= MSG_SPARE_BYTES)
        return new_header(MSG_SPARE_BYTES, MSG_INLINE);
    return small ? new_header(capacity, MSG_INLINE) : msg_new_pages(capacity);
}

RARE void msg_fill_spares(void)
{
    struct message *m;

    while (msg_spares.count < SPARES && (m = new_header(MSG_SPARE_BYTES, MSG_INLINE)))
        keep_as_spare(m);
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

void msg_free(struct message *m)
{
    if (m->holds == 0)
        panic("msg_free: message 0x%lx, tag 0x%x, is free", (uint64_t)m, m->tag);
    m->holds = 0;
    if (m->place == MSG_PAGES)
        page_free(MEM_MESSAGE, m->payload, payload_pages(m->capacity));
    free_header(m);
}

void msg_release_all(struct msg_queue *q)
{
    struct message *m;

    while ((m = queue_take_first(q)))
        msg_release(m);
}

/* ---- The reserved message ---- */

bool msg_reserve(uint64_t capacity)
{
    reserved = msg_new_pages(capacity);
    return reserved;
}

void msg_unreserve(void)
{
    if (reserved)
        msg_release(reserved);
    reserved = NULL;
}

struct message *msg_use_reserved(uint64_t capacity)
{
    if (!reserved || reserved->holds > 1 || capacity > reserved->capacity)
        return NULL;
    msg_make_blank(reserved)->holds++;
    return reserved;
}

/* ---- Reaping ---- */

static RARE void update_reaping(void)
{
    bool wanted = msg_lacks_memory() || needed;

    if (wanted != reaping)
        ncu_reap(wanted);
    reaping = wanted;
}

void msg_need_sends(void)
{
    needed++;
    update_reaping();
}

void msg_need_sends_no_more(void)
{
    needed--;
    update_reaping();
}

bool msg_sends_are_needed(void)
{
    return needed > 0;
}

/* ---- Arming ---- */

static RARE void note_armed(uint32_t c)
{
    msg_unarmed &= ~(1u << c);
    msg_resting &= ~(1u << c);
    update_reaping();
}

static void arm(uint32_t c, struct message *m)
{
    armed[c] = m;
    header[c].kind = 0;
    if (msg_unarmed)
        note_armed(c);
    if (arm_at_cycles)
        ncu_arm_later(c, m->payload, m->capacity, arm_at_cycles);
    else
        ncu_arm(c, m->payload, m->capacity);
}

void msg_arm_at(uint64_t cycles)
{
    arm_at_cycles = cycles;
}

RARE void msg_rearm_standard(uint32_t channel)
{
    arm(channel, standard[channel]);
}

static uint32_t loop_back(void)
{
    return NODE_IS_IO(MAILBOX->node) ? NCU_SI_CHANNELS : NCU_CHANNELS;
}

/* Messages of a node to itself block no channel of the network, so longer ones may wait for a buffer of their size. */
static uint32_t standard_bytes(uint32_t c)
{
    return c == loop_back() ? MSG_SMALL_BYTES : armed_bytes;
}

/* A header waits that the standard buffer is too small for, or there is no such buffer. */
static bool header_needs_more(uint32_t c)
{
    return header[c].kind && (!standard[c] || header[c].bytes > standard[c]->capacity);
}

/* Leaves the channel unarmed if there is no memory. */
void msg_rearm(uint32_t c)
{
    struct message *m = standard[c];

    if (header_needs_more(c))
        m = msg_new(header[c].bytes);
    else if (!m)
        m = standard[c] = msg_new(standard_bytes(c));
    if (m)
        arm(c, m);
    else {
        msg_unarmed |= 1u << c;
        trap_attention = true;
        update_reaping();
    }
}

RARE void msg_arm_unarmed(void)
{
    for (uint32_t c = 0, left = msg_unarmed & ~msg_resting; left; c++, left >>= 1)
        if (left & 1)
            msg_rearm(c);
}

void msg_rest(uint32_t channel)
{
    msg_unarmed |= 1u << channel;
    msg_resting |= 1u << channel;
}

RARE void msg_end_rest(void)
{
    msg_resting = 0;
    msg_arm_unarmed();
}

static uint32_t count_channels(void)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < NCU_CHANNELS; c++)
        n += MAILBOX->channels >> c & 1;
    return n;
}

void msg_init(void)
{
    uint32_t connected = MAILBOX->channels | 1u << loop_back();

    armed_bytes = msg_standard_bytes(count_channels());
    for (uint32_t c = 0; c <= loop_back(); c++)
        if (connected & 1u << c)
            msg_rearm(c);
}

/* ---- Receiving ---- */

struct message *msg_in_standard(uint32_t channel)
{
    struct message *m = armed[channel];

    return m == standard[channel] ? m : NULL;
}

bool msg_header_waits(const struct ncu_cause *cause)
{
    const struct message *m = armed[cause->channel];

    if (m && m->capacity >= cause->bytes)
        return false; /* a buffer was armed after the header had arrived */
    header[cause->channel] = *cause;
    return true;
}

void msg_land(uint32_t channel, struct message *landing)
{
    arm(channel, landing);
}

const struct ncu_cause *msg_waiting_header(uint32_t channel)
{
    return msg_unarmed & 1u << channel && header_needs_more(channel) ? &header[channel] : NULL;
}

/* Returns a copy in a buffer of that capacity; NULL: it is longer than MSG_SMALL_BYTES, or there is no memory. */
static struct message *copy_of_small(const struct message *m, uint32_t capacity)
{
    struct message *copy = m->bytes <= MSG_SMALL_BYTES ? msg_new(capacity) : NULL;

    if (copy) {
        copy_bytes(copy->payload, m->payload, m->bytes);
        msg_note_copy();
        copy->bytes = m->bytes;
        copy->tag = m->tag;
        copy->node = m->node;
        copy->start_cycles = m->start_cycles;
        copy->done_cycles = m->done_cycles;
    }
    return copy;
}

struct message *msg_keep(uint32_t channel, struct message *m, uint32_t capacity)
{
    struct message *copy = m == standard[channel] ? copy_of_small(m, capacity) : NULL;

    if (copy)
        return copy;
    if (m == standard[channel])
        standard[channel] = NULL;
    return m;
}

void msg_drop(uint32_t channel, struct message *m)
{
    if (m != standard[channel])
        msg_release(m);
}

struct message *msg_received(const struct ncu_cause *cause)
{
    struct message *m = armed[cause->channel];

    if (!m || addr_to_node(m->payload) != cause->addr || cause->bytes > m->capacity)
        panic("msg_received: channel %u, %lu bytes at 0x%lx", cause->channel, cause->bytes, cause->addr);
    m->bytes = cause->bytes;
    m->tag = cause->tag;
    m->node = cause->node;
    m->start_cycles = cause->start_cycles;
    m->done_cycles = cause->done_cycles;
    armed[cause->channel] = NULL;
    return m;
}

/* ---- Sending ---- */

void msg_send(struct message *m, uint32_t node, uint32_t tag)
{
    m->holds++;
    msg_post(m, node, tag);
}

void msg_send_others(struct message *m, uint32_t base, uint32_t dim, uint32_t nodes, uint32_t tag)
{
    if (MAILBOX->broadcasts && nodes == 1u << dim) {
        m->holds++;
        msg_post(m, base | NCU_SEND_SUBCUBE(dim), tag);
        return;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (base + i != MAILBOX->node)
            msg_send(m, base + i, tag);
}

bool msg_sends_under_way(void)
{
    uint32_t n = 0;

    for (uint32_t owner = 0; owner <= MSG_OF_KERNEL; owner++)
        n += msg_sends[owner];
    return n > 0;
}

struct message *msg_sent(const struct ncu_cause *cause)
{
    struct message *m = (struct message *)cause->cookie;

    if (m->holds == 0 || msg_sends[m->owner]-- == 0)
        panic("msg_sent: cookie 0x%lx", cause->cookie);
    return m;
}

uint32_t msg_count(void)
{
    uint32_t of_channels = 0;

    for (uint32_t c = 0; c <= NCU_CHANNELS; c++) {
        of_channels += standard[c] != NULL;
        of_channels += armed[c] && armed[c] != standard[c];
    }
    return count - msg_spares.count - of_channels - (reserved != NULL);
}
