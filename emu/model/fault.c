#include "emu/model/fault.h"

#include <stdio.h>

#include "vertex/shared/node_name.h"

/* ---- Channels ---- */

/* Returns true if this directed channel is one of the two at a node's channel `number`. */
static bool is_of_link(const struct topo *t, uint32_t channel, uint32_t node, uint32_t number)
{
    uint32_t start, start_channel, end, end_channel;

    topo_channel_start(t, channel, &start, &start_channel);
    topo_channel_end(t, channel, &end, &end_channel);
    return (start == node && start_channel == number) || (end == node && end_channel == number);
}

/* Lists both directions of a node's link, if it has that channel. Returns their number. */
static uint32_t link_channels(const struct topo *t, uint32_t node, uint32_t number, uint32_t *channel)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < topo_channels(t); c++)
        if (is_of_link(t, c, node, number))
            channel[n++] = c;
    return n;
}

uint32_t fault_channels(const struct topo *t, const struct fault *f, uint32_t channel[FAULT_CHANNELS_MAX])
{
    uint32_t n = 0;

    if (f->kind == FAULT_LINK)
        return link_channels(t, f->node, f->channel, channel);
    for (uint32_t number = 0; number < NCU_CHANNELS; number++)
        if (topo_node_channels(t, f->node) >> number & 1)
            n += link_channels(t, f->node, number, channel + n);
    return n;
}

/* ---- Times ---- */

bool fault_is_active(const struct fault *f, uint64_t now_cycles)
{
    return now_cycles >= f->from_cycles && now_cycles < f->until_cycles;
}

bool fault_node_is_dead(const struct fault *fault, uint32_t n, uint32_t node, uint64_t now_cycles)
{
    for (uint32_t i = 0; i < n; i++)
        if (fault[i].kind == FAULT_NODE && fault[i].node == node && fault_is_active(&fault[i], now_cycles))
            return true;
    return false;
}

bool fault_drive_is_dead(const struct fault *fault, uint32_t n, uint32_t node, uint32_t drive, uint64_t now_cycles)
{
    for (uint32_t i = 0; i < n; i++)
        if (fault[i].kind == FAULT_DRIVE && fault[i].node == node && fault[i].drive == drive &&
            fault_is_active(&fault[i], now_cycles))
            return true;
    return false;
}

/* ---- In words ---- */

static void name_broken(const struct fault *f, const struct topo *t, char *name, size_t bytes)
{
    if (f->kind == FAULT_DRIVE)
        snprintf(name, bytes, "the drive of volume %s", topo_io_node(t, f->node)->drive[f->drive].volume);
    else if (f->kind == FAULT_LINK)
        snprintf(name, bytes, "the link at channel %u of node %u", f->channel, f->node);
    else
        node_name(f->node, name);
}

static double seconds(uint64_t cycles)
{
    return (double)cycles / CLOCK_HZ;
}

void fault_describe(const struct fault *f, const struct topo *t, uint64_t now_cycles, char *text, size_t bytes)
{
    char name[64]; /* at least NODE_NAME_BYTES */

    name_broken(f, t, name, sizeof name);
    if (!fault_is_active(f, now_cycles))
        snprintf(text, bytes, "%s was dead from %.6f s to %.6f s", name, seconds(f->from_cycles),
                 seconds(f->until_cycles));
    else if (f->from_cycles > 0)
        snprintf(text, bytes, "%s has been dead since %.6f s", name, seconds(f->from_cycles));
    else
        snprintf(text, bytes, "%s has been dead since the start", name);
}

/* ---- Parity ---- */

bool fault_is_noise_of(const struct fault *f, const struct topo *t, uint32_t channel)
{
    return f->kind == FAULT_PARITY && (f->node == TOPO_NONE || is_of_link(t, channel, f->node, f->channel));
}

#define ONE (1ull << 32) /* probabilities are fractions of it */

static uint64_t times(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 32);
}

/* Returns the probability that none of so many bytes is damaged: (1 - rate)^bytes, in integers, so that it is the same
 * on every host. */
static uint64_t sound_probability(uint32_t rate, uint64_t bytes)
{
    uint64_t power = ONE - ONE / FAULT_RATE_ONE * rate, result = ONE;

    for (; bytes > 0; bytes >>= 1, power = times(power, power))
        if (bytes & 1)
            result = times(result, power);
    return result;
}

static uint64_t mix(uint64_t z) /* the finalizer of splitmix64 */
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

bool fault_damages(const struct fault *f, uint32_t channel, uint64_t count, uint64_t bytes)
{
    uint64_t drawn = mix(mix(mix(f->seed + 0x9e3779b97f4a7c15u) + channel) + count) >> 32;

    return drawn >= sound_probability(f->rate, bytes);
}
