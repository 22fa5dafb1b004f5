/*
 * `ncube place MACHINE VOLUME...`: ranks the nodes on which a program can run that uses these volumes at the same time.
 * [P0 section 5] advises a node with many channel-disjoint routings. Among equal ones, a node is better if its busiest
 * channel carries fewer of the paths to the volumes and back, then if it is nearer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/cmd/options.h"
#include "emu/cmd/tool.h"
#include "emu/model/paths.h"

struct place {
    uint32_t node, routings, busiest, hops;
};

struct volumes {
    uint32_t n;
    uint32_t *io_node; /* of each volume */
};

/* ---- Judging ---- */

static struct place judge(const struct topo *t, uint32_t node, const struct volumes *v, struct path *there,
                          struct path *back)
{
    struct place p = {.node = node};

    for (uint32_t i = 0; i < v->n; i++) {
        path_find(t, node, v->io_node[i], NCU_VIA_NEAREST, &there[i]); /* there is always a way to an I/O node */
        path_find(t, v->io_node[i], node, NCU_VIA_NEAREST, &back[i]);
        p.hops += there[i].hops;
    }
    uint32_t out = paths_busiest_channel(there, v->n), in = paths_busiest_channel(back, v->n);
    p.routings = paths_disjoint_by_theorem(there, v->n);
    p.busiest = out > in ? out : in;
    return p;
}

static int better_first(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->routings != y->routings)
        return x->routings < y->routings ? 1 : -1;
    if (x->busiest != y->busiest)
        return x->busiest > y->busiest ? 1 : -1;
    if (x->hops != y->hops)
        return x->hops > y->hops ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}

static struct place *rank_nodes(const struct topo *t, const struct volumes *v)
{
    uint32_t nodes = 1u << t->dim;
    struct place *place = memory_new(nodes, sizeof *place);
    struct path *there = memory_new(v->n, sizeof *there), *back = memory_new(v->n, sizeof *back);

    for (uint32_t node = 0; node < nodes; node++)
        place[node] = judge(t, node, v, there, back);
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
    return tool_print_json(list);
}

/* ---- Volumes ---- */

static uint32_t find_volume(const struct topo *t, const char *text)
{
    char path[2 + VOLUME_NAME_BYTES];
    const char *name = strncmp(text, "//", 2) == 0 ? text + 2 : text;

    if (strlen(name) >= VOLUME_NAME_BYTES)
        return TOPO_NONE;
    snprintf(path, sizeof path, "//%s", name);
    return tool_parse_node(t, path);
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

static bool take_option(void *ctx, int key, const char *value);

static const struct option_line option_top = {KEY_TOP, "top", "N", "only the first N"};

static const struct options options = {
    .command = "ncube place",
    .usage = "[OPTION...] MACHINE [VOLUME...]",
    .summary =
        "Ranks the compute nodes as places for a program that uses the volumes (default: all) at the same time: by\n"
        "channel-disjoint routings to them, then by how many of the paths to them, or back, the busiest channel\n"
        "carries, then by hops to all of them.",
    .line = (const struct option_line *const[]){&option_top, &option_json, &option_set, NULL},
    .take = take_option,
};

static bool take_option(void *ctx, int key, const char *value)
{
    struct arguments *a = ctx;

    if (tool_take_set(&options, key, value))
        return true;
    if (key == KEY_TOP)
        a->top = options_number(&options, "top", value, 1, UINT32_MAX);
    else
        a->json = true;
    return true;
}

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
    struct place *place = rank_nodes(t, v);
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
    if (!tool_load(argv[0], word[0], &config))
        return 1;
    collect(&v, &config.topo, word + 1);
    int status = rank_and_print(&config.topo, &v, &a);
    free(v.io_node);
    config_free(&config);
    return status;
}
