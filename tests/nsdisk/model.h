/*
 * A model of a small file tree in memory, and random operations on a volume and the model together. Whatever the volume
 * answers must be what the model says; at any time all of it can be compared.
 *
 * Names: /a to /h, and in directories among them /a/a to /h/h. Files hold up to MODEL_FILE_BYTES, with holes.
 */
#pragma once

#include "tests/nsdisk/volume.h"

#define MODEL_NAMES      8
#define MODEL_SLOTS      (MODEL_NAMES + MODEL_NAMES * MODEL_NAMES) /* top level, then below each */
#define MODEL_FILES      MODEL_SLOTS
#define MODEL_FILE_BYTES 400000u

enum model_kind { MODEL_NONE, MODEL_FILE, MODEL_DIR };

struct model_file {
    uint32_t size, links;
    uint8_t *bytes; /* MODEL_FILE_BYTES */
};

struct model {
    enum model_kind kind[MODEL_SLOTS];
    int file[MODEL_SLOTS];
    struct model_file files[MODEL_FILES];
    uint64_t random;
    bool directories_stay; /* none is renamed */
    const char *last;      /* the last operation, for messages */
    int32_t got, expected;
};

void model_init(struct model *m, uint32_t seed);
void model_free(struct model *m);
void model_copy(struct model *to, const struct model *from);
/* One random operation on both. False: the volume answered otherwise than the model. */
bool model_step(struct model *m, struct volume *v);
/* Compares every name and every byte; NULL, or what differs. */
const char *model_compare(const struct model *m, struct volume *v);
void model_name(int slot, char name[8]);
