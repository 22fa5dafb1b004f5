/* The model's machines [P0 section 3]: eight I/O nodes evenly on 1, 4 and 8 routings. Tables 2 to 4, measured, and why
 * the constant-service model misses where it does. */
#include <math.h>
#include <stdio.h>

#include "emu/study/experiments.h"

#define DISKS       8u
#define GOOD        0.05 /* how well the model is to predict */
#define BUFFERS_MAX 2u

static const uint32_t block_bytes[] = {4096, 8192, 16384};
#define BLOCKS (sizeof block_bytes / sizeof *block_bytes)

static const uint32_t routings[] = {1, 4, 8}; /* of MODEL_1, MODEL_4, MODEL_8 */
#define WIRINGS (sizeof routings / sizeof *routings)

struct row {
    uint32_t block_bytes, buffers, wiring;
    double response_ms, disk_use, mb_s; /* the paper's */
};

static const struct table {
    const char *text;
    struct row row[3];
} tables[] = {
    {"Table 2: one block under way for each I/O node, 1 routing.",
     {{4096, 1, 0, 22.27, 77.67, 1.40323}, {8192, 1, 0, 33.00, 59.09, 1.89394}, {16384, 1, 0, 59.69, 34.34, 2.09415}}},
    {"Table 3: blocks of 16 KB, one under way for each I/O node.",
     {{16384, 1, 0, 59.69, 34.34, 2.09415},
      {16384, 1, 1, 32.53, 63.03, 3.84260},
      {16384, 1, 2, 30.81, 66.54, 4.05712}}},
    {"Table 4: blocks of 16 KB, two under way for each I/O node.",
     {{16384, 2, 0, 118.15, 34.70, 2.11595},
      {16384, 2, 1, 49.74, 82.43, 5.02614},
      {16384, 2, 2, 47.06, 87.12, 5.31237}}}};

static struct transfer transfer(const struct experiment *x, size_t wiring, uint32_t bytes, uint32_t buffers)
{
    return (struct transfer){.machine = &x->model[wiring], .disks = DISKS, .block_bytes = bytes, .buffers = buffers};
}

/* ---- Tables 2 to 4 ---- */

static void write_row(struct experiment *x, const struct row *r)
{
    struct transfer t = transfer(x, r->wiring, r->block_bytes, r->buffers);
    const struct study_side *s = &experiment_transfer(x, &t)->write;
    char name[EXPERIMENT_NAME_BYTES];
    double use = 100 * (s->use.drive + s->use.server);
    double response_ms = DISKS * r->buffers * r->block_bytes / STUDY_MB / s->mb_s * 1e3; /* Little's law */

    page_cell(x->page, "%s, %u routing%s", experiment_bytes_name(r->block_bytes, name), routings[r->wiring],
              routings[r->wiring] == 1 ? "" : "s");
    page_cell(x->page, "%.2f", response_ms);
    page_cell(x->page, "%.2f", r->response_ms);
    page_difference(x->page, response_ms, r->response_ms);
    page_cell(x->page, "%.1f", use);
    page_cell(x->page, "%.2f", r->disk_use);
    page_cell(x->page, "%.1f", 100 * s->use.channel);
    page_number(x->page, 3, s->mb_s);
    page_cell(x->page, "%.3f", r->mb_s);
    page_difference(x->page, s->mb_s, r->mb_s);
}

/* An I/O node is busy for its service times the rate: which of them makes the difference to the paper. */
static void explain_use(struct experiment *x, const struct row *r)
{
    struct transfer t = transfer(x, r->wiring, r->block_bytes, r->buffers);
    const struct study_side *s = &experiment_transfer(x, &t)->write;
    double use = s->use.drive + s->use.server, difference = 100 * use / r->disk_use - 1, rate = s->mb_s / r->mb_s - 1;
    double blocks = x->bytes / r->block_bytes / (double)DISKS; /* of each I/O node */
    char name[EXPERIMENT_NAME_BYTES];

    if (x->study.collecting || fabs(difference) <= EXPERIMENT_LARGE)
        return;
    page_item(
        x->page,
        "%s, %u routing%s, C = %u: the I/O nodes are busy for %.0f %% %s of the time than the paper predicts. A "
        "block keeps one busy for %.2f ms (the drive %.2f ms, nsdisk %.2f ms); the paper's %.2f %% at its rate are "
        "%.2f ms. The rate is %.0f %% %s.",
        experiment_bytes_name(r->block_bytes, name), routings[r->wiring], routings[r->wiring] == 1 ? "" : "s",
        r->buffers, 100 * fabs(difference), difference < 0 ? "less" : "more", use * s->us / blocks / 1e3,
        s->use.drive * s->us / blocks / 1e3, s->use.server * s->us / blocks / 1e3, r->disk_use,
        r->disk_use / 100 * DISKS * r->block_bytes / STUDY_MB / r->mb_s * 1e3, 100 * fabs(rate),
        rate < 0 ? "lower" : "higher");
}

static void write_tables(struct experiment *x)
{
    page_paragraph(x->page,
                   "Measured with PIO WRITE from node 0. The response is that of one block (the blocks under way over "
                   "their rate); an I/O node is busy while nsdisk computes or its drive works; the channel is the "
                   "busiest one. The paper's figures are predictions, from its own service times.");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        page_paragraph(x->page, "%s", tables[i].text);
        page_table(x->page, "block|response, ms|paper|difference|I/O nodes busy, %|paper|channel busy, %|MB/s|paper|"
                            "difference");
        for (size_t r = 0; r < 3; r++)
            write_row(x, &tables[i].row[r]);
        page_end_table(x->page);
        for (size_t r = 0; r < 3; r++)
            explain_use(x, &tables[i].row[r]);
    }
}

/* ---- Against the models ---- */

struct worst { /* of all rows */
    double constant, turning;
};

static void compare_row(struct experiment *x, size_t wiring, int side, uint32_t bytes, uint32_t buffers,
                        struct worst *worst)
{
    struct transfer t = transfer(x, wiring, bytes, buffers);
    double mb_s = experiment_side(experiment_transfer(x, &t), side)->mb_s;
    struct prediction p = experiment_predict(x, &t, side);
    char name[EXPERIMENT_NAME_BYTES];

    page_cell(x->page, "%s, %s, C = %u", experiment_side_names[side], experiment_bytes_name(bytes, name), buffers);
    page_cell(x->page, "%u", routings[wiring]);
    page_number(x->page, 3, mb_s);
    page_number(x->page, 3, p.exact_mb_s);
    page_number(x->page, 3, p.constant_mb_s);
    page_difference(x->page, mb_s, p.constant_mb_s);
    page_number(x->page, 3, p.turning_mb_s);
    page_difference(x->page, mb_s, p.turning_mb_s);
    worst->constant = fmax(worst->constant, fabs(mb_s / p.constant_mb_s - 1));
    worst->turning = fmax(worst->turning, fabs(mb_s / p.turning_mb_s - 1));
}

static void compare(struct experiment *x)
{
    struct worst worst = {0};

    page_paragraph(x->page, "The same with both operations and all B and C, beside the models, whose service times are "
                            "those that the monitor measured.");
    page_table(x->page, "operation|routings|measured, MB/s|exponential service|constant service|difference|"
                        "turning drives|difference");
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (size_t w = 0; w < WIRINGS; w++)
            for (uint32_t c = 1; c <= BUFFERS_MAX; c++)
                for (size_t b = 0; b < BLOCKS; b++)
                    compare_row(x, w, side, block_bytes[b], c, &worst);
    page_end_table(x->page);
    page_paragraph(x->page, "Largest difference: %.1f %% from constant service, %.1f %% from turning drives.",
                   100 * worst.constant, 100 * worst.turning);
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (size_t w = 0; w < WIRINGS; w++)
            for (uint32_t c = 1; c <= BUFFERS_MAX; c++)
                for (size_t b = 0; b < BLOCKS; b++) {
                    struct transfer t = transfer(x, w, block_bytes[b], c);
                    experiment_explain(x, &t, side, GOOD);
                }
}

/* ---- The experiment that explains the differences ---- */

static void draw_curve(struct experiment *x, int side, const char *name, const char *caption)
{
    static const char *const titles[BLOCKS] = {"B = 4 KB", "B = 8 KB", "B = 16 KB"};
    struct plot plot = {
        .name = name, .x_axis = "I/O node idle before the request, ms", .y_axis = "service, ms", .curves = BLOCKS};
    struct curve curve;

    for (size_t b = 0; b < BLOCKS; b++) {
        plot.curve[b].title = titles[b];
        experiment_curve(x, &x->model[MODEL_1], side, block_bytes[b], &curve);
        for (uint32_t i = 0; i < curve.n; i++)
            plot_point(&plot.curve[b], curve.idle_us[i] / 1e3, curve.service_us[i] / 1e3);
    }
    page_plot(x->page, &plot, caption);
}

static void write_curves(struct experiment *x)
{
    page_paragraph(
        x->page,
        "Why constant service misses: a drive's service is not constant. The monitor pauses before each "
        "request, longer and longer. A write of the next block ends when its sectors have come round, "
        "however early it began, so its service takes as much less as the drive was idle; once it is too "
        "late for a revolution it waits for the next one, and takes 16.7 ms more. A read is served from the "
        "buffer into which the drive reads ahead, and takes less the longer the drive had for that. The "
        "model \"turning drives\" has constant times but for this: its I/O nodes serve as these curves "
        "say. Before the shortest pause, up to a drive that is never idle, a curve goes on as it begins, but no "
        "steeper than the drive turns; so nothing of it is from the transfers that it is compared with.");
    draw_curve(x, EXPERIMENT_WRITE, "idle-write", "Service of a write by the idle time before it.");
    draw_curve(x, EXPERIMENT_READ, "idle-read", "Service of a read by the idle time before it.");
}

static void write_model(struct experiment *x)
{
    write_tables(x);
    compare(x);
    write_curves(x);
}

const struct experiment_section section_model = {"model", "Tables 2 to 4: the model's machines", write_model};
