/*
 * `ncube place MACHINE VOLUME...`: where to run a program that uses these volumes at the same time. [P0 section 5]
 * advises a node with many channel-disjoint routings; among equals the one whose busiest channel carries the fewest
 * of the paths to the volumes and back is better, then the nearer one.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/tool.h"
#include "emu/model/paths.h"

static const char help[] =
    "Usage: ncube place [OPTION...] MACHINE [VOLUME...]\n"
    "Ranks the compute nodes as places for a program that uses the volumes (default: all) at the same time: by\n"
    "channel-disjoint routings to them, then by how many of the paths to them, or back, the busiest channel carries,\n"
    "then by hops to all of them.\n\n"
    "  --top=N    only the first N\n"
    "  --json     as JSON\n"
    "  --help     print this";

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
        path_find(t, node, v->io_node[i], NCU_VIA_NEAREST, &there[i]); /* an I/O node always has a way */
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
    struct place *place = calloc(nodes, sizeof *place);
    struct path *there = calloc(v->n + 1, sizeof *there), *back = calloc(v->n + 1, sizeof *back);

    if (!place || !there || !back)
        err(1, "%u nodes", nodes);
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
    v->io_node = reallocarray(v->io_node, v->n + 1, sizeof *v->io_node);
    if (!v->io_node)
        err(1, "%u volumes", v->n);
    v->io_node[v->n++] = io_node;
}

static void add_all(struct volumes *v, const struct topo *t)
{
    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++)
            add(v, t->io[j].node);
}

/* 0, or the exit status. */
static int collect(struct volumes *v, const struct topo *t, const char *command, char **name, int n)
{
    if (n == 0)
        add_all(v, t);
    for (int i = 0; i < n; i++) {
        uint32_t io_node = find_volume(t, name[i]);

        if (io_node == TOPO_NONE)
            return tool_usage_error(command, "volume '%s' is not in this machine", name[i]);
        add(v, io_node);
    }
    return v->n > 0 ? 0 : tool_usage_error(command, "this machine has no volumes");
}

/* ---- Command line ---- */

struct arguments {
    bool json, help;
    uint64_t top;
};

static int parse_options(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {
        {"top", 1, NULL, TOOL_TOP}, {"json", 0, NULL, TOOL_JSON}, {"help", 0, NULL, 'h'}, {0}};
    int key;

    opterr = 0;
    *a = (struct arguments){.top = UINT32_MAX};
    while ((key = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (key == TOOL_TOP && !tool_parse_number(optarg, 1, UINT32_MAX, &a->top))
            return tool_usage_error(argv[0], "top '%s': give a number from 1", optarg);
        if (key == '?' || key == ':')
            return tool_option_error(argv, key);
        a->json |= key == TOOL_JSON;
        a->help |= key == 'h';
    }
    return a->help || argc > optind ? 0 : tool_usage_error(argv[0], "give a machine file");
}

static int rank_and_print(const struct topo *t, const struct volumes *v, const struct arguments *a)
{
    struct place *place = rank_nodes(t, v);
    uint32_t n = 1u << t->dim;

    n = a->top < n ? (uint32_t)a->top : n;
    int status = a->json ? print_json(place, n) : print_text(place, n);
    free(place);
    return status;
}

int place_command(int argc, char **argv)
{
    struct arguments a;
    struct machine_config config;
    struct volumes v = {0};
    int status = parse_options(&a, argc, argv);

    if (status != 0)
        return status;
    if (a.help)
        return puts(help) == EOF;
    if (!tool_load(argv[0], argv[optind], &config))
        return 1;
    status = collect(&v, &config.topo, argv[0], argv + optind + 1, argc - optind - 1);
    if (status == 0)
        status = rank_and_print(&config.topo, &v, &a);
    free(v.io_node);
    config_free(&config);
    return status;
}
