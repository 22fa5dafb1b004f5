/* The channels that a redistribution uses (map_load.h). */
#include "emu/tools/map_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/network/node_text.h"
#include "emu/network/net.h"
#include "emu/tools/paths.h"

#define DATA_BYTES   8192u /* of a pipe's message, at most (libpio/pipes/pipe_write.c) */
#define HEADER_BYTES 24u   /* of its own, before them */

/* ---- Places ---- */

/* Nodes of the smallest subcube that has `elements`. */
static uint32_t subcube_of(uint32_t elements)
{
    uint32_t nodes = 1;

    while (nodes < elements)
        nodes *= 2;
    return nodes;
}

bool map_load_begin(struct map_load *l, const struct topo *topo, const int32_t elements[2], bool to_drives, char *error,
                    size_t error_bytes)
{
    uint32_t nodes[2] = {subcube_of((uint32_t)elements[0]), to_drives ? 0 : subcube_of((uint32_t)elements[1])};

    *l = (struct map_load){
        .topo = topo, .elements = {(uint32_t)elements[0], (uint32_t)elements[1]}, .to_drives = to_drives};
    l->base[0] = nodes[1] > nodes[0] ? nodes[1] : 0;
    l->base[1] = nodes[1] > nodes[0] ? 0 : nodes[0];
    if (nodes[0] + nodes[1] > 1u << topo->dim) {
        snprintf(error, error_bytes, "%u and %u nodes do not fit into the machine's %u", nodes[0], nodes[1],
                 1u << topo->dim);
        return false;
    }
    if (to_drives && l->elements[1] > topo_drives(topo)) {
        snprintf(error, error_bytes, "the second pattern has %u elements, but the machine has %u drive%s",
                 l->elements[1], topo_drives(topo), plural(topo_drives(topo)));
        return false;
    }
    l->bytes = memory_new(topo_channels(topo), sizeof *l->bytes);
    return true;
}

void map_load_free(struct map_load *l)
{
    free(l->bytes);
}

/* The I/O node of the drive with that number. */
static uint32_t node_of_drive(const struct topo *t, uint32_t drive)
{
    uint32_t j = 0;

    for (; drive >= t->io[j].ndrives; j++)
        drive -= t->io[j].ndrives;
    return t->io[j].node;
}

static uint32_t node_of(const struct map_load *l, int side, uint32_t element)
{
    return side == 1 && l->to_drives ? node_of_drive(l->topo, element) : l->base[side] + element;
}

/* ---- Messages ---- */

bool map_load_add(struct map_load *l, int32_t a, int32_t b, uint64_t bytes, char *error, size_t error_bytes)
{
    uint64_t messages = (bytes + DATA_BYTES - 1) / DATA_BYTES;
    char name[NODE_SHORT_NAME_BYTES];
    struct path path;

    if (!path_find(l->topo, node_of(l, 0, (uint32_t)a), node_of(l, 1, (uint32_t)b), NCU_VIA_NEAREST, &path)) {
        snprintf(error, error_bytes, "no path leads from node %u to %s", l->base[0] + (uint32_t)a,
                 node_short_name(node_of(l, 1, (uint32_t)b), name));
        return false;
    }
    l->all += bytes;
    for (uint32_t i = 0; i < path.hops; i++) {
        uint64_t *channel = &l->bytes[path.channel[i]];

        *channel += bytes + messages * (HEADER_BYTES + topo_times(l->topo).header_bytes);
        if (*channel > l->bytes[l->busiest])
            l->busiest = path.channel[i];
    }
    return true;
}

/* ---- Results ---- */

/* In MB/s, when the busiest channel is never idle. */
static double rate_of(const struct map_load *l)
{
    return l->bytes[l->busiest] == 0
               ? 0
               : (double)l->all / ((double)l->bytes[l->busiest] * topo_times(l->topo).byte_cycles) * CYCLES_PER_US;
}

/* How many of the other channels carry as much as the busiest one. */
static uint32_t count_as_busy(const struct map_load *l)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < topo_channels(l->topo); c++)
        n += l->bytes[c] == l->bytes[l->busiest];
    return n - 1;
}

static void print_side(const struct map_load *l, int side)
{
    if (side == 1 && l->to_drives)
        printf("B on the drives of the machine");
    else
        printf("%c on node%s %u", 'A' + side, plural(l->elements[side]), l->base[side]);
    if (!(side == 1 && l->to_drives) && l->elements[side] > 1)
        printf(" to %u", l->base[side] + l->elements[side] - 1);
}

void map_load_print(const struct map_load *l)
{
    char from[NODE_SHORT_NAME_BYTES], to[NODE_SHORT_NAME_BYTES];
    uint32_t node, end, number;

    print_side(l, 0);
    printf(", ");
    print_side(l, 1);
    if (l->bytes[l->busiest] == 0) {
        puts(": no channel is used");
        return;
    }
    topo_channel_start(l->topo, l->busiest, &node, &number);
    topo_channel_end(l->topo, l->busiest, &end, &number);
    printf("\nbusiest channel: %s -> %s, %" PRIu64 " bytes with headers", node_short_name(node, from),
           node_short_name(end, to), l->bytes[l->busiest]);
    if (count_as_busy(l) > 0)
        printf(", and %u more as busy", count_as_busy(l));
    printf("\nat most %.2f MB/s by the channels\n", rate_of(l));
}

json_t *map_load_json(const struct map_load *l)
{
    char from[NODE_SHORT_NAME_BYTES], to[NODE_SHORT_NAME_BYTES];
    uint32_t node, end, number;

    if (l->bytes[l->busiest] == 0)
        return json_pack("{s:n, s:n}", "busiest_channel", "mb_per_s");
    topo_channel_start(l->topo, l->busiest, &node, &number);
    topo_channel_end(l->topo, l->busiest, &end, &number);
    return json_pack("{s:{s:s, s:s, s:I, s:i}, s:f}", "busiest_channel", "from", node_short_name(node, from), "to",
                     node_short_name(end, to), "bytes", (json_int_t)l->bytes[l->busiest], "as_busy",
                     (int)count_as_busy(l), "mb_per_s", rate_of(l));
}
