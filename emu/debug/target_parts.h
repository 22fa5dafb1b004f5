/* The nodes as a debugger sees them, for its own files: target_places.c calls target_breaks.c and target.c. */
#pragma once

#include "emu/debug/target.h"

/* What the debug area has of a node; NULL: it has ended, or never had the program. target_home_hart: of any node. */
struct debug_hart *target_hart(const struct target *t, uint32_t node);
struct debug_hart *target_home_hart(const struct target *t, uint32_t node);

/* Harts look closely only if there is something to look for; to be called when that has changed. */
void target_set_attention(struct target *t);
/* Returns true if a node that has stopped for that is at a breakpoint that holds there now, or behind an access to what
 * is watched. */
bool target_holds(const struct target *t, uint32_t node, enum debug_why why);
/* Returns true if the kernel's own registers are shown (target.h). */
bool target_shows_kernel(const struct target *t, const struct debug_hart *d);
