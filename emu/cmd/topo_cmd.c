/*
 * `ncube topo MACHINE`: how the machine is wired, as a table for each board in the form of [P0 Table 1], as a graph for
 * graphviz, or as JSON.
 */
#include <stdio.h>

#include "emu/base/plural.h"
#include "emu/base/options.h"
#include "emu/network/node_text.h"
#include "emu/base/json_text.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"

/* ---- Text ---- */

/* Returns the end of a board: I/O nodes first .. end - 1 are on the same one. */
static uint32_t end_of_board(const struct topo *t, uint32_t first)
{
    uint32_t end = first;

    while (end < t->n_io && NODE_BOARD_OF(t->io[end].node) == NODE_BOARD_OF(t->io[first].node))
        end++;
    return end;
}

static void print_si_row(const struct topo *t, uint32_t first, uint32_t end, uint32_t k)
{
    printf("channel %u", k);
    for (uint32_t j = first; j < end; j++) {
        if (t->io[j].si[k] == TOPO_NONE)
            printf(" %6s", "-");
        else
            printf(" %6u", t->io[j].si[k]);
    }
    putchar('\n');
}

static bool channel_is_used(const struct topo *t, uint32_t first, uint32_t end, uint32_t k)
{
    for (uint32_t j = first; j < end; j++)
        if (t->io[j].si[k] != TOPO_NONE)
            return true;
    return false;
}

static void print_board(const struct topo *t, uint32_t first, uint32_t end)
{
    char name[NODE_SHORT_NAME_BYTES];

    printf("\nboard %u: SI nodes\n%-9s", NODE_BOARD_OF(t->io[first].node), "I/O node");
    for (uint32_t j = first; j < end; j++)
        printf(" %6s", node_short_name(t->io[j].node, name));
    putchar('\n');
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        if (channel_is_used(t, first, end, k))
            print_si_row(t, first, end, k);
}

static void print_volumes(const struct topo *t)
{
    char name[NODE_SHORT_NAME_BYTES];

    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++) {
            const struct topo_drive *drive = &t->io[j].drive[d];

            printf("%s%-15s  I/O node %s, drive %u, %s, %s\n", j + d == 0 ? "\nvolumes\n" : "", drive->volume,
                   node_short_name(t->io[j].node, name), d, drive->model, drive->image);
        }
}

static int print_text(const struct topo *t)
{
    printf("%u-cube: %u compute node%s of %u MB, %u I/O node%s; the front end at node %u\n", t->dim, 1u << t->dim,
           plural(1u << t->dim), (unsigned)(t->ram_bytes >> 20), t->n_io, plural(t->n_io), t->host_si);
    for (uint32_t first = 0, end; first < t->n_io; first = end) {
        end = end_of_board(t, first);
        print_board(t, first, end);
    }
    print_volumes(t);
    for (uint32_t k = 0; k < t->cfs.disks; k++)
        printf("%s %s", k == 0 ? "\nConcurrent File System:" : "", t->cfs.volume[k]);
    if (t->cfs.disks > 0)
        printf("; %u request%s of a node under way\n", t->cfs.async, plural(t->cfs.async));
    if (t->metadata[0])
        printf("\nClusterfile: names on %s\n", t->metadata);
    return 0;
}

/* ---- Graph ---- */

static int print_dot(const struct topo *t)
{
    char name[NODE_SHORT_NAME_BYTES];

    puts("graph ncube {\n  node [shape=circle];");
    for (uint32_t node = 0; node < 1u << t->dim; node++)
        for (uint32_t d = 0; d < t->dim; d++)
            if (!(node >> d & 1))
                printf("  \"%u\" -- \"%u\" [label=\"%u\"];\n", node, node | 1u << d, d);
    if (t->dim == 0)
        puts("  \"0\";");
    for (uint32_t j = 0; j < t->n_io; j++) {
        printf("  \"%s\" [shape=box];\n", node_short_name(t->io[j].node, name));
        for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
            if (t->io[j].si[k] != TOPO_NONE)
                printf("  \"%s\" -- \"%u\" [label=\"%u\"];\n", name, t->io[j].si[k], k);
        for (uint32_t d = 0; d < t->io[j].ndrives; d++)
            printf("  \"//%s\" [shape=cylinder];\n  \"%s\" -- \"//%s\";\n", t->io[j].drive[d].volume, name,
                   t->io[j].drive[d].volume);
    }
    printf("  \"host\" [shape=box];\n  \"host\" -- \"%u\";\n}\n", t->host_si);
    return 0;
}

/* ---- JSON ---- */

static json_t *json_of_drive(const struct topo_drive *drive)
{
    const struct drive_cache *c = &drive->cache;

    json_t *cache = c->kb == 0
                        ? json_null()
                        : json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "kb", (int)c->kb, "block_bytes",
                                    (int)c->block_bytes, "group_blocks", (int)c->group_blocks, "ahead_groups",
                                    (int)c->ahead_groups, "write", (int)c->write, "evict", (int)c->evict, "commands",
                                    (int)c->commands, "fill", (int)c->fill, "misses", (int)c->misses);

    return json_pack("{s:s, s:s, s:i, s:o, s:o}", "volume", drive->volume, "model", drive->model, "rpm",
                     (int)drive->rpm, "cache", cache, "image", json_text(drive->image));
}

static json_t *json_of_io_node(const struct topo_io_node *io)
{
    json_t *si = json_array(), *drives = json_array();

    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        json_array_append_new(si, io->si[k] == TOPO_NONE ? json_null() : json_integer(io->si[k]));
    for (uint32_t d = 0; d < io->ndrives; d++)
        json_array_append_new(drives, json_of_drive(&io->drive[d]));
    return json_pack("{s:i, s:i, s:i, s:s, s:o, s:o}", "address", (int)io->node, "board", (int)NODE_BOARD_OF(io->node),
                     "index", (int)NODE_INDEX_OF(io->node), "service", io->concurrent ? "concurrent" : "in-order", "si",
                     si, "drives", drives);
}

static int print_json(const struct topo *t)
{
    json_t *io = json_array();

    for (uint32_t j = 0; j < t->n_io; j++)
        json_array_append_new(io, json_of_io_node(&t->io[j]));
    json_t *cfs = json_array();
    for (uint32_t k = 0; k < t->cfs.disks; k++)
        json_array_append_new(cfs, json_string(t->cfs.volume[k]));
    return json_print(json_pack("{s:i, s:i, s:i, s:i, s:o, s:o, s:s*}", "dim", (int)t->dim, "compute_nodes",
                                1 << t->dim, "ram_mb", (int)(t->ram_bytes >> 20), "front_end_si", (int)t->host_si,
                                "io_nodes", io, "cfs", cfs, "metadata", t->metadata[0] ? t->metadata : NULL));
}

/* ---- Command line ---- */

struct arguments {
    bool dot, json;
};

static const struct options options = {
    .command = "ncube topo",
    .usage = "[OPTION...] MACHINE",
    .words = 1,
    .summary =
        "Prints the machine that the file MACHINE describes: the cube, its boards and volumes, and for each board\n"
        "the SI node that each channel of each I/O node reaches.",
    .line = (const struct option_line[]){{OPTION_MACHINE_WORD},
                                         {"dot", NULL, "print a graph for Graphviz",
                                          OPTION_INTO(OPTION_FLAG, struct arguments, dot)},
                                         {OPTION_JSON(struct arguments, json)},
                                         {OPTION_SET},
                                         {0}},
};

int topo_command(int argc, char **argv)
{
    struct arguments a = {0};
    char **word = options_parse(&options, &a, argc, argv);

    if (!word[0])
        options_refuse(&options, "give one machine file");
    struct machine_config config;
    if (!config_load_for(&options, word[0], &config))
        return 1;
    int status = (a.json ? print_json : a.dot ? print_dot : print_text)(&config.topo);
    config_free(&config);
    return status;
}
