/* The nodes as a debugger sees them, for its own files: target_places.c calls target.c. */
#pragma once

#include "emu/debug/target.h"

/* What the debug area has of a node; NULL: it has ended, or never had the program. target_home_hart: of any node. */
struct debug_hart *target_hart(const struct target *t, uint32_t node);
struct debug_hart *target_home_hart(const struct target *t, uint32_t node);

/* Harts look closely only if there is something to look for; to be called when that has changed. */
void target_set_attention(struct target *t);
bool target_has_break(const struct debug_area *a, uint64_t pc);
/* Returns true if the kernel's own registers are shown (target.h). */
bool target_shows_kernel(const struct target *t, const struct debug_hart *d);
