/*
 * A machine as a machine file describes it, put together from its parts (docs/architecture.md), and taken apart again.
 * run.c does so for one program, boot.c for a machine that is kept up.
 *
 *   machine_configure --> (jobs may be begun) --> machine_build --> machine_run (operate.h) ... --> machine_free
 *
 * One thread. A function that returns -1 has printed one line on standard error.
 */
#pragma once

#include "emu/base/limits.h"
#include "emu/state/machine_data.h"

/* Reads the machine file and makes the front end. Returns 0 or -1; the caller calls machine_free after either. */
int machine_configure(struct machine *m, const struct machine_options *o);

/* Returns what those cabinets of a configured machine need of a host. */
struct limits machine_needs(const struct machine *m, uint32_t first_cabinet, uint32_t end_cabinet);

/* Checks that the host's limits suffice for a configured machine. Returns 0 or -1. */
int machine_check_host(struct machine *m);

/* Returns true if such a machine has one cabinet, whose QEMU has addresses for ncube, too. */
bool machine_fits_inside(const struct machine *m);

/* Opens drives, trace and the file for statistics, starts the cabinets, fills their memory, makes the models. Signals
 * are caught from here on. Returns 0 or -1. */
int machine_build(struct machine *m);

/* Starts the cabinets from first_cabinet to before end_cabinet of a machine that another process models, and fills
 * their memory. The caller has set what else m has: options, numbers of nodes and cabinets, the topology's sizes, but
 * not its I/O nodes: io_nodes says whether there are some. Returns 0 or -1; the caller calls machine_free after
 * either. */
int machine_build_rack(struct machine *m, bool io_nodes, const uint32_t *cycles_of_class);

/* Ends the cabinets and frees everything: no process, shared memory or file of the machine is left. Returns 0, or -1 if
 * the trace could not be written. */
int machine_free(struct machine *m);
