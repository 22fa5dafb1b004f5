/*
 * Whether a breakpoint holds in front of an instruction of the hart in which the caller runs: its conditions are
 * evaluated with the hart's registers and memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/debug_area.h"

/* To be called when QEMU loads the plugin. `ram`: of the cabinet. */
void plugin_breaks_init(uint8_t *ram, uint64_t bytes);

/* Returns true if there is a breakpoint at this address, and it holds. rough: user code may run ahead of the kernel,
 * whose memory then is not what it is in other passes; a condition that reads it counts as true. */
bool plugin_breaks_hold(const struct debug_area *a, uint64_t pc, bool rough);
