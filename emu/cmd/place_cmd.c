/*
 * `ncube place MACHINE VOLUME...`: ranks the nodes on which a program can run that uses several volumes at the same
 * time. [P0 section 5] advises a node with many channel-disjoint routings. Among equal ones, a node is better if its
 * busiest channel carries fewer of the paths to the volumes and back, then if it is nearer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/options.h"
#include "emu/base/order.h"
#include "emu/network/node_text.h"
#include "emu/base/json_text.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"
#include "emu/tools/paths.h"

struct volumes {
    uint32_t n;
    uint32_t *io_node; /* of each volume */
};

struct place {
    uint32_t node;
    uint32_t routings; /* channel-disjoint, from the node to the volumes */
    uint32_t busiest;  /* paths through the busiest channel, there or back */
    uint32_t hops;     /* to all volumes together */
};

/* ---- The order ---- */

static struct place judge(const struct topo *t, uint32_t node, const uint32_t *io_node, uint32_t n, struct path *there,
                          struct path *back)
{
    struct place p = {.node = node};

    for (uint32_t i = 0; i < n; i++) {
        path_find(t, node, io_node[i], NCU_VIA_NEAREST, &there[i]); /* there is always a way to an I/O node */
        path_find(t, io_node[i], node, NCU_VIA_NEAREST, &back[i]);
        p.hops += there[i].hops;
    }
    uint32_t out = paths_busiest_channel(there, n), in = paths_busiest_channel(back, n);
    p.routings = paths_disjoint_by_theorem(there, n);
    p.busiest = out > in ? out : in;
    return p;
}

static int better_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int better = order(y->routings, x->routings) ?: order(x->busiest, y->busiest);

    return better ?: order(x->hops, y->hops) ?: order(x->node, y->node);
}

/* All compute nodes, the best first; the caller frees them. io_node: of each of n volumes, n at least 1. */
static struct place *rank_nodes(const struct topo *t, const uint32_t *io_node, uint32_t n)
{
    uint32_t nodes = 1u << t->dim;
    struct place *place = memory_new(nodes, sizeof *place);
    struct path *there = memory_new(n, sizeof *there), *back = memory_new(n, sizeof *back);

    for (uint32_t node = 0; node < nodes; node++)
        place[node] = judge(t, node, io_node, n, there, back);
    qsort(place, nodes, sizeof *place, better_first);
    free(there);
    free(back);
    return place;
}

/* ---- Printing ---- */

static int print_text(const struct place *place, uint32_t n)
{
    puts("node routings busiest hops");
    for (uint32_t i = 0; i < n; i++)
        printf("%4u %8u %7u %4u\n", place[i].node, place[i].routings, place[i].busiest, place[i].hops);
    return 0;
}

static int print_json(const struct place *place, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:i}", "node", (int)place[i].node, "routings",
                                              (int)place[i].routings, "busiest_channel", (int)place[i].busiest, "hops",
                                              (int)place[i].hops));
    return json_print(list);
}

/* ---- Volumes ---- */

static uint32_t find_volume(const struct topo *t, const char *text)
{
    char path[2 + VOLUME_NAME_BYTES];
    const char *name = strncmp(text, "//", 2) == 0 ? text + 2 : text;

    if (strlen(name) >= VOLUME_NAME_BYTES)
        return TOPO_NONE;
    snprintf(path, sizeof path, "//%s", name);
    return node_parse(t, path);
}

static void add(struct volumes *v, uint32_t io_node)
{
    v->io_node = memory_resize(v->io_node, v->n + 1, sizeof *v->io_node);
    v->io_node[v->n++] = io_node;
}

static void add_all(struct volumes *v, const struct topo *t)
{
    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++)
            add(v, t->io[j].node);
}

/* ---- Command line ---- */

struct arguments {
    bool json;
    uint32_t top;
};

static const struct option_line lines[] = {
    {OPTION_MACHINE_WORD},
    {"top", "N", "only the first N", OPTION_INTO(OPTION_NUMBER, struct arguments, top), 1, UINT32_MAX},
    {OPTION_JSON(struct arguments, json)},
    {OPTION_SET},
    {0}};

static const struct options options = {
    .command = "ncube place",
    .usage = "[OPTION...] MACHINE [VOLUME...]",
    .words = UINT32_MAX,
    .summary =
        "Ranks the compute nodes as places for a program that uses the volumes (default: all) at the same time: by\n"
        "channel-disjoint routings to them, then by how many of the paths to them, or back, the busiest channel\n"
        "carries, then by hops to all of them.",
    .line = lines,
};

static void collect(struct volumes *v, const struct topo *t, char **name)
{
    if (!*name)
        add_all(v, t);
    for (; *name; name++) {
        uint32_t io_node = find_volume(t, *name);

        if (io_node == TOPO_NONE)
            options_refuse(&options, "volume '%s' is not in this machine", *name);
        add(v, io_node);
    }
    if (v->n == 0)
        options_refuse(&options, "this machine has no volumes");
}

static int rank_and_print(const struct topo *t, const struct volumes *v, const struct arguments *a)
{
    struct place *place = rank_nodes(t, v->io_node, v->n);
    uint32_t n = 1u << t->dim;

    n = a->top < n ? a->top : n;
    int status = a->json ? print_json(place, n) : print_text(place, n);
    free(place);
    return status;
}

int place_command(int argc, char **argv)
{
    struct arguments a = {.top = UINT32_MAX};
    struct machine_config config;
    struct volumes v = {0};
    char **word = options_parse(&options, &a, argc, argv);

    if (!word[0])
        options_refuse(&options, "give a machine file");
    if (!config_load_for(&options, word[0], &config))
        return 1;
    collect(&v, &config.topo, word + 1);
    int status = rank_and_print(&config.topo, &v, &a);
    free(v.io_node);
    config_free(&config);
    return status;
}
