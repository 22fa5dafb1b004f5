/*
 * Each cabinet has one more hart than nodes, its injector, through which the scheduler interrupts a running hart: it
 * writes the interrupt registers of the others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/state/machine_data.h"

/* Brings the injectors to where they wait for work. They must be there before a node can be interrupted. Returns 0, or
 * -1 after one line if a cabinet was lost. */
int machine_start_injectors(struct machine *m);

/* For struct sched_ops, with the machine as ctx: interrupts those nodes. Returns false if a cabinet was lost. */
bool machine_raise(void *ctx, const uint32_t *nodes, uint32_t n);
