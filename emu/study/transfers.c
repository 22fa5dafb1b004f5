/* What the sections share (experiments.h): transfers, service times, predictions and why they fail. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/network/node_text.h"
#include "emu/tools/paths.h"
#include "emu/study/experiments.h"

#define CURVE_US       72000u      /* the longest pause of a curve */
#define CURVE_REQUESTS 14u         /* of the monitor, for each pause */
#define CURVE_BYTES    (18u << 20) /* that fit on a volume beside the file system's own */
#define SAME           1.02        /* at most so much longer is as long */
#define FULL           0.90        /* a part that is busy for so much of the time holds the others up */

const char *const experiment_side_names[EXPERIMENT_SIDES] = {"WRITE", "READ"};

/* ---- Names ---- */

const char *experiment_bytes_name(uint32_t bytes, char name[EXPERIMENT_NAME_BYTES])
{
    if (bytes % 1048576 == 0)
        snprintf(name, EXPERIMENT_NAME_BYTES, "%u MB", bytes / 1048576);
    else if (bytes % 1024 == 0)
        snprintf(name, EXPERIMENT_NAME_BYTES, "%u KB", bytes / 1024);
    else
        snprintf(name, EXPERIMENT_NAME_BYTES, "%u B", bytes);
    return name;
}

/* The I/O node of volume *i of a machine, which has it; *i becomes its drive there. */
static const struct topo_io_node *find_volume(const struct study_machine *m, uint32_t *i)
{
    const struct topo_io_node *io = m->config.topo.io;

    for (; *i >= io->ndrives; io++)
        *i -= io->ndrives;
    return io;
}

const char *experiment_volume_name(const struct study_machine *m, uint32_t i)
{
    const struct topo_io_node *io = find_volume(m, &i);

    return io->drive[i].volume;
}

static uint32_t io_node_of(const struct study_machine *m, uint32_t i)
{
    return find_volume(m, &i)->node;
}

uint32_t experiment_odd_volume(const struct study_machine *m, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t first_drive = 0, drive = i;
        const struct topo_io_node *first = find_volume(m, &first_drive), *io = find_volume(m, &drive);
        const struct topo_drive *a = &first->drive[first_drive], *b = &io->drive[drive];

        if (strcmp(a->model, b->model) != 0 || a->rpm != b->rpm || memcmp(&a->cache, &b->cache, sizeof a->cache) != 0 ||
            first->ndrives != io->ndrives || first->concurrent != io->concurrent)
            return i;
    }
    return 0;
}

/* ---- Transfers ---- */

/* Appends to a text of STUDY_WORDS_BYTES; sections ask for nothing longer. */
static void append(char *text, const char *separator, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, STUDY_WORDS_BYTES - n, "%s%s", n > 0 ? separator : "", more);
}

static void append_number(char *text, const char *separator, const char *name, uint32_t number)
{
    char word[64];

    snprintf(word, sizeof word, "%s%u", name, number);
    append(text, separator, word);
}

static uint32_t bytes_of(const struct experiment *x, const struct transfer *t)
{
    return t->bytes > 0 ? t->bytes : x->bytes;
}

static void name_nodes(const struct transfer *t, struct study_measure *m)
{
    uint32_t highest = 0;

    for (uint32_t i = 0; i < t->nodes || i == 0; i++) {
        uint32_t node = t->node ? t->node[i] : 0;

        append_number(m->nodes, ",", "", node);
        highest = node > highest ? node : highest;
    }
    while (highest >> m->dim)
        m->dim++;
}

static void name_volumes(const struct transfer *t, struct study_measure *m)
{
    char volumes[STUDY_WORDS_BYTES] = "";

    for (uint32_t i = 0; i < t->disks; i++)
        append(volumes, ",", experiment_volume_name(t->machine, t->first_volume + i * (t->step ? t->step : 1)));
    append(m->words, " ", "volumes=");
    append(m->words, "", volumes);
}

const struct study_measure *experiment_transfer(struct experiment *x, const struct transfer *t)
{
    struct study_measure m = {.machine = t->machine, .program = STUDY_PIOBENCH};

    name_nodes(t, &m);
    append_number(m.words, " ", "bytes=", bytes_of(x, t));
    name_volumes(t, &m);
    if (t->plain)
        append(m.words, " ", "plain");
    else {
        append_number(m.words, " ", "B=", t->block_bytes);
        append_number(m.words, " ", "C=", t->buffers);
    }
    if (t->request_bytes > 0)
        append_number(m.words, " ", "request=", t->request_bytes);
    if (t->random)
        append(m.words, " ", "random");
    return study_measure(&x->study, &m);
}

/* ---- Service times ---- */

static double number(const json_t *line, const char *key)
{
    return json_number_value(json_object_get(line, key));
}

/* The model's machines have the same nodes and drives: what is measured on one of them alone holds for all. */
static const struct study_machine *representative(const struct experiment *x, const struct study_machine *m)
{
    return m >= x->model && m < x->model + MODELS ? &x->model[MODEL_1] : m;
}

/* As much as one of EXPERIMENT_VOLUMES volumes gets of a transfer, but whole blocks. */
static struct transfer one_volume(const struct experiment *x, const struct study_machine *machine, uint32_t block_bytes,
                                  uint32_t buffers)
{
    uint32_t blocks = x->bytes / EXPERIMENT_VOLUMES / block_bytes;

    return (struct transfer){.machine = representative(x, machine),
                             .disks = 1,
                             .block_bytes = block_bytes,
                             .buffers = buffers,
                             .bytes = (blocks > 0 ? blocks : 1) * block_bytes};
}

/* Blocks one at a time, on one volume. */
struct busy experiment_busy(struct experiment *x, const struct study_machine *machine, int side, uint32_t block_bytes)
{
    struct transfer t = one_volume(x, machine, block_bytes, 1);
    const struct study_side *s = experiment_side(experiment_transfer(x, &t), side);
    double block_us = s->us / ((double)t.bytes / block_bytes);

    return (struct busy){.processor_us = s->use.processor * block_us,
                         .channel_us = s->use.channel * block_us,
                         .server_us = s->use.server * block_us,
                         .drive_us = s->use.drive * block_us};
}

struct service experiment_service(struct experiment *x, const struct study_machine *machine, int side,
                                  uint32_t block_bytes)
{
    struct study_measure m = {.machine = machine, .program = STUDY_DISKMON};
    const char *op = side == EXPERIMENT_WRITE ? "write" : "read";
    json_t *line;
    size_t i;

    append(m.words, "", experiment_volume_name(machine, 0));
    append_number(m.words, " ", "", block_bytes);
    const struct study_measure *measure = study_measure(&x->study, &m);
    double processor_us = experiment_busy(x, machine, side, block_bytes).processor_us;
    json_array_foreach(measure->write.lines, i, line)
    {
        if (strcmp(json_string_value(json_object_get(line, "op")), op) != 0)
            continue;
        double out_us = number(line, "out_us"), back_us = number(line, "back_us");
        bool writing = side == EXPERIMENT_WRITE;
        return (struct service){.cpu_us = processor_us,
                                .monitor_cpu_us = number(line, "cpu_us"),
                                .network_us = writing ? out_us : back_us,
                                .disk_us = number(line, "us"),
                                .status_us = writing ? back_us : out_us};
    }
    return (struct service){0};
}

/* The monitor's requests never find an I/O node that was busy until then. So the curve goes on to its first point as
 * between the first two, but no steeper than a drive turns. */
static void extend_to_zero(struct curve *c)
{
    double fall = (c->service_us[1] - c->service_us[2]) / (c->idle_us[2] - c->idle_us[1]);

    c->idle_us[0] = 0;
    c->service_us[0] = c->service_us[1] + fmin(fmax(fall, 0), 1) * c->idle_us[1];
}

void experiment_curve(struct experiment *x, const struct study_machine *machine, int side, uint32_t block_bytes,
                      struct curve *c)
{
    const char *op = side == EXPERIMENT_WRITE ? "write" : "read";
    struct study_measure m = {.machine = representative(x, machine), .program = STUDY_DISKMON};
    json_t *line;
    size_t i;

    uint32_t pauses = CURVE_BYTES / CURVE_REQUESTS / block_bytes;
    pauses = pauses < EXPERIMENT_PAUSES ? pauses : EXPERIMENT_PAUSES;
    append(m.words, "", experiment_volume_name(machine, 0));
    append_number(m.words, " ", "pauses=", CURVE_US / pauses);
    append_number(m.words, "", ",", pauses);
    append_number(m.words, " ", "", block_bytes);
    const struct study_measure *measure = study_measure(&x->study, &m);
    c->n = 1;
    json_array_foreach(measure->write.lines, i, line)
    {
        if (strcmp(json_string_value(json_object_get(line, "op")), op) != 0 || c->n == EXPERIMENT_POINTS)
            continue;
        c->idle_us[c->n] = number(line, "idle_us");
        c->service_us[c->n++] = number(line, "us");
    }
    if (c->n > 2)
        extend_to_zero(c);
    else
        c->n = 0;
}

/* ---- Predictions ---- */

/* The paths of a transfer's data, one for each volume; the caller frees them. */
static struct path *find_paths(const struct transfer *t, int side)
{
    struct path *path = memory_new(t->disks, sizeof *path);
    uint32_t node = t->node ? t->node[0] : 0;

    for (uint32_t i = 0; i < t->disks; i++) {
        uint32_t io_node = io_node_of(t->machine, t->first_volume + i * (t->step ? t->step : 1));

        path_find(&t->machine->config.topo, side == EXPERIMENT_WRITE ? node : io_node,
                  side == EXPERIMENT_WRITE ? io_node : node, NCU_VIA_NEAREST, &path[i]);
    }
    return path;
}

uint32_t experiment_routings(const struct transfer *t, int side)
{
    struct path *path = find_paths(t, side);
    uint32_t n = paths_disjoint(path, t->disks);

    free(path);
    return n;
}

/* How many of the paths go through a channel. */
static uint32_t count_paths(const struct transfer *t, int side, const struct study_use *u)
{
    struct path *path = find_paths(t, side);
    uint32_t n = 0, from, number;

    for (uint32_t i = 0; i < t->disks; i++)
        for (uint32_t h = 0; h < path[i].hops; h++) {
            topo_channel_start(&t->machine->config.topo, path[i].channel[h], &from, &number);
            n += from == u->channel_from && number == u->channel_number;
        }
    free(path);
    return n;
}

struct prediction experiment_predict(struct experiment *x, const struct transfer *t, int side)
{
    uint32_t routings = experiment_routings(t, side), blocks = (bytes_of(x, t) + t->block_bytes - 1) / t->block_bytes;
    struct service service = experiment_service(x, t->machine, side, t->block_bytes);
    double mb = bytes_of(x, t) / STUDY_MB;
    struct queueing q = {.disks = t->disks,
                         .buffers = t->buffers,
                         .routings = routings < t->disks ? routings : t->disks,
                         .cpu_us = service.cpu_us,
                         .network_us = service.network_us,
                         .disk_us = service.disk_us,
                         .status_us = service.status_us};
    struct curve curve = {.n = 0};
    experiment_curve(x, t->machine, side, t->block_bytes, &curve);
    bool unlike = t->machine == &x->machine && x->odd_volume > 0;
    if (x->study.collecting || unlike || !queueing_is_sound(&q))
        return (struct prediction){0};
    struct prediction p = {.constant_mb_s = mb / (queueing_constant_us(&q, blocks) / 1e6),
                           .exact_mb_s = queueing_exact(&q).per_s * t->block_bytes / STUDY_MB};
    if (curve.n > 0) {
        const struct queueing_curve c = {curve.n, curve.idle_us, curve.service_us};
        p.turning_mb_s = mb / (queueing_turning_us(&q, &c, blocks) / 1e6);
    }
    return p;
}

/* ---- Explanations ---- */

/* "channel 2 of node 3, which carries the data of 4 of the 8 volumes," */
static void name_channel(const struct transfer *t, int side, const struct study_use *u, char *name, size_t bytes)
{
    char from[NODE_SHORT_NAME_BYTES];

    snprintf(name, bytes, "channel %u of node %s, which carries the data of %u of the %u volumes,", u->channel_number,
             node_short_name(u->channel_from, from), count_paths(t, side, u), t->disks);
}

static uint32_t count_blocks(const struct experiment *x, const struct transfer *t)
{
    return (bytes_of(x, t) + t->block_bytes - 1) / t->block_bytes;
}

/* A channel that is always busy: because the wiring is uneven, or because a block holds it for longer than alone. */
static void name_channel_cause(struct experiment *x, const struct transfer *t, int side, const struct study_side *s,
                               char *cause, size_t bytes)
{
    uint32_t paths = count_paths(t, side, &s->use), routings = experiment_routings(t, side);
    struct service service = experiment_service(x, t->machine, side, t->block_bytes);
    double held_us = s->use.channel * s->us * t->disks / paths / count_blocks(x, t);
    char channel[160];

    name_channel(t, side, &s->use, channel, sizeof channel);
    if (paths * routings > t->disks)
        snprintf(cause, bytes,
                 "Most is asked of %s and is busy %.0f %% of the time; the model has %.4g on each routing.", channel,
                 100 * s->use.channel, (double)t->disks / routings);
    else if (held_us <= SAME * service.network_us)
        snprintf(cause, bytes, "Most is asked of %s and is busy %.0f %% of the time.", channel, 100 * s->use.channel);
    else
        snprintf(cause, bytes,
                 "Most is asked of %s and is busy %.0f %% of the time. A block holds it for %.2f ms instead of the "
                 "monitor's %.2f ms: its header waits until the receiver, which is at work on the block before, has a "
                 "buffer for it.",
                 channel, 100 * s->use.channel, held_us / 1e3, service.network_us / 1e3);
}

/* The processor is always busy, and with a block for longer than when blocks come one at a time. */
static void name_processor(struct experiment *x, const struct transfer *t, int side, const struct study_side *s,
                           char *cause, size_t bytes)
{
    double alone_us = experiment_service(x, t->machine, side, t->block_bytes).cpu_us;
    double each_us = s->use.processor * s->us / count_blocks(x, t);

    snprintf(
        cause, bytes,
        "The compute node's processor is busy %.0f %% of the time, %.2f ms for each block; one alone takes %.2f ms, "
        "as its reply finds the process waiting and need not be queued.",
        100 * s->use.processor, each_us / 1e3, alone_us / 1e3);
}

/* The data of a transfer of which no part is always busy; each part may still wait for the others. */
static void name_parts(struct experiment *x, const struct transfer *t, int side, const struct study_side *s,
                       const char *channel, char *cause, size_t bytes)
{
    uint32_t paths = count_paths(t, side, &s->use), routings = experiment_routings(t, side);
    double each_us = s->use.drive * s->us * t->disks / count_blocks(x, t);
    char uneven[120] = "";

    if (paths * routings > t->disks)
        snprintf(uneven, sizeof uneven,
                 " The model has %.4g volumes on each routing, so blocks wait here that it lets pass.",
                 (double)t->disks / routings);
    snprintf(
        cause, bytes,
        "Nothing is busy all the time: the drives %.0f %%, at %.1f ms for each block; %s %.0f %%; the compute node's "
        "processor %.0f %%.%s",
        100 * s->use.drive, each_us / 1e3, channel, 100 * s->use.channel, 100 * s->use.processor, uneven);
}

void experiment_cause(struct experiment *x, const struct transfer *t, int side, char cause[EXPERIMENT_CAUSE_BYTES])
{
    const struct study_side *s = experiment_side(experiment_transfer(x, t), side);
    struct service service = experiment_service(x, t->machine, side, t->block_bytes);
    double each_us = s->use.drive * s->us * t->disks / count_blocks(x, t);
    const size_t bytes = EXPERIMENT_CAUSE_BYTES;
    char channel[160];

    name_channel(t, side, &s->use, channel, sizeof channel);
    if (s->use.channel >= FULL && s->use.channel >= s->use.drive && count_paths(t, side, &s->use) > 0)
        name_channel_cause(x, t, side, s, cause, bytes);
    else if (s->use.drive >= FULL)
        snprintf(cause, bytes,
                 "The drives are busy %.0f %% of the time, %.1f ms for each block. The monitor's requests, which come "
                 "at another angle of the platters, took %.1f ms with the server's part.",
                 100 * s->use.drive, each_us / 1e3, service.disk_us / 1e3);
    else if (s->use.processor >= FULL)
        name_processor(x, t, side, s, cause, bytes);
    else
        name_parts(x, t, side, s, channel, cause, bytes);
}

double experiment_paper_mb_s(const struct transfer *t, int side)
{
    static const struct {
        uint32_t routings, block_bytes, buffers;
        double mb_s;
    } row[] = {{1, 4096, 1, 1.40323},  {1, 8192, 1, 1.89394},  {1, 16384, 1, 2.09415}, {4, 16384, 1, 3.84260},
               {8, 16384, 1, 4.05712}, {1, 16384, 2, 2.11595}, {4, 16384, 2, 5.02614}, {8, 16384, 2, 5.31237}};
    uint32_t routings = experiment_routings(t, side);

    for (size_t i = 0; side == EXPERIMENT_WRITE && t->disks == EXPERIMENT_VOLUMES && i < sizeof row / sizeof *row; i++)
        if (row[i].routings == routings && row[i].block_bytes == t->block_bytes && row[i].buffers == t->buffers)
            return row[i].mb_s;
    return 0;
}

/* Adds "12 % less than WHAT", if the measurement differs from `predicted` by more than `limit`. */
static bool add_difference(char *text, size_t bytes, double mb_s, double predicted, double limit, const char *what)
{
    double difference = predicted > 0 ? mb_s / predicted - 1 : 0;
    size_t n = strlen(text);

    if (fabs(difference) <= limit)
        return false;
    snprintf(text + n, bytes - n, "%s%.0f %% %s than %s", n > 0 ? ", and " : "", 100 * fabs(difference),
             difference < 0 ? "less" : "more", what);
    return true;
}

void experiment_explain(struct experiment *x, const struct transfer *t, int side, double limit)
{
    struct prediction p = experiment_predict(x, t, side);
    double mb_s = experiment_side(experiment_transfer(x, t), side)->mb_s, paper = experiment_paper_mb_s(t, side);
    char text[200] = "", cause[EXPERIMENT_CAUSE_BYTES], block[EXPERIMENT_NAME_BYTES], predicts[64];

    if (x->study.collecting)
        return;
    if (!add_difference(text, sizeof text, mb_s, p.constant_mb_s, EXPERIMENT_LARGE, "constant service times predict"))
        add_difference(text, sizeof text, mb_s, p.turning_mb_s, limit, "turning drives predict");
    snprintf(predicts, sizeof predicts, "the paper predicts (%.2f MB/s)", paper);
    add_difference(text, sizeof text, mb_s, paper, EXPERIMENT_LARGE, predicts);
    if (text[0] == '\0')
        return;
    experiment_cause(x, t, side, cause);
    page_item(x->page, "%s, node %u of %s, D = %u, B = %s, C = %u: %s. %s", experiment_side_names[side],
              t->node ? t->node[0] : 0, t->machine->name, t->disks, experiment_bytes_name(t->block_bytes, block),
              t->buffers, text, cause);
}
