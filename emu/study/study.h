/*
 * A study of parallel file I/O: measurements, each on a machine and fresh images of its own, run side by side as
 * processes `ncube run`; what they printed, and what the machine's statistics show was busy meanwhile.
 *
 *   study_new --> (a section asks for measurements) --> study_run_all --> (it asks again, and has them) --> study_free
 *
 * So a section of the report is one function, called twice: while a study is collecting, study_measure notes what is
 * wanted and returns zeros; afterwards it returns what came of it. Nothing may depend on the figures but text.
 */
#ifndef NCUBE_STUDY_H
#define NCUBE_STUDY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/config/config.h"

#define STUDY_MB           1048576.0 /* [P0]'s: 64 rounds of 8 blocks of 4 Kbytes are 2 of them */
#define STUDY_WORDS_BYTES  640
#define STUDY_NAME_BYTES   64
#define STUDY_SETTINGS_MAX 32   /* of --set */
#define STUDY_ERROR_BYTES  4608 /* as a machine file's */

enum study_program { STUDY_PIOBENCH, STUDY_DISKMON };
extern const char *const study_program_names[];

struct study_machine {
    char name[STUDY_NAME_BYTES]; /* of its file, without the folder: what the report says */
    char *path;                  /* of a file whose images are relative */
    struct machine_config config;
};

/* What was busy while the calls ran, as parts of that time; the busiest of each kind. The statistics
 * (docs/statistics.md) count from the machine's start. So the same run is cut off where the calls begin, and where they
 * end, and this is the difference. */
struct study_use {
    double processor; /* of a compute node */
    double drive;     /* its controller executed a command */
    double server;    /* the processor of an I/O node */
    double channel;   /* a message held it */
    uint32_t channel_from, channel_number;
};

struct study_side {        /* of one operation */
    double from_us, to_us; /* the first node's begin, the last one's end */
    double us;
    double set_up_us; /* what opening before and closing behind it took the node that took longest */
    double mb_s;      /* of all nodes together */
    struct study_use use;
    json_t *lines; /* what the program printed, as objects */
};

struct study_measure {
    const struct study_machine *machine;
    enum study_program program;
    char nodes[STUDY_WORDS_BYTES]; /* piobench: which of them transfer, separated by commas */
    uint32_t dim;                  /* of the subcube */
    char words[STUDY_WORDS_BYTES]; /* its further arguments, separated by spaces */
    struct study_side write, read; /* a monitor prints everything in `write` */
    bool done;
};

struct study {
    const char *self, *examples; /* ncube's executable; the folder of the programs */
    char *work;                  /* temporary folder */
    bool collecting;
    uint32_t processors; /* of the host, to use */
    struct study_measure **measure;
    size_t n, room;
    char error[STUDY_ERROR_BYTES]; /* of study_run_all */
};

/* Returns the measurement like m, of which only the first members are read, up to `words`. It belongs to the study, and
 * is filled with zeros while that is collecting. */
const struct study_measure *study_measure(struct study *s, const struct study_measure *m);

/* Runs all measurements. Returns 0; -1 with one line in s->error; or the number of a signal that asked for the end. No
 * process of its own is left. */
int study_run_all(struct study *s);

/* Reads what the measurement's runs left in `folder`. Returns 0, or -1 with a line in s->error. */
int study_read_outcome(struct study *s, struct study_measure *m, const char *folder);

/* Reads what an operation printed into the folder: the side but for `use`. Returns false if that is no measurement. The
 * caller drops side->lines. */
bool study_read_times(struct study_side *side, const char *folder, const char *operation);

/* Removes a folder and what is in it. */
void study_remove_folder(const char *folder);

/* The raw figures of all measurements, as a JSON array that the caller drops. */
json_t *study_json(const struct study *s);

/* Frees the measurements and removes the temporary folder. */
void study_free(struct study *s);

#endif
