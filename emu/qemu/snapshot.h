/*
 * A node's whole state, for a comparison: all its memory, and the registers of its hart as the plugin has written them
 * into the slot (slots.h: watch). A hart whose state is the same at two traps, and which has done nothing between them
 * that ncube has seen, does the same again for as long as no cause comes (emu/time/sched_poll.c).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/cabinet.h"
#include "emu/qemu/slots.h"

struct snapshot;

/* Copies the state of a stopped hart whose registers are in its slot. The caller frees it. */
struct snapshot *snapshot_take(const struct cabinet *c, uint32_t hart, const struct slot *slot);
/* Returns true if the state of the hart is the same now. It is stopped again, with its registers in the slot. */
bool snapshot_matches(const struct snapshot *s, const struct slot *slot);
/* NULL is allowed. */
void snapshot_free(struct snapshot *s);
