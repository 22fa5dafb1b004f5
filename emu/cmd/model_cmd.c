/*
 * `ncube model`: the queueing network of [P0 section 3] beside the paper's Tables 2, 3 and 4, or for any number of I/O
 * nodes, buffers, routings and any service times.
 */
#include <stdio.h>

#include "emu/base/plural.h"
#include "emu/base/options.h"
#include "emu/config/config_options.h"
#include "emu/tools/queueing.h"
#include "emu/base/json_text.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"
#include "vertex/contract/proto.h"

#define MB             1048576.0  /* the paper's Mbyte: 64 rounds of 8 blocks of 4 Kbytes are 2 of them */
#define FILE_BYTES     (2u << 20) /* of the paper's predictions and experiments */
#define FILE_BYTES_MAX (1024u << 20)
#define CURVE_MAX      256u
#define NAME_BYTES     12

/* Service times that the paper measured, for a message over five dimensions. For blocks of 16 KB it states 1820 us of
 * CPU time; the figures of its tables follow from 1808, so that is what the tables here are computed with. */
static const struct service {
    uint32_t block_bytes;
    double cpu_us, table_cpu_us, network_us, disk_us;
} services[] = {{4096, 800, 800, 1854, 17300}, {8192, 1065, 1065, 3697, 19500}, {16384, 1820, 1808, 7384, 20500}};

/* ---- The paper's tables ---- */

enum column { RESPONSE_MS, CPU_MS, NETWORK_MS, NETWORK_MESSAGES, DISK_PERCENT, MB_S, COLUMNS };

struct row {
    uint32_t block_bytes, buffers, routings;
    double paper[COLUMNS]; /* 0: not printed there */
};

static const struct table {
    const char *name;
    struct row row[3];
} tables[] = {
    {"Table 2: one block under way for each I/O node, 1 routing",
     {{4096, 1, 1, {22.27, 1.06, 3.91, 1.40, 77.67, 1.40323}},
      {8192, 1, 1, {33.00, 1.39, 12.11, 2.94, 59.09, 1.89394}},
      {16384, 1, 1, {59.69, 2.36, 36.83, 4.94, 34.34, 2.09415}}}},
    {"Table 3: blocks of 16 KB, one under way for each I/O node",
     {{16384, 1, 1, {59.69, 2.36, 36.83, 0, 34.34, 2.09415}},
      {16384, 1, 4, {32.53, 2.86, 9.17, 0, 63.03, 3.84260}},
      {16384, 1, 8, {30.81, 2.92, 7.38, 0, 66.54, 4.05712}}}},
    {"Table 4: blocks of 16 KB, two under way for each I/O node",
     {{16384, 2, 1, {118.15, 2.39, 91.29, 0, 34.70, 2.11595}},
      {16384, 2, 4, {49.74, 3.93, 13.09, 0, 82.43, 5.02614}},
      {16384, 2, 8, {47.06, 4.17, 9.11, 0, 87.12, 5.31237}}}},
};

/* ---- One prediction ---- */

struct prediction {
    struct queueing network;
    uint32_t block_bytes;
    struct queueing_means exact, constant;
    double file_mb_s;    /* of a file, constant service times */
    double turning_mb_s; /* the same, with drives as a curve says; 0: without a curve */
};

static struct prediction predict(const struct queueing *q, const struct queueing_curve *curve, uint32_t block_bytes,
                                 uint32_t file_bytes)
{
    uint32_t blocks = (file_bytes + block_bytes - 1) / block_bytes;
    double mb = file_bytes / MB;

    return (struct prediction){*q,
                               block_bytes,
                               queueing_exact(q),
                               queueing_constant(q),
                               mb / (queueing_constant_us(q, blocks) / 1e6),
                               curve->n > 0 ? mb / (queueing_turning_us(q, curve, blocks) / 1e6) : 0};
}

static double mb_s(const struct prediction *p, const struct queueing_means *m)
{
    return m->per_s * p->block_bytes / MB;
}

static void to_columns(const struct prediction *p, const struct queueing_means *m, double column[COLUMNS])
{
    column[RESPONSE_MS] = m->response_us / 1e3;
    column[CPU_MS] = m->cpu_us / 1e3;
    column[NETWORK_MS] = m->network_us / 1e3;
    column[NETWORK_MESSAGES] = m->network_messages;
    column[DISK_PERCENT] = m->disk_use * 100;
    column[MB_S] = mb_s(p, m);
}

/* ---- Text ---- */

static void print_columns(const char *who, const double column[COLUMNS], double file_mb_s)
{
    static const int decimals[COLUMNS] = {2, 2, 2, 2, 2, 5};

    printf(" %-9s", who);
    for (int i = 0; i < COLUMNS; i++)
        if (column[i] > 0)
            printf(" %9.*f", decimals[i], column[i]);
        else
            printf(" %9s", "-");
    if (file_mb_s > 0)
        printf(" %9.5f\n", file_mb_s);
    else
        printf(" %9s\n", "-");
}

static const char *block_name(uint32_t bytes, char name[NAME_BYTES])
{
    if (bytes % 1024 == 0)
        snprintf(name, NAME_BYTES, "%uK", bytes / 1024);
    else
        snprintf(name, NAME_BYTES, "%u", bytes);
    return name;
}

static void print_heading(void)
{
    printf("%-28s %9s %9s %9s %9s %9s %9s %9s\n", "block routings  service", "all, ms", "CPU, ms", "net, ms", "in net",
           "disks, %", "MB/s", "2 MB file");
}

static void print_prediction(const struct prediction *p, const double *paper)
{
    double column[COLUMNS];
    char name[NAME_BYTES];

    printf("%5s %8u  ", block_name(p->block_bytes, name), p->network.routings);
    to_columns(p, &p->exact, column);
    print_columns("exponential", column, 0);
    printf("%16s", "");
    to_columns(p, &p->constant, column);
    print_columns("constant", column, p->file_mb_s);
    if (paper) {
        printf("%16s", "");
        print_columns("the paper", paper, 0);
    }
}

/* ---- JSON ---- */

static json_t *json_of_means(const struct prediction *p, const struct queueing_means *m)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "response_us", m->response_us, "cpu_us", m->cpu_us,
                     "network_us", m->network_us, "disk_us", m->disk_us, "network_messages", m->network_messages,
                     "disk_use", m->disk_use, "mb_s", mb_s(p, m));
}

static json_t *json_of_prediction(const struct prediction *p, const double *paper)
{
    const struct queueing *q = &p->network;
    json_t *json =
        json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:o, s:o}", "block_bytes", (int)p->block_bytes, "disks",
                  (int)q->disks, "buffers", (int)q->buffers, "routings", (int)q->routings, "service_cpu_us", q->cpu_us,
                  "service_network_us", q->network_us, "service_disk_us", q->disk_us, "service_status_us", q->status_us,
                  "exponential", json_of_means(p, &p->exact), "constant", json_of_means(p, &p->constant));

    json_object_set_new(json, "constant_file_mb_s", json_real(p->file_mb_s));
    if (p->turning_mb_s > 0)
        json_object_set_new(json, "turning_file_mb_s", json_real(p->turning_mb_s));
    if (paper)
        json_object_set_new(json, "paper",
                            json_pack("{s:f, s:f, s:f, s:o, s:f, s:f}", "response_us", paper[RESPONSE_MS] * 1e3,
                                      "cpu_us", paper[CPU_MS] * 1e3, "network_us", paper[NETWORK_MS] * 1e3,
                                      "network_messages",
                                      paper[NETWORK_MESSAGES] > 0 ? json_real(paper[NETWORK_MESSAGES]) : json_null(),
                                      "disk_use", paper[DISK_PERCENT] / 100, "mb_s", paper[MB_S]));
    return json;
}

/* ---- Commands ---- */

static const struct service *service_of(uint32_t block_bytes)
{
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (services[i].block_bytes == block_bytes)
            return &services[i];
    return NULL;
}

static struct prediction predict_row(const struct row *row)
{
    const struct service *service = service_of(row->block_bytes);
    struct queueing q = {.disks = 8,
                         .buffers = row->buffers,
                         .routings = row->routings,
                         .cpu_us = service->table_cpu_us,
                         .network_us = service->network_us,
                         .disk_us = service->disk_us};

    return predict(&q, &(struct queueing_curve){0}, row->block_bytes, FILE_BYTES);
}

static int print_tables(bool json)
{
    json_t *all = json ? json_array() : NULL;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (!json) {
            printf("%s%s\n", i > 0 ? "\n" : "", tables[i].name);
            print_heading();
        }
        for (size_t j = 0; j < sizeof tables[i].row / sizeof *tables[i].row; j++) {
            const struct row *row = &tables[i].row[j];
            struct prediction p = predict_row(row);

            if (json)
                json_array_append_new(all, json_of_prediction(&p, row->paper));
            else
                print_prediction(&p, row->paper);
        }
    }
    if (json)
        return json_print(all);
    printf(
        "\nD = 8. Service times are those of the paper, but for 1808 us of CPU time for 16K, where it states 1820.\n");
    return 0;
}

struct arguments {
    bool json;
    const char *given;   /* any option but --json, */
    const char *disks;   /* and --disks */
    const char *machine; /* file; NULL: none */
    struct queueing network;
    uint32_t block_bytes, file_bytes;
    struct queueing_curve curve;
    double idle_us[CURVE_MAX], service_us[CURVE_MAX]; /* its points */
};

/* The points' idle times ascend. */
static void take_curve(const struct options *o, const struct option_line *l, void *arguments, const char *value)
{
    struct arguments *a = arguments;
    const char *at = value;
    int used = 0;

    for (a->curve.n = 0; at == value || *at == ','; a->curve.n++, at += used) {
        uint32_t n = a->curve.n;

        at += at > value;
        if (n == CURVE_MAX || sscanf(at, "%lf:%lf%n", &a->idle_us[n], &a->service_us[n], &used) != 2 ||
            !(a->idle_us[n] >= 0 && a->idle_us[n] <= 1e9 && a->service_us[n] >= 0.001 && a->service_us[n] <= 1e9) ||
            (n > 0 && a->idle_us[n] <= a->idle_us[n - 1]))
            options_refuse(o, "%s '%s': give IDLE:US,... in microseconds, IDLE ascending, at most %u points", l->name,
                           at, CURVE_MAX);
    }
    if (*at != '\0')
        options_refuse(o, "%s '%s': give a comma between two points", l->name, at);
}

#define TO(kind, member) OPTION_INTO(kind, struct arguments, member)
#define GIVEN            .given = offsetof(struct arguments, given)

static const struct option_line lines[] = {
    {"machine", "FILE", "take the number of I/O nodes that have drives from this machine file",
     TO(OPTION_TEXT, machine), GIVEN, .letter = 'm'},
    {"disks", "D", "I/O nodes, with a drive each (default 8)", TO(OPTION_NUMBER, network.disks), 1,
     QUEUEING_MESSAGES_MAX, .given = offsetof(struct arguments, disks)},
    {"buffers", "C", "blocks under way for each I/O node (default 1)", TO(OPTION_NUMBER, network.buffers), 1,
     QUEUEING_MESSAGES_MAX, GIVEN},
    {"routings", "R", "channel-disjoint routings to the I/O nodes, at most D (default 1)",
     TO(OPTION_NUMBER, network.routings), 1, QUEUEING_MESSAGES_MAX, GIVEN},
    {"block", "SIZE", "bytes of a block, such as 4K, up to 1M (default 16K)", TO(OPTION_SIZE, block_bytes), 1,
     FILE_IO_MAX_BYTES, GIVEN},
    {"cpu-time", "US", "service time of the compute node's processor for one block", TO(OPTION_US, network.cpu_us),
     GIVEN},
    {"network-time", "US", "service time of a routing", TO(OPTION_US, network.network_us), GIVEN},
    {"disk-time", "US", "service time of an I/O node with its drive", TO(OPTION_US, network.disk_us), GIVEN},
    {"status-time", "US", "time of the returned status, without a queue (default 0)", TO(OPTION_US, network.status_us),
     GIVEN},
    {"bytes", "SIZE", "size of the file whose rate is predicted, up to 1024M (default 2M)", TO(OPTION_SIZE, file_bytes),
     1, FILE_BYTES_MAX, GIVEN},
    {"curve", "IDLE:US,...", "service time of an I/O node by how long it was idle before, both in us; with --json",
     OPTION_OWN, GIVEN, .take = take_curve},
    {OPTION_JSON(struct arguments, json)},
    {0}};

static const struct options options = {
    .command = "ncube model",
    .usage = "[OPTION...]",
    .summary =
        "Predicts the rate of parallel file I/O from service times, for exponentially distributed service times\n"
        "(exactly, as mean value analysis does) and for constant ones (by simulation). Without options, prints\n"
        "Tables 2 to 4 of the paper beside its figures. Times are in microseconds; for blocks of 4K, 8K and 16K\n"
        "the defaults are the paper's. Reading is the same network: its data go through the routings on the way "
        "back.",
    .line = lines,
};

/* Takes the paper's times where none was given, which -1 says. */
static void take_times_of_paper(struct queueing *q, uint32_t block_bytes)
{
    const struct service *service = service_of(block_bytes);

    if (!service && (q->cpu_us < 0 || q->network_us < 0 || q->disk_us < 0))
        options_refuse(
            &options, "the paper has no times for blocks of %u byte%s: give --cpu-time, --network-time and --disk-time",
            block_bytes, plural(block_bytes));
    q->cpu_us = q->cpu_us < 0 ? service->cpu_us : q->cpu_us;
    q->network_us = q->network_us < 0 ? service->network_us : q->network_us;
    q->disk_us = q->disk_us < 0 ? service->disk_us : q->disk_us;
}

static void check_network(const struct queueing *q)
{
    if (q->routings > q->disks)
        options_refuse(&options, "%u routings to %u I/O node%s: give at most one for each", q->routings, q->disks,
                       plural(q->disks));
    if ((uint64_t)q->disks * q->buffers > QUEUEING_MESSAGES_MAX)
        options_refuse(&options, "%u I/O nodes with %u blocks each: at most %u blocks are under way", q->disks,
                       q->buffers, QUEUEING_MESSAGES_MAX);
    if (!queueing_is_sound(q))
        options_refuse(&options, "each service but that of the status takes at least 0.001 us");
}

/* Returns false, after a line, if the machine file is wrong. */
static bool count_disks(const char *path, uint32_t *disks)
{
    struct machine_config config;

    if (!config_load_for(&options, path, &config))
        return false;
    *disks = 0;
    for (uint32_t i = 0; i < config.topo.n_io; i++)
        *disks += config.topo.io[i].ndrives > 0;
    config_free(&config);
    if (*disks == 0)
        options_refuse(&options, "the machine '%s' has no drives", path);
    return true;
}

int model_command(int argc, char **argv)
{
    struct arguments a = {
        .network = {.disks = 8, .buffers = 1, .routings = 1, .cpu_us = -1, .network_us = -1, .disk_us = -1},
        .block_bytes = 16384,
        .file_bytes = FILE_BYTES};
    a.curve.idle_us = a.idle_us;
    a.curve.service_us = a.service_us;
    options_parse(&options, &a, argc, argv);
    if (!a.given && !a.disks)
        return print_tables(a.json);
    if (a.machine && a.disks)
        options_refuse(&options, "-m and --disks both give the number of I/O nodes; omit one");
    if (a.machine && !count_disks(a.machine, &a.network.disks))
        return 1;
    take_times_of_paper(&a.network, a.block_bytes);
    check_network(&a.network);
    struct prediction p = predict(&a.network, &a.curve, a.block_bytes, a.file_bytes);
    if (a.json)
        return json_print(json_of_prediction(&p, NULL));
    print_heading();
    print_prediction(&p, NULL);
    return 0;
}
