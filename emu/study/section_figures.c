/* Figures 7 and 8 [P0 section 4]: PIO READ and WRITE from a node with many channel-disjoint routings and one with few.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emu/study/experiments.h"

static const uint32_t block_bytes[] = {4096, 8192, 16384};
#define BLOCKS      (sizeof block_bytes / sizeof *block_bytes)
#define BUFFERS_MAX 2u

static const double paper_best[EXPERIMENT_SIDES] = {11.84, 4.53}; /* speed-ups of WRITE and READ */

struct best {
    double speed_up, mb_s, us, set_up_us;
    uint32_t block_bytes, buffers, node;
};

struct figure {
    const char *name, *number; /* of the plot; of the paper's figure */
    uint32_t wanted;           /* routings of the paper's node */
    const struct place *place;
};

static struct transfer transfer(const struct experiment *x, const struct figure *f, uint32_t bytes, uint32_t buffers)
{
    return (struct transfer){.machine = &x->machine,
                             .node = &f->place->node,
                             .nodes = 1,
                             .disks = x->volumes,
                             .block_bytes = bytes,
                             .buffers = buffers};
}

static struct transfer plain_transfer(const struct experiment *x, const uint32_t *node)
{
    return (struct transfer){.machine = &x->machine, .node = node, .nodes = 1, .disks = 1, .plain = true};
}

static double plain_mb_s(struct experiment *x, const struct figure *f, int side)
{
    struct transfer t = plain_transfer(x, &f->place->node);

    return experiment_side(experiment_transfer(x, &t), side)->mb_s;
}

static void row(struct experiment *x, const struct figure *f, int side, uint32_t bytes, uint32_t buffers,
                struct best best[EXPERIMENT_SIDES])
{
    struct transfer t = transfer(x, f, bytes, buffers);
    const struct study_side *s = experiment_side(experiment_transfer(x, &t), side);
    struct prediction p = experiment_predict(x, &t, side);
    double speed_up = s->mb_s / plain_mb_s(x, f, side);
    double paper = experiment_paper_mb_s(&t, side);
    char name[EXPERIMENT_NAME_BYTES];

    page_cell(x->page, "%s, %s", experiment_side_names[side], experiment_bytes_name(bytes, name));
    page_cell(x->page, "%u", buffers);
    page_number(x->page, 3, s->mb_s);
    page_number(x->page, 2, speed_up);
    page_number(x->page, 3, p.constant_mb_s);
    page_difference(x->page, s->mb_s, p.constant_mb_s);
    page_number(x->page, 3, p.turning_mb_s);
    page_difference(x->page, s->mb_s, p.turning_mb_s);
    page_number(x->page, 3, p.exact_mb_s);
    page_number(x->page, 3, paper);
    if (speed_up > best[side].speed_up)
        best[side] = (struct best){speed_up, s->mb_s, s->us, s->set_up_us, bytes, buffers, f->place->node};
}

static void draw(struct experiment *x, const struct figure *f, const char *caption)
{
    static const char *const titles[] = {"WRITE, C = 1", "WRITE, C = 2", "READ, C = 1", "READ, C = 2"};
    struct plot plot = {.name = f->name,
                        .x_axis = "bytes per block",
                        .y_axis = "MB/s",
                        .ticks = "'4 KB' 4096, '8 KB' 8192, '16 KB' 16384",
                        .logarithmic = true};

    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (uint32_t c = 1; c <= BUFFERS_MAX; c++) {
            struct plot_curve *curve = &plot.curve[plot.curves];

            curve->title = titles[plot.curves++];
            for (size_t b = 0; b < BLOCKS; b++) {
                struct transfer t = transfer(x, f, block_bytes[b], c);

                plot_point(curve, block_bytes[b], experiment_side(experiment_transfer(x, &t), side)->mb_s);
            }
        }
    page_plot(x->page, &plot, caption);
}

static void write_figure(struct experiment *x, const struct figure *f, struct best best[EXPERIMENT_SIDES])
{
    char caption[200];
    struct transfer t = transfer(x, f, block_bytes[0], 1);
    uint32_t to = experiment_routings(&t, EXPERIMENT_WRITE), from = experiment_routings(&t, EXPERIMENT_READ);

    snprintf(
        caption, sizeof caption,
        "Figure %s of the paper, measured: node %u of %s, %u channel-disjoint routing%s to the volumes, for WRITE, "
        "and %u from them, for READ.",
        f->number, f->place->node, x->machine.name, to, to == 1 ? "" : "s", from);
    if (f->place->routings != f->wanted)
        page_paragraph(x->page, "Figure %s is of a node with %u; this machine has none, and node %u has %u.", f->number,
                       f->wanted, f->place->node, f->place->routings);
    draw(x, f, caption);
    page_table(x->page, "block|C|measured, MB/s|speed-up|constant service|difference|turning "
                        "drives|difference|exponential service|paper's model");
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (uint32_t c = 1; c <= BUFFERS_MAX; c++)
            for (size_t b = 0; b < BLOCKS; b++)
                row(x, f, side, block_bytes[b], c, best);
    page_end_table(x->page);
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (uint32_t c = 1; c <= BUFFERS_MAX; c++)
            for (size_t b = 0; b < BLOCKS; b++) {
                t = transfer(x, f, block_bytes[b], c);
                experiment_explain(x, &t, side, EXPERIMENT_LARGE);
            }
}

/* Returns the best place with so many routings; or that with the most, or the fewest, if there is none. */
static const struct place *find_place(const struct experiment *x, uint32_t routings, bool most)
{
    uint32_t n = 1u << x->machine.config.topo.dim;

    for (uint32_t i = 0; i < n; i++)
        if (x->place[i].routings == routings)
            return &x->place[i];
    return most ? &x->place[0] : &x->place[n - 1];
}

/* Why the best speed-up is not the paper's: what was busy in this transfer, and in the plain call. */
static void explain_best(struct experiment *x, const struct figure *f, int side, const struct best *best)
{
    double difference = best->speed_up / paper_best[side] - 1;
    char cause[EXPERIMENT_CAUSE_BYTES];

    if (x->study.collecting || fabs(difference) <= EXPERIMENT_LARGE)
        return;
    struct transfer plain = plain_transfer(x, &best->node), t = transfer(x, f, best->block_bytes, best->buffers);
    t.node = &best->node;
    const struct study_side *one = experiment_side(experiment_transfer(x, &plain), side);
    experiment_cause(x, &t, side, cause);
    page_item(
        x->page,
        "%s: %.0f %% %s than the paper's speed-up. The plain call gets %.3f MB/s and keeps its drive busy %.0f %% "
        "of the time. %s",
        experiment_side_names[side], 100 * fabs(difference), difference < 0 ? "less" : "more", one->mb_s,
        100 * one->use.drive, cause);
}

/* What the best speed-up would be over one block at a time on one volume: the plain call is one of them. */
static void explain_requests(struct experiment *x, const struct figure *f, int side, const struct best *best)
{
    double one[BLOCKS], plain = plain_mb_s(x, f, side);
    size_t nearest = 0;
    char name[BLOCKS][EXPERIMENT_NAME_BYTES];

    for (size_t b = 0; b < BLOCKS; b++) {
        struct transfer t = transfer(x, f, block_bytes[b], 1);

        t.disks = 1;
        one[b] = experiment_side(experiment_transfer(x, &t), side)->mb_s;
        nearest = fabs(one[b] - plain) < fabs(one[nearest] - plain) ? b : nearest;
        experiment_bytes_name(block_bytes[b], name[b]);
    }
    page_item(
        x->page,
        "%s rests on what the plain call asks of its volume at a time: its %.3f MB/s are those of blocks of %s, "
        "one at a time (%.3f, %.3f and %.3f MB/s for %s, %s and %s, from node %u). Over these the best speed-up is "
        "%.1f, %.1f and %.1f.",
        experiment_side_names[side], plain, name[nearest], one[0], one[1], one[2], name[0], name[1], name[2],
        f->place->node, best->mb_s / one[0], best->mb_s / one[1], best->mb_s / one[2]);
}

/* The best speed-up if opening and closing count, for the plain call as for PIO. */
static void explain_set_up(struct experiment *x, int side, const struct best *best)
{
    if (x->study.collecting)
        return;
    struct transfer plain = plain_transfer(x, &best->node);
    const struct study_side *one = experiment_side(experiment_transfer(x, &plain), side);
    double whole = (one->us + one->set_up_us) / (best->us + best->set_up_us), paper = paper_best[side];
    bool between = (whole < paper) == (paper < best->speed_up);

    page_item(x->page, "%s with its set-up, opening and closing in both: %.2f.%s", experiment_side_names[side], whole,
              between ? " The paper, which does not say what it counts, lies between." : "");
}

static void write_figures(struct experiment *x)
{
    struct best best[EXPERIMENT_SIDES] = {0};

    if (x->volumes < 2) {
        page_paragraph(x->page, "Left out: %s has %s, and blocks are striped over two at least.", x->machine.name,
                       x->volumes == 0 ? "no volumes" : "one volume");
        return;
    }
    const struct figure figure[] = {{"figure-7", "7", 4, find_place(x, 4, true)},
                                    {"figure-8", "8", 1, find_place(x, 1, false)}};
    page_paragraph(
        x->page,
        "One node transfers to and from %u volumes. C blocks are under way for each volume. The speed-up is "
        "over the plain call of the same node. The predictions solve the paper's queueing network with the "
        "service times of the monitor: constant ones, for this transfer with its beginning and its end; the same "
        "with drives that turn on between requests (see the model's machines); and exponential ones, exactly, "
        "in the steady state.",
        x->volumes);
    for (size_t i = 0; i < 2; i++)
        write_figure(x, &figure[i], best);
    for (int side = 0; side < EXPERIMENT_SIDES; side++) {
        char name[EXPERIMENT_NAME_BYTES];

        page_paragraph(x->page, "Best speed-up of %s: %.2f (node %u, B = %s, C = %u); the paper has %.2f.",
                       experiment_side_names[side], best[side].speed_up, best[side].node,
                       experiment_bytes_name(best[side].block_bytes, name), best[side].buffers, paper_best[side]);
        explain_best(x, &figure[0], side, &best[side]);
        explain_requests(x, &figure[0], side, &best[side]);
        explain_set_up(x, side, &best[side]);
    }
}

const struct experiment_section section_figures = {"figures", "Figures 7 and 8: from one node to eight volumes",
                                                   write_figures};
