/*
 * The one program of a machine that gdb debugs, or of which core files are written: m->debugged_job.
 */
#pragma once

#include "emu/state/machine_data.h"
#include "emu/debug/target.h"

/* NULL: there is none, or it has been forgotten. */
struct job *debugged_job(const struct machine *m);

/* Returns the part of the job that the node runs. */
uint32_t debugged_part(const struct job *j, uint32_t node);

/* For struct target; ctx is the machine. */
extern const struct target_ops debugged_ops;

/* Say the virtual time, and what each node does or waits for. */
void debugged_say_time(struct machine *m, void (*say)(void *to, const char *line), void *to);
void debugged_say_nodes(struct machine *m, void (*say)(void *to, const char *line), void *to);

/* Finds an address in vertex.elf. Returns 0, or -1. */
int debugged_find_symbol(struct machine *m, const char *name, uint64_t *pc);
