/*
 * The addresses to return to on the stack of a process that a fault has ended. Vertex knows nothing of a program's
 * frames; it keeps every word of the stack that is the address after a call, and where it lies. The front end has the
 * program's file, whose call frame information tells which of them count (emu/job/frames.c).
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/system.h"
#include "vertex/memory/vm.h"

/* Finds the first EXIT_RETURNS_MOST above sp, in at most 64 KB of the stack. The space need not be active. Returns how
 * many there are. */
uint32_t returns_find(struct vm *vm, uint64_t sp, struct exit_return *found);
