/* What the paper concludes about uses [P0 section 5]: random access, and which nodes should do a program's I/O. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/study/experiments.h"

#define BLOCK_BYTES 16384u
#define BUFFERS     2u

/* ---- Random access ---- */

static const uint32_t request_bytes[] = {16384, 65536, 131072, 524288};
#define REQUESTS (sizeof request_bytes / sizeof *request_bytes)

static struct transfer of_requests(const struct experiment *x, uint32_t bytes, bool plain, bool random)
{
    return (struct transfer){.machine = &x->machine,
                             .node = &x->place[0].node,
                             .nodes = 1,
                             .disks = plain ? 1 : x->volumes,
                             .block_bytes = plain ? 0 : BLOCK_BYTES,
                             .buffers = plain ? 0 : BUFFERS,
                             .request_bytes = bytes,
                             .plain = plain,
                             .random = random};
}

static double rate(struct experiment *x, uint32_t bytes, bool plain, bool random, int side)
{
    struct transfer t = of_requests(x, bytes, plain, random);

    return experiment_side(experiment_transfer(x, &t), side)->mb_s;
}

static void draw_random(struct experiment *x)
{
    static const char *const titles[] = {"WRITE in order", "WRITE at random", "READ in order", "READ at random"};
    struct plot plot = {.name = "random",
                        .x_axis = "KB of a call",
                        .y_axis = "MB/s",
                        .logarithmic = true,
                        .curves = sizeof titles / sizeof *titles};

    for (size_t c = 0; c < plot.curves; c++) {
        plot.curve[c].title = titles[c];
        for (size_t i = 0; i < REQUESTS; i++)
            plot_point(&plot.curve[c], request_bytes[i] / 1024.0,
                       rate(x, request_bytes[i], false, c % 2 == 1, (int)(c / 2)));
    }
    page_plot(x->page, &plot, "PIO by calls of several sizes, in the file's order and in a random one.");
}

static void write_random(struct experiment *x)
{
    char name[EXPERIMENT_NAME_BYTES];

    if (x->volumes < 2) {
        page_paragraph(x->page, "Left out: %s has %s, and blocks are striped over two at least.", x->machine.name,
                       x->volumes == 0 ? "no volumes" : "one volume");
        return;
    }
    page_paragraph(
        x->page,
        "The whole file by calls of one size, from node %u: in its order, and with PIO SEEK before each call "
        "in a random order, always the same one. A call of one block uses one volume, and gains nothing "
        "from the others; a call of D blocks uses all of them.",
        x->place[0].node);
    draw_random(x);
    page_table(x->page, "call|PIO in order, MB/s|PIO at random|of that|plain in order|plain at random|of that|"
                        "speed-up at random");
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (size_t i = 0; i < REQUESTS; i++) {
            double pio[2], plain[2];

            for (int random = 0; random < 2; random++) {
                pio[random] = rate(x, request_bytes[i], false, random == 1, side);
                plain[random] = rate(x, request_bytes[i], true, random == 1, side);
            }
            page_cell(x->page, "%s, %s", experiment_side_names[side], experiment_bytes_name(request_bytes[i], name));
            page_number(x->page, 3, pio[0]);
            page_number(x->page, 3, pio[1]);
            page_cell(x->page, "%.0f %%", 100 * pio[1] / pio[0]);
            page_number(x->page, 3, plain[0]);
            page_number(x->page, 3, plain[1]);
            page_cell(x->page, "%.0f %%", 100 * plain[1] / plain[0]);
            page_number(x->page, 2, pio[1] / plain[1]);
        }
    page_end_table(x->page);
}

const struct experiment_section section_random = {"random", "Random access", write_random};

/* ---- Several nodes at once ---- */

static const uint32_t node_counts[] = {1, 2, 4, 8, 16};
#define COUNTS    (sizeof node_counts / sizeof *node_counts)
#define NODES_MAX 16u

static const char *const ends[] = {"first", "last"};

/* The first or last nodes of the ranking; `node` has room for NODES_MAX. */
static struct transfer from_nodes(const struct experiment *x, size_t end, uint32_t n, uint32_t *node)
{
    uint32_t all = 1u << x->machine.config.topo.dim;

    for (uint32_t i = 0; i < n; i++)
        node[i] = x->place[end == 0 ? i : all - 1 - i].node;
    return (struct transfer){.machine = &x->machine,
                             .node = node,
                             .nodes = n,
                             .disks = x->volumes,
                             .block_bytes = BLOCK_BYTES,
                             .buffers = BUFFERS};
}

static size_t usable_counts(const struct experiment *x)
{
    size_t n = 0;

    while (n < COUNTS && node_counts[n] <= 1u << x->machine.config.topo.dim)
        n++;
    return n;
}

static double rate_of_nodes(struct experiment *x, size_t end, uint32_t n, int side)
{
    uint32_t node[NODES_MAX];
    struct transfer t = from_nodes(x, end, n, node);

    return experiment_side(experiment_transfer(x, &t), side)->mb_s;
}

static void draw_nodes(struct experiment *x)
{
    static const char *const titles[] = {"WRITE, first", "READ, first", "WRITE, last", "READ, last"};
    struct plot plot = {.name = "nodes",
                        .x_axis = "nodes at once",
                        .y_axis = "MB/s of all together",
                        .logarithmic = true,
                        .curves = sizeof titles / sizeof *titles};

    for (size_t c = 0; c < plot.curves; c++) {
        plot.curve[c].title = titles[c];
        for (size_t i = 0; i < usable_counts(x); i++)
            plot_point(&plot.curve[c], node_counts[i], rate_of_nodes(x, c / 2, node_counts[i], (int)(c % 2)));
    }
    page_plot(x->page, &plot, "Rate of several nodes at once, on the nodes that ncube place ranks first, and last.");
}

static void write_row_of_nodes(struct experiment *x, size_t end, uint32_t n)
{
    uint32_t node[NODES_MAX];
    struct transfer t = from_nodes(x, end, n, node);
    const struct study_measure *m = experiment_transfer(x, &t);

    page_cell(x->page, "%s %u", ends[end], n);
    for (int side = 0; side < EXPERIMENT_SIDES; side++) {
        const struct study_side *s = experiment_side(m, side);

        page_number(x->page, 3, s->mb_s);
        page_number(x->page, 3, s->mb_s / n);
        page_cell(x->page, "%.0f %%", 100 * s->use.drive);
        page_cell(x->page, "%.0f %%", 100 * s->use.channel);
        page_cell(x->page, "%.0f %%", 100 * s->use.processor);
    }
}

static void write_nodes(struct experiment *x)
{
    if (x->volumes < 2) {
        page_paragraph(x->page, "Left out: %s has %s, and blocks are striped over two at least.", x->machine.name,
                       x->volumes == 0 ? "no volumes" : "one volume");
        return;
    }
    page_paragraph(
        x->page, "Nodes transfer at the same time, each a file of its own, with B = 16 KB and C = 2: on the nodes "
                 "that ncube place ranks first for these volumes, and on those that it ranks last. The rate is of all "
                 "together, from the first one's begin to the last one's end; what is busy is the busiest drive, "
                 "channel and compute node.");
    if (usable_counts(x) < COUNTS)
        page_paragraph(x->page, "Left out: more than %u nodes, since %s has no more.", 1u << x->machine.config.topo.dim,
                       x->machine.name);
    draw_nodes(x);
    page_table(x->page, "nodes|WRITE, MB/s|each|drive|channel|processor|READ, MB/s|each|drive|channel|processor");
    for (size_t end = 0; end < 2; end++)
        for (size_t i = 0; i < usable_counts(x); i++)
            write_row_of_nodes(x, end, node_counts[i]);
    page_end_table(x->page);
}

const struct experiment_section section_nodes = {"nodes", "Several nodes at once", write_nodes};
