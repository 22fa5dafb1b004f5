/*
 * The machine as wired, and the routes between its nodes.
 *
 * A node enters the hypercube through a gate: a compute node through itself, an I/O node through the SI node of one of
 * its channels, the front end through its own SI node. A route is: gate of the sender, e-cube through the hypercube,
 * gate of the receiver.
 */
#include "emu/network/topo.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

struct gate {
    uint32_t node;    /* compute node */
    uint32_t out, in; /* directed channels: from the owner into the cube, and back; TOPO_NONE for a compute node */
    uint32_t channel; /* the owner's channel number */
};

static uint32_t compute_nodes(const struct topo *t)
{
    return 1u << t->dim;
}

static uint32_t io_link_base(const struct topo *t)
{
    return t->dim << t->dim;
}

static uint32_t host_link_base(const struct topo *t)
{
    return io_link_base(t) + 2 * NCU_SI_CHANNELS * t->n_io;
}

/* A channel is bit-serial, 8 data bits and parity at 20 MHz. */
struct channel_times topo_times(const struct topo *t)
{
    static const struct channel_times ncube_2 = {.hop_cycles = 45, .byte_cycles = 9, .header_bytes = 8};

    return t->times.byte_cycles ? t->times : ncube_2;
}

void topo_free(struct topo *t)
{
    for (uint32_t j = 0; j < t->n_io; j++) {
        for (uint32_t d = 0; d < t->io[j].ndrives; d++) {
            free(t->io[j].drive[d].image);
            free(t->io[j].drive[d].model);
        }
    }
    free(t->io);
    for (uint32_t i = 0; i < t->n_striped; i++) {
        free(t->striped[i].over);
        free(t->striped[i].map);
    }
    free(t->striped);
    free(t->cfs.volume);
    *t = (struct topo){0};
}

struct text {
    char *to;
    size_t room, bytes;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *t, const char *format, ...)
{
    bool fits = t->bytes < t->room;
    va_list args;

    va_start(args, format);
    t->bytes += (size_t)vsnprintf(fits ? t->to + t->bytes : NULL, fits ? t->room - t->bytes : 0, format, args);
    va_end(args);
}

/* Adds the line of a family's volumes, n of them, with their places: "WORD NAME ...: NUMBER NODE.DRIVE ...". No path
 * can name a striped volume whose name begins with '/'. */
static void append_family(struct text *out, const struct topo *t, const char *word, const char *const *name, uint32_t n,
                          uint32_t number)
{
    uint32_t drive;

    append(out, "%s", word);
    for (uint32_t k = 0; k < n; k++)
        append(out, " %s", name[k]);
    append(out, ": %u", number);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t node = topo_find_volume(t, name[k], &drive);

        append(out, " %u.%u", node, drive);
    }
    append(out, "\n");
}

static void append_cfs(struct text *out, const struct topo *t)
{
    const char **name = memory_new(t->cfs.disks, sizeof *name);

    for (uint32_t k = 0; k < t->cfs.disks; k++)
        name[k] = t->cfs.volume[k];
    append_family(out, t, "/cfs", name, t->cfs.disks, t->cfs.async);
    free(name);
}

const char **topo_clf_volumes(const struct topo *t)
{
    const char **name = memory_new(TOPO_CLF_VOLUMES + 1, sizeof *name);
    uint32_t n = 0;

    for (uint32_t j = 0; j < t->n_io && t->metadata[0]; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives && t->io[j].concurrent && n < TOPO_CLF_VOLUMES; d++)
            name[n++] = t->io[j].drive[d].volume;
    name[n] = NULL;
    return name;
}

/* The number is the metadata volume's. */
static void append_clf(struct text *out, const struct topo *t)
{
    const char **name = topo_clf_volumes(t);
    uint32_t n = 0, metadata = 0;

    for (; name[n]; n++)
        metadata = strcmp(name[n], t->metadata) == 0 ? n : metadata;
    append_family(out, t, "/clf", name, n, metadata);
    free(name);
}

size_t topo_striped_text(const struct topo *t, char *text, size_t bytes)
{
    struct text out = {text, bytes, 0};

    if (t->cfs.disks > 0)
        append_cfs(&out, t);
    for (uint32_t i = 0; i < t->n_striped; i++) {
        append(&out, "%s", t->striped[i].name);
        for (uint32_t k = 0; k < t->striped[i].disks; k++)
            append(&out, " %s", t->striped[i].over[k]);
        append(&out, ": %s\n", t->striped[i].map);
    }
    if (t->metadata[0])
        append_clf(&out, t);
    return out.bytes;
}

uint32_t topo_sandia_si(uint32_t board, uint32_t i, uint32_t k)
{
    return 64 * k + 4 * i + board;
}

uint32_t topo_channels(const struct topo *t)
{
    return host_link_base(t) + 2;
}

uint32_t topo_find_volume(const struct topo *t, const char *volume, uint32_t *drive)
{
    for (uint32_t j = 0; j < t->n_io; j++)
        for (*drive = 0; *drive < t->io[j].ndrives; (*drive)++)
            if (strcmp(t->io[j].drive[*drive].volume, volume) == 0)
                return t->io[j].node;
    return TOPO_NONE;
}

const struct topo_io_node *topo_io_node(const struct topo *t, uint32_t node)
{
    uint32_t low = 0, high = t->n_io;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (t->io[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->n_io && t->io[low].node == node ? &t->io[low] : NULL;
}

uint32_t topo_drives(const struct topo *t)
{
    uint32_t drives = 0;

    for (uint32_t i = 0; i < t->n_io; i++)
        drives += t->io[i].ndrives;
    return drives;
}

bool topo_has_node(const struct topo *t, uint32_t node)
{
    return node < compute_nodes(t) || node == NODE_HOST || topo_io_node(t, node);
}

static bool is_si_node(const struct topo *t, uint32_t node)
{
    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
            if (t->io[j].si[k] == node)
                return true;
    return node == t->host_si;
}

uint32_t topo_node_channels(const struct topo *t, uint32_t node)
{
    uint32_t channels = 0;
    const struct topo_io_node *io = topo_io_node(t, node);

    if (io) {
        for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
            channels |= (uint32_t)(io->si[k] != TOPO_NONE) << k;
    } else if (node == NODE_HOST) {
        channels = 1;
    } else if (node < compute_nodes(t)) {
        channels = (1u << t->dim) - 1; /* one per dimension */
        channels |= (uint32_t)is_si_node(t, node) << NCU_IO_CHANNEL;
    }
    return channels;
}

/* Lists the gates of a node, in the order of its channels; `via` selects one of an I/O node's. Returns their number. */
static uint32_t find_gates(const struct topo *t, uint32_t node, uint64_t via, struct gate gates[NCU_SI_CHANNELS])
{
    if (node < compute_nodes(t)) {
        gates[0] = (struct gate){.node = node, .out = TOPO_NONE, .in = TOPO_NONE};
        return 1;
    }
    if (node == NODE_HOST) {
        gates[0] = (struct gate){.node = t->host_si, .out = host_link_base(t) + 1, .in = host_link_base(t)};
        return 1;
    }
    const struct topo_io_node *io = topo_io_node(t, node);
    uint32_t n = 0;
    for (uint32_t k = 0; io && k < NCU_SI_CHANNELS; k++) {
        uint32_t link = io_link_base(t) + 2 * (NCU_SI_CHANNELS * (uint32_t)(io - t->io) + k);

        if (io->si[k] != TOPO_NONE && (via == NCU_VIA_NEAREST || via == k))
            gates[n++] = (struct gate){.node = io->si[k], .out = link + 1, .in = link, .channel = k};
    }
    return n;
}

static uint32_t hops_between(uint32_t x, uint32_t y)
{
    return (uint32_t)__builtin_popcount(x ^ y);
}

/* Finds the pair of gates with the fewest hops, the first of equals. Returns false if either node has no gate. */
static bool nearest_gates(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, struct gate *leave,
                          struct gate *enter)
{
    struct gate a[NCU_SI_CHANNELS], b[NCU_SI_CHANNELS];
    bool leaves_by = NODE_IS_IO(from); /* else `via` is the channel by which the message enters */
    uint32_t na = find_gates(t, from, leaves_by ? via : NCU_VIA_NEAREST, a);
    uint32_t nb = find_gates(t, to, leaves_by ? NCU_VIA_NEAREST : via, b);
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < na; i++) {
        for (uint32_t j = 0; j < nb; j++) {
            if (hops_between(a[i].node, b[j].node) >= best)
                continue;
            best = hops_between(a[i].node, b[j].node);
            *leave = a[i];
            *enter = b[j];
        }
    }
    return best != UINT32_MAX;
}

int topo_route(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, uint32_t *route, uint32_t *in_channel)
{
    struct gate leave, enter;

    if (!nearest_gates(t, from, to, via, &leave, &enter))
        return -1;
    if (from == to) {
        *in_channel = TOPO_SELF_CHANNEL;
        return 0;
    }
    int n = 0;
    if (leave.out != TOPO_NONE)
        route[n++] = leave.out;
    uint32_t at = leave.node;
    for (uint32_t d = 0; d < t->dim; d++) {
        if ((at ^ enter.node) >> d & 1) {
            route[n++] = at * t->dim + d;
            at ^= 1u << d;
        }
    }
    if (enter.in != TOPO_NONE)
        route[n++] = enter.in;
    uint32_t end;
    topo_channel_end(t, route[n - 1], &end, in_channel);
    assert(end == to && n <= TOPO_ROUTE_MAX);
    return n;
}

uint32_t topo_exit(const struct topo *t, uint32_t from, uint32_t to, uint64_t via)
{
    struct gate leave, enter;

    return nearest_gates(t, from, to, via, &leave, &enter) ? enter.node : TOPO_NONE;
}

void topo_channel_end(const struct topo *t, uint32_t channel, uint32_t *node, uint32_t *in_channel)
{
    assert(channel < topo_channels(t));
    if (channel < io_link_base(t)) {
        *in_channel = channel % t->dim;
        *node = channel / t->dim ^ 1u << *in_channel;
        return;
    }
    bool host = channel >= host_link_base(t);
    uint32_t link = channel - (host ? host_link_base(t) : io_link_base(t));
    bool into_cube = link & 1;
    const struct topo_io_node *io = host ? NULL : &t->io[link / (2 * NCU_SI_CHANNELS)];
    uint32_t k = host ? 0 : link / 2 % NCU_SI_CHANNELS;
    *in_channel = into_cube ? NCU_IO_CHANNEL : k;
    if (host)
        *node = into_cube ? t->host_si : NODE_HOST;
    else
        *node = into_cube ? io->si[k] : io->node;
}

void topo_channel_start(const struct topo *t, uint32_t channel, uint32_t *node, uint32_t *out_channel)
{
    if (channel < io_link_base(t)) {
        *out_channel = channel % t->dim;
        *node = channel / t->dim;
        return;
    }
    /* The two directions of a link have neighbouring indices, and one starts where the other ends. */
    topo_channel_end(t, io_link_base(t) + ((channel - io_link_base(t)) ^ 1), node, out_channel);
}

int topo_first_dimension(uint32_t x, uint32_t y)
{
    return x == y ? -1 : __builtin_ctz(x ^ y);
}
