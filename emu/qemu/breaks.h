/*
 * The breakpoints in the debug area (debug_area.h), and the conditions on which they hold: agent expressions, for which
 * ncube and the plugin each have registers and memory of their own. All functions but the last two change it, and are
 * for ncube, while no hart looks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "emu/qemu/agent_expression.h"
#include "emu/qemu/debug_area.h"

#define BREAKS_NONE UINT32_MAX

/* Adds a breakpoint; one that is there gets these conditions in place of its own. The list has expressions, each behind
 * its length in two bytes, the high one first; without one, it holds always. It also does if there is no room for the
 * list: gdb then looks at the condition itself. Returns false if there is no room for the breakpoint. */
bool breaks_add(struct debug_area *a, uint64_t pc, const uint8_t *list, size_t bytes);
/* Returns false if there is none. */
bool breaks_remove(struct debug_area *a, uint64_t pc);
/* Lets that one hold always, from now on. */
void breaks_drop_condition(struct debug_area *a, uint32_t number);
void breaks_clear(struct debug_area *a);
/* Copies those of another area. */
void breaks_copy(struct debug_area *a, const struct debug_area *from);
bool breaks_are_same(const struct debug_area *a, const struct debug_area *b);

/* Returns the number of the breakpoint at an address, or BREAKS_NONE. */
uint32_t breaks_find(const struct debug_area *a, uint64_t pc);
/* Returns true if that one holds: if any of its expressions is true, or has no value, which gdb then says. */
bool breaks_hold(const struct debug_area *a, uint32_t number, const struct agent_ops *ops, void *ctx);
