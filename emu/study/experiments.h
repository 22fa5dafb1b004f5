/*
 * The report of `ncube experiments`: its sections, and what they share.
 *
 * Each section is called twice (study.h): first to learn which measurements it needs, then to write.
 */
#ifndef NCUBE_EXPERIMENTS_H
#define NCUBE_EXPERIMENTS_H

#include "emu/cmd/place.h"
#include "emu/cmd/queueing.h"
#include "emu/study/page.h"
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
    uint32_t bytes;                     /* of one transfer */
};

struct experiment_section {
    const char *name, *title;
    void (*write)(struct experiment *x);
};

extern const struct experiment_section section_service, section_plain, section_figures;

/* ---- A transfer ---- */

struct transfer {
    const struct study_machine *machine;
    const uint32_t *node; /* which nodes transfer at the same time; NULL: node 0 */
    uint32_t nodes;
    uint32_t first_volume, step, disks;           /* which volumes of the machine: first_volume + i * step */
    uint32_t block_bytes, buffers, request_bytes; /* request_bytes 0: all in one call */
    bool plain, random;
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
};

/* Returns what the monitor measured on a machine for blocks of so many bytes; zeros while collecting. */
struct service experiment_service(struct experiment *x, const struct study_machine *m, int side, uint32_t block_bytes);

/* ---- Predictions ---- */

struct prediction {
    double constant_mb_s; /* of the whole transfer, its beginning and end included */
    double exact_mb_s;    /* of the steady state, with exponential service times */
};

/* Predicts a transfer of one node with the service times of its machine. */
struct prediction experiment_predict(struct experiment *x, const struct transfer *t, int side);

/* Returns the channel-disjoint routings of a transfer's data: to the volumes for WRITE, from them for READ. */
uint32_t experiment_routings(const struct transfer *t, int side);

/* Adds an item about a measurement that differs from its prediction by more than 10 %: what was busy. */
void experiment_explain(struct experiment *x, const struct transfer *t, int side, double predicted_mb_s);

/* "16 KB" */
#define EXPERIMENT_NAME_BYTES 24
const char *experiment_bytes_name(uint32_t bytes, char name[EXPERIMENT_NAME_BYTES]);

/* Volumes of a machine. */
uint32_t experiment_count_volumes(const struct study_machine *m);
const char *experiment_volume_name(const struct study_machine *m, uint32_t i);

#endif
