/*
 * routings: how many channel-disjoint routings a compute node has to the I/O nodes of a machine, by the theorem of
 * [P0 section 3]. The node with the most is where parallel file I/O is best done.
 *
 *   routings MACHINE            every compute node and its number, a line each
 *   routings MACHINE NODE       the number of that node
 *
 * Exit status 0; 1 for a bad machine file; 2 for a usage error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/config.h"
#include "emu/topo.h"

static uint32_t *list_io_nodes(const struct topo *topo)
{
    uint32_t *nodes = calloc(topo->n_io + 1, sizeof *nodes);

    if (!nodes) {
        perror("routings");
        exit(1);
    }
    for (uint32_t i = 0; i < topo->n_io; i++)
        nodes[i] = topo->io[i].node;
    return nodes;
}

static void print_all(const struct topo *topo, const uint32_t *io_nodes)
{
    for (uint32_t node = 0; node < 1u << topo->dim; node++)
        printf("%u %u\n", node, topo_disjoint_routings(topo, node, io_nodes, topo->n_io));
}

static int print_one(const struct topo *topo, const uint32_t *io_nodes, const char *text)
{
    char *end;

    errno = 0;
    unsigned long node = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || node >= 1u << topo->dim) {
        fprintf(stderr, "routings: node '%s': give a compute node, 0 to %u\n", text, (1u << topo->dim) - 1);
        return 2;
    }
    printf("%u\n", topo_disjoint_routings(topo, node, io_nodes, topo->n_io));
    return 0;
}

int main(int argc, char **argv)
{
    struct machine_config config;
    char error[512];
    int status = 0;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: routings MACHINE [NODE]\n");
        return 2;
    }
    if (config_load(&config, argv[1], NULL, error, sizeof error) < 0) {
        fprintf(stderr, "routings: %s\n", error);
        return 1;
    }
    uint32_t *io_nodes = list_io_nodes(&config.topo);
    if (argc == 3)
        status = print_one(&config.topo, io_nodes, argv[2]);
    else
        print_all(&config.topo, io_nodes);
    free(io_nodes);
    config_free(&config);
    return status;
}
