/* Rates against one parameter [P0 section 4, and its D, C and B]: the number of volumes, of blocks under way for each,
 * and the size of a block. */
#include <math.h>
#include <stdio.h>

#include "emu/study/experiments.h"

#define BLOCK_BYTES 16384u /* the paper's best parameters */
#define BUFFERS     2u
#define POINTS_MAX  8
#define DISKS_MAX   16u
#define LINEAR      0.95 /* a speed-up below so many D needs a sentence */

struct sweep {
    const char *name, *column, *x_axis, *caption;
    size_t points;
    uint32_t value[POINTS_MAX];
    struct transfer (*transfer)(const struct experiment *x, uint32_t value);
    bool against_plain; /* the speed-up is over the plain call, and not over the first point */
    bool bytes;         /* the values are bytes */
};

static struct transfer on_best_place(const struct experiment *x)
{
    return (struct transfer){.machine = &x->machine,
                             .node = &x->place[0].node,
                             .nodes = 1,
                             .disks = x->volumes,
                             .block_bytes = BLOCK_BYTES,
                             .buffers = BUFFERS};
}

static double base_mb_s(struct experiment *x, const struct sweep *w, int side)
{
    struct transfer t = w->transfer(x, w->value[0]);

    if (w->against_plain)
        t = (struct transfer){.machine = t.machine, .node = t.node, .nodes = 1, .disks = 1, .plain = true};
    return experiment_side(experiment_transfer(x, &t), side)->mb_s;
}

static void write_side(struct experiment *x, const struct sweep *w, const struct transfer *t, int side)
{
    double mb_s = experiment_side(experiment_transfer(x, t), side)->mb_s;
    struct prediction p = experiment_predict(x, t, side);

    page_number(x->page, 3, mb_s);
    page_number(x->page, 2, mb_s / base_mb_s(x, w, side));
    page_number(x->page, 3, p.constant_mb_s);
    page_difference(x->page, mb_s, p.constant_mb_s);
    page_number(x->page, 3, p.turning_mb_s);
    page_difference(x->page, mb_s, p.turning_mb_s);
}

static void write_table(struct experiment *x, const struct sweep *w)
{
    char columns[200], name[EXPERIMENT_NAME_BYTES];

    for (int side = 0; side < EXPERIMENT_SIDES; side++) {
        snprintf(columns, sizeof columns, "%s|%s, MB/s|speed-up|constant service|difference|turning drives|difference",
                 w->column, experiment_side_names[side]);
        page_table(x->page, columns);
        for (size_t i = 0; i < w->points; i++) {
            struct transfer t = w->transfer(x, w->value[i]);

            if (w->bytes)
                page_cell(x->page, "%s", experiment_bytes_name(w->value[i], name));
            else
                page_cell(x->page, "%u", w->value[i]);
            write_side(x, w, &t, side);
        }
        page_end_table(x->page);
    }
}

static void draw(struct experiment *x, const struct sweep *w)
{
    static const char *const titles[] = {"WRITE", "READ", "WRITE, predicted", "READ, predicted"};
    struct plot plot = {.name = w->name, .x_axis = w->x_axis, .y_axis = "MB/s", .logarithmic = true, .curves = 4};

    for (size_t c = 0; c < plot.curves; c++) {
        plot.curve[c].title = titles[c];
        plot.curve[c].dashed = c >= EXPERIMENT_SIDES;
        plot.curve[c].colour = 1 + c % EXPERIMENT_SIDES; /* a prediction in its measurement's */
        for (size_t i = 0; i < w->points; i++) {
            struct transfer t = w->transfer(x, w->value[i]);
            int side = (int)(c % EXPERIMENT_SIDES);
            double y = plot.curve[c].dashed ? experiment_predict(x, &t, side).turning_mb_s
                                            : experiment_side(experiment_transfer(x, &t), side)->mb_s;

            if (y > 0)
                plot_point(&plot.curve[c], w->bytes ? w->value[i] / 1024.0 : w->value[i], y);
        }
    }
    page_plot(x->page, &plot, w->caption);
}

static void explain(struct experiment *x, const struct sweep *w)
{
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (size_t i = 0; i < w->points; i++) {
            struct transfer t = w->transfer(x, w->value[i]);
            experiment_explain(x, &t, side, EXPERIMENT_LARGE);
        }
}

/* ---- Volumes ---- */

static struct transfer with_disks(const struct experiment *x, uint32_t disks)
{
    return (struct transfer){.machine = &x->model[MODEL_WIDE],
                             .disks = disks,
                             .step = DISKS_MAX / disks,
                             .block_bytes = BLOCK_BYTES,
                             .buffers = BUFFERS,
                             .bytes = 4 * x->bytes < 8u << 20 ? 4 * x->bytes : 8u << 20};
}

static const struct sweep disks = {
    .name = "disks",
    .column = "D",
    .x_axis = "volumes, D",
    .caption = "Rate against the number of volumes: B = 16 KB, C = 2, node 0 of model-16; predicted: turning drives.",
    .points = 5,
    .value = {1, 2, 4, 8, 16},
    .transfer = with_disks};

/* The least speed-up per volume up to the first bottleneck, and where it is. */
struct least {
    double of_disks;
    uint32_t disks;
};

static struct least find_least(struct experiment *x, int side, double base, double first)
{
    struct least least = {.of_disks = INFINITY};

    for (size_t i = 0; i < disks.points; i++) {
        struct transfer t = with_disks(x, disks.value[i]);
        double of_disks = experiment_side(experiment_transfer(x, &t), side)->mb_s / base / disks.value[i];

        if (disks.value[i] <= first && of_disks < least.of_disks)
            least = (struct least){of_disks, disks.value[i]};
    }
    return least;
}

/* Where the model's first bottleneck is: the number of volumes that keep the processor, or the routings, busy. */
static void write_bottleneck(struct experiment *x, int side)
{
    struct transfer t = with_disks(x, DISKS_MAX);
    struct service s = experiment_service(x, t.machine, side, BLOCK_BYTES);
    double base = base_mb_s(x, &disks, side), block_us = BLOCK_BYTES / STUDY_MB / base * 1e6;
    double processor = block_us / s.cpu_us, network = experiment_routings(&t, side) * block_us / s.network_us;
    struct least least = find_least(x, side, base, fmin(processor, network));
    char cause[EXPERIMENT_CAUSE_BYTES] = "";

    if (least.disks > 0 && least.of_disks < LINEAR) {
        t = with_disks(x, least.disks);
        experiment_cause(x, &t, side, cause);
    }
    page_paragraph(x->page,
                   "%s: a volume alone takes %.1f ms for a block, so the model's first bottleneck is the %s, with D = "
                   "%.1f (the %s with %.1f). Up to there the speed-up is at least %.2f D, with D = %u.%s%s",
                   experiment_side_names[side], block_us / 1e3, processor < network ? "processor" : "routings",
                   fmin(processor, network), processor < network ? "routings" : "processor", fmax(processor, network),
                   least.of_disks, least.disks, cause[0] ? " " : "", cause);
}

static void write_disks(struct experiment *x)
{
    page_paragraph(x->page,
                   "Node 0 of model-16 has four channel-disjoint routings, each to four of 16 I/O nodes; D of them are "
                   "used, on as many routings as there are. Each transfer has four times the bytes of the others, so "
                   "that 16 volumes get some. The speed-up is over PIO on one volume.");
    draw(x, &disks);
    write_table(x, &disks);
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        write_bottleneck(x, side);
    explain(x, &disks);
}

const struct experiment_section section_disks = {"disks", "Speed-up against the number of volumes", write_disks};

/* ---- Buffers and blocks ---- */

static bool can_stripe(struct experiment *x)
{
    if (x->volumes < 2)
        page_paragraph(x->page, "Left out: %s has %s, and blocks are striped over two at least.", x->machine.name,
                       x->volumes == 0 ? "no volumes" : "one volume");
    return x->volumes >= 2;
}

static struct transfer with_buffers(const struct experiment *x, uint32_t buffers)
{
    struct transfer t = on_best_place(x);

    t.buffers = buffers;
    return t;
}

static const struct sweep buffers = {
    .name = "buffers",
    .column = "C",
    .x_axis = "blocks under way for each volume, C",
    .caption = "Rate against the blocks under way for each volume: B = 16 KB; predicted: turning drives.",
    .points = 8,
    .value = {1, 2, 3, 4, 5, 6, 7, 8},
    .transfer = with_buffers,
    .against_plain = true};

static void write_buffers(struct experiment *x)
{
    if (!can_stripe(x))
        return;
    page_paragraph(x->page,
                   "From node %u, which ncube place ranks first. The speed-up is over the plain call. More than two "
                   "blocks for each volume wait in queues and take memory.",
                   x->place[0].node);
    draw(x, &buffers);
    write_table(x, &buffers);
    explain(x, &buffers);
}

const struct experiment_section section_buffers = {"buffers", "Rate against the blocks under way", write_buffers};

static struct transfer with_block(const struct experiment *x, uint32_t bytes)
{
    struct transfer t = on_best_place(x);

    t.block_bytes = bytes;
    return t;
}

static const struct sweep blocks = {.name = "blocks",
                                    .column = "B",
                                    .x_axis = "KB per block, B",
                                    .caption = "Rate against the size of a block: C = 2; predicted: turning drives.",
                                    .points = 7,
                                    .value = {1024, 2048, 4096, 8192, 16384, 32768, 65536},
                                    .transfer = with_block,
                                    .against_plain = true,
                                    .bytes = true};

static void write_blocks(struct experiment *x)
{
    if (!can_stripe(x))
        return;
    page_paragraph(x->page, "From node %u, which ncube place ranks first. The speed-up is over the plain call.",
                   x->place[0].node);
    draw(x, &blocks);
    write_table(x, &blocks);
    explain(x, &blocks);
}

const struct experiment_section section_blocks = {"blocks", "Rate against the size of a block", write_blocks};
