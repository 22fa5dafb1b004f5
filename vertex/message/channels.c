/*
 * The NCU's channels: arming them, and what arrives by them (channels.h).
 */
#include "vertex/message/channels.h"

#include <stddef.h>

#include "vertex/base/addr.h"
#include "vertex/base/attr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/memory/copy.h"
#include "vertex/trap/trap.h"

/* By channel: */
static struct message
    *standard[NCU_CHANNELS + 1];                /* NULL: it was given to a reader and there is no memory for another */
static struct message *armed[NCU_CHANNELS + 1]; /* what the NCU has: the standard buffer, a longer one, or NULL */
static struct ncu_cause header[NCU_CHANNELS + 1]; /* of a message that waits, too long for the former; kind 0: none */
static uint32_t armed_bytes;                      /* of standard buffers, but for the loop-back channel's */
uint32_t channels_unarmed, channels_resting;
static uint32_t needed;        /* calls of channels_want_ends not yet undone */
static bool reaping;           /* the NCU makes the end of a send a cause */
static uint64_t arm_at_cycles; /* when channels are armed; 0: at once */

/* ---- Reaping ---- */

static RARE void update_reaping(void)
{
    bool wanted = channels_lack_memory() || needed;

    if (wanted != reaping)
        ncu_reap(wanted);
    reaping = wanted;
}

void channels_want_ends(void)
{
    needed++;
    update_reaping();
}

void channels_want_ends_no_more(void)
{
    needed--;
    update_reaping();
}

bool channels_ends_are_wanted(void)
{
    return needed > 0;
}

/* ---- Arming ---- */

static RARE void note_armed(uint32_t c)
{
    channels_unarmed &= ~(1u << c);
    channels_resting &= ~(1u << c);
    update_reaping();
}

static void arm(uint32_t c, struct message *m)
{
    armed[c] = m;
    header[c].kind = 0;
    if (channels_unarmed)
        note_armed(c);
    if (arm_at_cycles)
        ncu_arm_later(c, m->payload, m->capacity, arm_at_cycles);
    else
        ncu_arm(c, m->payload, m->capacity);
}

void channels_arm_at(uint64_t cycles)
{
    arm_at_cycles = cycles;
}

RARE void channel_rearm_standard(uint32_t channel)
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
    return c == loop_back() ? MESSAGE_SMALL_BYTES : armed_bytes;
}

/* A header waits that the standard buffer is too small for, or there is no such buffer. */
static bool header_needs_more(uint32_t c)
{
    return header[c].kind && (!standard[c] || header[c].bytes > standard[c]->capacity);
}

/* Leaves the channel unarmed if there is no memory. */
void channel_rearm(uint32_t c)
{
    struct message *m = standard[c];

    if (header_needs_more(c))
        m = message_new(header[c].bytes);
    else if (!m)
        m = standard[c] = message_new(standard_bytes(c));
    if (m)
        arm(c, m);
    else {
        channels_unarmed |= 1u << c;
        trap_attention = true;
        update_reaping();
    }
}

RARE void channels_arm_unarmed(void)
{
    for (uint32_t c = 0, left = channels_unarmed & ~channels_resting; left; c++, left >>= 1)
        if (left & 1)
            channel_rearm(c);
}

void channel_rest(uint32_t channel)
{
    channels_unarmed |= 1u << channel;
    channels_resting |= 1u << channel;
}

RARE void channels_end_rest(void)
{
    channels_resting = 0;
    channels_arm_unarmed();
}

static uint32_t count_channels(void)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < NCU_CHANNELS; c++)
        n += MAILBOX->channels >> c & 1;
    return n;
}

void channels_init(void)
{
    uint32_t connected = MAILBOX->channels | 1u << loop_back();

    armed_bytes = channel_standard_bytes(count_channels());
    for (uint32_t c = 0; c <= loop_back(); c++)
        if (connected & 1u << c)
            channel_rearm(c);
}

/* ---- Receiving ---- */

struct message *channel_in_standard(uint32_t channel)
{
    struct message *m = armed[channel];

    return m == standard[channel] ? m : NULL;
}

bool channel_header_waits(const struct ncu_cause *cause)
{
    const struct message *m = armed[cause->channel];

    if (m && m->capacity >= cause->bytes)
        return false; /* a buffer was armed after the header had arrived */
    header[cause->channel] = *cause;
    return true;
}

void channel_land(uint32_t channel, struct message *landing)
{
    arm(channel, landing);
}

const struct ncu_cause *channel_waiting_header(uint32_t channel)
{
    return channels_unarmed & 1u << channel && header_needs_more(channel) ? &header[channel] : NULL;
}

/* Returns a copy in a buffer of that capacity; NULL: it is longer than MESSAGE_SMALL_BYTES, or there is no memory. */
static struct message *copy_of_small(const struct message *m, uint32_t capacity)
{
    struct message *copy = m->bytes <= MESSAGE_SMALL_BYTES ? message_new(capacity) : NULL;

    if (copy) {
        copy_bytes(copy->payload, m->payload, m->bytes);
        message_note_copy();
        copy->bytes = m->bytes;
        copy->tag = m->tag;
        copy->node = m->node;
        copy->start_cycles = m->start_cycles;
        copy->done_cycles = m->done_cycles;
    }
    return copy;
}

struct message *channel_keep(uint32_t channel, struct message *m, uint32_t capacity)
{
    struct message *copy = m == standard[channel] ? copy_of_small(m, capacity) : NULL;

    if (copy)
        return copy;
    if (m == standard[channel])
        standard[channel] = NULL;
    return m;
}

void channel_drop(uint32_t channel, struct message *m)
{
    if (m != standard[channel])
        message_release(m);
}

struct message *channel_received(const struct ncu_cause *cause)
{
    struct message *m = armed[cause->channel];

    if (!m || addr_to_node(m->payload) != cause->addr || cause->bytes > m->capacity)
        panic("channel_received: channel %u, %lu bytes at 0x%lx", cause->channel, cause->bytes, cause->addr);
    m->bytes = cause->bytes;
    m->tag = cause->tag;
    m->node = cause->node;
    m->start_cycles = cause->start_cycles;
    m->done_cycles = cause->done_cycles;
    armed[cause->channel] = NULL;
    return m;
}

uint32_t channels_other_messages(void)
{
    uint32_t of_channels = 0;

    for (uint32_t c = 0; c <= NCU_CHANNELS; c++) {
        of_channels += standard[c] != NULL;
        of_channels += armed[c] && armed[c] != standard[c];
    }
    return message_count() - of_channels;
}
