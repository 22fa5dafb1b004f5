/* Service times, as monitor programs see them, and the plain calls [P0 section 3]. */
#include <math.h>
#include <stdio.h>

#include "emu/study/experiments.h"

struct published {
    uint32_t block_bytes;
    double cpu_ms, network_ms, disk_ms;
};

static const struct published published[] = {
    {4096, 0.8, 1.854, 17.3}, {8192, 1.065, 3.697, 19.5}, {16384, 1.82, 7.384, 20.5}};
#define PUBLISHED (sizeof published / sizeof *published)

static void row(struct experiment *x, int side, const struct published *p)
{
    struct service s = experiment_service(x, &x->machine, side, p->block_bytes);
    char name[EXPERIMENT_NAME_BYTES];
    struct page *page = x->page;

    page_cell(page, "%s, %s", experiment_side_names[side], experiment_bytes_name(p->block_bytes, name));
    page_cell(page, "%.3f", s.cpu_us / 1e3);
    const double ours[] = {s.monitor_cpu_us / 1e3, s.network_us / 1e3, s.disk_us / 1e3};
    const double theirs[] = {p->cpu_ms, p->network_ms, p->disk_ms};
    for (int i = 0; i < 3; i++) {
        page_cell(page, "%.3f", ours[i]);
        if (side == EXPERIMENT_READ) { /* the paper's are of writing */
            page_cell(page, "-");
            page_cell(page, "-");
            continue;
        }
        page_cell(page, "%.3f", theirs[i]);
        page_difference(page, ours[i], theirs[i]);
    }
}

/* A sentence for each part of the service that differs from the paper's by more than EXPERIMENT_LARGE. */
static void explain(struct experiment *x, const struct published *p)
{
    static const char *const names[] = {"processor", "network", "server"};
    struct service s = experiment_service(x, &x->machine, EXPERIMENT_WRITE, p->block_bytes);
    struct busy busy = experiment_busy(x, &x->machine, EXPERIMENT_WRITE, p->block_bytes);
    const double ours_us[] = {s.monitor_cpu_us, s.network_us, s.disk_us};
    const double theirs_ms[] = {p->cpu_ms, p->network_ms, p->disk_ms};
    char name[EXPERIMENT_NAME_BYTES], cause[200];

    for (int i = 0; i < 3 && !x->study.collecting; i++) {
        double difference = ours_us[i] / 1e3 / theirs_ms[i] - 1;

        if (fabs(difference) <= EXPERIMENT_LARGE)
            continue;
        if (i == 0)
            snprintf(cause, sizeof cause,
                     "the processor is busy for %.3f ms of it, so it computes and does not wait; the paper's software "
                     "computes for longer (timing = \"wang-leiss\" charges that)",
                     busy.processor_us / 1e3);
        else if (i == 1)
            snprintf(cause, sizeof cause, "a block holds the busiest channel for %.3f ms", busy.channel_us / 1e3);
        else
            snprintf(cause, sizeof cause,
                     "the drive executes its command for %.3f ms of it, nsdisk computes for %.3f ms",
                     busy.drive_us / 1e3, busy.server_us / 1e3);
        page_item(x->page, "WRITE, %s, %s: %.0f %% %s than the paper's %.3f ms. By the statistics, %s.",
                  experiment_bytes_name(p->block_bytes, name), names[i], 100 * fabs(difference),
                  difference < 0 ? "less" : "more", theirs_ms[i], cause);
    }
}

static void write_service(struct experiment *x)
{
    if (x->volumes == 0) {
        page_paragraph(x->page, "Left out: %s has no volumes.", x->machine.name);
        return;
    }
    page_paragraph(
        x->page,
        "The monitor (diskmon) writes and reads one block at a time, so that nothing waits. Processor: from "
        "the arrival of a reply until the next request is sent. Processor busy: what the statistics count "
        "for a block, also while it takes up arriving messages, and without the monitor's own work. A reply that "
        "comes when the process is at work costs more: it is queued first, and copied in pieces between "
        "which Vertex looks for messages. "
        "Network: the message with the data. Server: nsdisk and its drive, from the arrival of the request "
        "until the reply is sent.");
    page_table(x->page, "block|processor busy, ms|processor, ms|paper|difference|network, ms|paper|difference|server, "
                        "ms|paper|difference");
    for (int side = 0; side < EXPERIMENT_SIDES; side++)
        for (size_t i = 0; i < PUBLISHED; i++)
            row(x, side, &published[i]);
    page_end_table(x->page);
    for (size_t i = 0; i < PUBLISHED; i++)
        explain(x, &published[i]);
    page_paragraph(x->page, "The paper states service times of writing only. A sequential read finds its data in the "
                            "drive's read-ahead buffer, so the server takes less.");
}

const struct experiment_section section_service = {"service", "Service times", write_service};

/* ---- Plain calls ---- */

static const uint32_t call_bytes[] = {4096, 8192, 16384, 0};

static void write_plain(struct experiment *x)
{
    char name[EXPERIMENT_NAME_BYTES];

    if (x->volumes == 0) {
        page_paragraph(x->page, "Left out: %s has no volumes.", x->machine.name);
        return;
    }
    page_paragraph(x->page,
                   "The conventional read and write of one file on one volume, by calls of one size, from node "
                   "%u. They are what a speed-up is measured against.",
                   x->place[0].node);
    page_table(x->page, "bytes of a call|WRITE, MB/s|READ, MB/s|drive busy, WRITE|drive busy, READ");
    for (size_t i = 0; i < sizeof call_bytes / sizeof *call_bytes; i++) {
        struct transfer t = {.machine = &x->machine,
                             .node = &x->place[0].node,
                             .nodes = 1,
                             .disks = 1,
                             .request_bytes = call_bytes[i],
                             .plain = true};
        const struct study_measure *m = experiment_transfer(x, &t);

        if (call_bytes[i] > 0)
            page_cell(x->page, "%s", experiment_bytes_name(call_bytes[i], name));
        else
            page_cell(x->page, "all at once");
        page_cell(x->page, "%.4f", m->write.mb_s);
        page_cell(x->page, "%.4f", m->read.mb_s);
        page_cell(x->page, "%.0f %%", 100 * m->write.use.drive);
        page_cell(x->page, "%.0f %%", 100 * m->read.use.drive);
    }
    page_end_table(x->page);
}

const struct experiment_section section_plain = {"plain", "Plain calls", write_plain};
