/*
 * `ncube run --core=DIR`: when the program dies, the state of its nodes goes into the folder: core.N of each node
 * (emu/debug/core.h), and `nodes`, a text that says what each did and what was under way.
 *
 *   fault of a node     its core, where it was; the other nodes are killed then
 *   killed, a signal    each node's core when its process is ended
 *   deadlock, --limit   the cores of all nodes that have not ended, as they stand
 *
 * Without the option nothing here does anything.
 */
#pragma once

#include "emu/state/machine_data.h"

/* Checks the folder, and makes it if it is missing. Returns 0, or -1. */
int cores_open(struct machine *m);
/* Has the harts stop where processes end; before the cabinets start. Returns 0, or -1. */
int cores_prepare(struct machine *m);
/* The program of job `id` is about to be loaded. */
void cores_begin(struct machine *m, uint32_t id);
/* Writes the cores of all nodes that have not ended: nothing more happens. */
void cores_write_all(struct machine *m);
/* Says what has been written, at the end of the run. */
void cores_tell(const struct machine *m);
/* Likewise, when the job has ended and others go on. */
void cores_end(struct machine *m);
void cores_close(struct machine *m);

/* struct sched_ops: stands. */
bool cores_stand(void *machine, uint32_t running);
