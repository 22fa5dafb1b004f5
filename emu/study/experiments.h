/*
 * The report of `ncube experiments`: its sections, and what they share.
 *
 * Each section is called twice (study.h): first to learn which measurements it needs, then to write.
 */
#ifndef NCUBE_EXPERIMENTS_H
#define NCUBE_EXPERIMENTS_H

#include "emu/tools/place.h"
#include "emu/tools/queueing.h"
#include "emu/report/report_page.h"
#include "emu/study/study.h"

#define EXPERIMENT_VOLUMES 8u /* [P0 section 4]: D */

enum { EXPERIMENT_WRITE, EXPERIMENT_READ, EXPERIMENT_SIDES };
extern const char *const experiment_side_names[EXPERIMENT_SIDES]; /* "WRITE", "READ" */

enum experiment_model { MODEL_1, MODEL_4, MODEL_8, MODEL_WIDE, MODELS };

struct experiment {
    struct study study;
    struct page *page;
    struct study_machine machine;       /* the user's */
    struct study_machine model[MODELS]; /* the model's: from node 0, 1, 4 and 8 routings to 8 I/O nodes; 4 to 16 */
    struct place *place;                /* the user's machine's compute nodes, the best first; NULL: no volumes */
    uint32_t volumes;                   /* of the user's machine, that are used: at most EXPERIMENT_VOLUMES */
    uint32_t odd_volume;                /* the first of them that is not as volume 0; 0: they are alike */
    uint32_t bytes;                     /* of one transfer */
};

struct experiment_section {
    const char *name, *title;
    void (*write)(struct experiment *x);
};

extern const struct experiment_section section_service, section_plain, section_figures, section_model, section_disks,
    section_buffers, section_blocks, section_random, section_nodes;

/* ---- A transfer ---- */

struct transfer {
    const struct study_machine *machine;
    const uint32_t *node; /* which nodes transfer at the same time; NULL: node 0 */
    uint32_t nodes;
    uint32_t first_volume, step, disks;           /* which volumes of the machine: first_volume + i * step */
    uint32_t block_bytes, buffers, request_bytes; /* request_bytes 0: all in one call */
    bool plain, random;
    uint32_t bytes; /* of each node; 0: x->bytes */
};

/* Returns the measurement of a transfer of x->bytes from each node. */
const struct study_measure *experiment_transfer(struct experiment *x, const struct transfer *t);

static inline const struct study_side *experiment_side(const struct study_measure *m, int side)
{
    return side == EXPERIMENT_WRITE ? &m->write : &m->read;
}

/* ---- Service times ---- */

struct service {
    double cpu_us, network_us, disk_us, status_us; /* as struct queueing has them */
    double monitor_cpu_us; /* what the monitor sees of cpu_us: from a reply to the next request */
};

/* Returns what was measured on a machine for blocks of so many bytes, one at a time: by the monitor, and cpu_us by the
 * statistics, since the processor works for a block also while others hold it. Zeros while collecting. */
struct service experiment_service(struct experiment *x, const struct study_machine *m, int side, uint32_t block_bytes);

#define EXPERIMENT_PAUSES 72
#define EXPERIMENT_POINTS (EXPERIMENT_PAUSES + 1)

/* What the monitor measured when the I/O node was idle for longer and longer before each request; before the shortest
 * time, up to an I/O node that is never idle, the curve is extended. No transfer that it is to predict is in it. */
struct curve {
    double idle_us[EXPERIMENT_POINTS], service_us[EXPERIMENT_POINTS];
    uint32_t n; /* 0 while collecting */
};

void experiment_curve(struct experiment *x, const struct study_machine *m, int side, uint32_t block_bytes,
                      struct curve *c);

/* ---- Predictions ---- */

struct prediction {
    double constant_mb_s; /* of the whole transfer, its beginning and end included */
    double turning_mb_s;  /* the same with drives that turn on between requests (experiment_curve) */
    double exact_mb_s;    /* of the steady state, with exponential service times */
};

/* Predicts a transfer of one node with the service times of its machine; */
struct prediction experiment_predict(struct experiment *x, const struct transfer *t, int side);

/* Returns the channel-disjoint routings of a transfer's data: to the volumes for WRITE, from them for READ. */
uint32_t experiment_routings(const struct transfer *t, int side);

/* Returns what the paper's Tables 2 to 4 predict for such a transfer; 0: nothing. They are of PIO WRITE with 1, 4 and 8
 * routings to 8 volumes. */
double experiment_paper_mb_s(const struct transfer *t, int side);

#define EXPERIMENT_LARGE       0.10 /* a difference that needs a sentence */
#define EXPERIMENT_CAUSE_BYTES 600

/* Adds an item about what was busy, if a measurement differs by more than EXPERIMENT_LARGE from constant service times,
 * or else by more than `limit` from turning drives; or by more than EXPERIMENT_LARGE from the paper's figure. */
void experiment_explain(struct experiment *x, const struct transfer *t, int side, double limit);

/* Says what holds a transfer up, from the statistics. */
void experiment_cause(struct experiment *x, const struct transfer *t, int side, char cause[EXPERIMENT_CAUSE_BYTES]);

/* For how long a block keeps each part busy, by the statistics, when blocks come one at a time. */
struct busy {
    double processor_us, channel_us, server_us, drive_us;
};

struct busy experiment_busy(struct experiment *x, const struct study_machine *m, int side, uint32_t block_bytes);

/* "16 KB" */
#define EXPERIMENT_NAME_BYTES 24
const char *experiment_bytes_name(uint32_t bytes, char name[EXPERIMENT_NAME_BYTES]);

/* Returns the first of n volumes of a machine that is on another kind of drive or I/O node than volume 0; 0: none. */
uint32_t experiment_odd_volume(const struct study_machine *m, uint32_t n);
const char *experiment_volume_name(const struct study_machine *m, uint32_t i);

#endif
