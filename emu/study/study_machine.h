/* The machines of a study: copies of machine files, whose images lie in the folder that --images names. */
#ifndef NCUBE_STUDY_MACHINE_H
#define NCUBE_STUDY_MACHINE_H

#include "emu/study/study.h"

/* Reads a machine file and writes a copy of it to the path `copy`, in which image paths are "VOLUME.img": the
 * user's own images are never opened. Returns 0, and the caller calls study_machine_free; or -1 with a line in error
 * (STUDY_ERROR_BYTES). */
int study_machine_load(struct study_machine *m, const char *path, const char *copy, char *error);
void study_machine_free(struct study_machine *m);

#endif
