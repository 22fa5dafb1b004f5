/*
 * `ncube route MACHINE FROM TO...`: the paths from one node to others, hop by hop, and which of them share a channel.
 * The number of channel-disjoint routings is printed twice: by the theorem of [P0 section 3], which holds for a
 * compute node as source, and by comparing the sets of channels.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/base/options.h"
#include "emu/network/node_text.h"
#include "emu/base/json_text.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"
#include "emu/network/net.h"
#include "emu/tools/paths.h"

struct routes {
    const struct topo *topo;
    uint32_t from, n;
    struct path *path;
    uint64_t bytes; /* on the wire */
};

/* ---- Text ---- */

static void print_path(const struct routes *r, const struct path *p)
{
    char name[NODE_SHORT_NAME_BYTES];
    uint32_t node, in_channel;

    printf("%s", node_short_name(p->from, name));
    for (uint32_t i = 0; i < p->hops; i++) {
        topo_channel_end(r->topo, p->channel[i], &node, &in_channel);
        printf(" -> %s", node_short_name(node, name));
    }
    uint64_t cycles = path_cycles(r->topo, p, r->bytes);
    printf("   %u hop%s", p->hops, plural(p->hops));
    if (NODE_IS_COMPUTE(p->from))
        printf(", P = %d", p->first_dimension);
    printf(", %" PRIu64 " cycle%s, %.2f us\n", cycles, plural(cycles), (double)cycles / CYCLES_PER_US);
}

static void print_shared(const struct routes *r)
{
    char a[NODE_SHORT_NAME_BYTES], b[NODE_SHORT_NAME_BYTES];

    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t j = i + 1; j < r->n; j++)
            if (path_shares_channel(&r->path[i], &r->path[j]))
                printf("share a channel: the paths to %s and %s\n", node_short_name(r->path[i].to, a),
                       node_short_name(r->path[j].to, b));
}

static int print_text(const struct routes *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        print_path(r, &r->path[i]);
    print_shared(r);
    printf("channel-disjoint routings: %u by the channels", paths_disjoint(r->path, r->n));
    if (NODE_IS_COMPUTE(r->from))
        printf(", %u by the theorem", paths_disjoint_by_theorem(r->path, r->n));
    printf("; paths on the busiest channel: %u\n", paths_busiest_channel(r->path, r->n));
    return 0;
}

/* ---- JSON ---- */

static json_t *json_of_path(const struct routes *r, const struct path *p)
{
    char name[NODE_SHORT_NAME_BYTES];
    json_t *nodes = json_array(), *channels = json_array();

    json_array_append_new(nodes, json_string(node_short_name(p->from, name)));
    for (uint32_t i = 0; i < p->hops; i++) {
        uint32_t node, in_channel;

        topo_channel_end(r->topo, p->channel[i], &node, &in_channel);
        json_array_append_new(nodes, json_string(node_short_name(node, name)));
        json_array_append_new(channels, json_integer(p->channel[i]));
    }
    json_t *P = NODE_IS_COMPUTE(p->from) ? json_integer(p->first_dimension) : json_null();
    return json_pack("{s:s, s:i, s:o, s:I, s:o, s:o}", "to", node_short_name(p->to, name), "hops", (int)p->hops, "P", P,
                     "cycles", (json_int_t)path_cycles(r->topo, p, r->bytes), "nodes", nodes, "channels", channels);
}

static json_t *json_of_shared(const struct routes *r)
{
    json_t *pairs = json_array();

    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t j = i + 1; j < r->n; j++)
            if (path_shares_channel(&r->path[i], &r->path[j]))
                json_array_append_new(pairs, json_pack("[i, i]", (int)i, (int)j));
    return pairs;
}

static int print_json(const struct routes *r)
{
    char name[NODE_SHORT_NAME_BYTES];
    json_t *paths = json_array();

    for (uint32_t i = 0; i < r->n; i++)
        json_array_append_new(paths, json_of_path(r, &r->path[i]));
    json_t *theorem = NODE_IS_COMPUTE(r->from) ? json_integer(paths_disjoint_by_theorem(r->path, r->n)) : json_null();
    return json_print(json_pack("{s:s, s:I, s:o, s:o, s:i, s:o, s:i}", "from", node_short_name(r->from, name), "bytes",
                                (json_int_t)r->bytes, "paths", paths, "share_a_channel", json_of_shared(r),
                                "disjoint_by_channels", (int)paths_disjoint(r->path, r->n), "disjoint_by_theorem",
                                theorem, "busiest_channel", (int)paths_busiest_channel(r->path, r->n)));
}

/* ---- Command line ---- */

struct arguments {
    bool json;
    uint32_t bytes, via;
};

#define TO(kind, member) OPTION_INTO(kind, struct arguments, member)

static const struct option_line lines[] = {
    {OPTION_MACHINE_WORD},
    {"bytes", "N", "length of the message without its 8-byte header (default 8192)", TO(OPTION_NUMBER, bytes), 0,
     UINT32_MAX},
    {"via", "K", "use channel K, 0-7, of the I/O node FROM, or else of the I/O node TO", TO(OPTION_NUMBER, via), 0,
     NCU_SI_CHANNELS - 1},
    {OPTION_JSON(struct arguments, json)},
    {OPTION_SET},
    {0}};

static const struct options options = {
    .command = "ncube route",
    .usage = "[OPTION...] MACHINE FROM TO...",
    .words = UINT32_MAX,
    .summary =
        "Prints the path from node FROM to each TO, hop by hop, its P, its time, and which paths share a channel.\n"
        "A node is the number of a compute node, b.i for I/O node i of board b, //volume for its I/O node, or host.",
    .line = lines,
};

static bool has_io_node(const struct routes *r)
{
    bool has = NODE_IS_IO(r->from);

    for (uint32_t i = 0; i < r->n; i++)
        has |= NODE_IS_IO(r->path[i].to);
    return has;
}

static uint32_t parse_node(const struct topo *t, const char *text)
{
    uint32_t node = node_parse(t, text);

    if (node == TOPO_NONE)
        options_refuse(&options, "node '%s' is not in this machine", text);
    return node;
}

/* Finds the paths from the node text[0] to those of the words after it. */
static void find_paths(struct routes *r, char **text, uint32_t via)
{
    r->from = parse_node(r->topo, text[0]);
    for (uint32_t i = 0; i < r->n; i++)
        if (!path_find(r->topo, r->from, parse_node(r->topo, text[i + 1]), via, &r->path[i]))
            options_refuse(&options, "no way leads from %s to %s%s", text[0], text[i + 1],
                           via == NCU_VIA_NEAREST ? "" : " by that channel");
    if (via != NCU_VIA_NEAREST && !has_io_node(r))
        options_refuse(&options, "via is a channel of an I/O node, and none is named here");
}

int route_command(int argc, char **argv)
{
    struct arguments a = {.bytes = 8192, .via = NCU_VIA_NEAREST};
    struct machine_config config;
    char **word = options_parse(&options, &a, argc, argv);
    uint32_t words = 0;

    while (word[words])
        words++;
    if (words < 3)
        options_refuse(&options, "give a machine file and two nodes or more");
    if (!config_load_for(&options, word[0], &config))
        return 1;
    struct routes r = {.topo = &config.topo, .n = words - 2, .bytes = a.bytes + topo_times(&config.topo).header_bytes};
    r.path = memory_new(r.n, sizeof *r.path);
    find_paths(&r, word + 1, a.via);
    int status = a.json ? print_json(&r) : print_text(&r);
    free(r.path);
    config_free(&config);
    return status;
}
