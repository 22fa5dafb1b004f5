/*
 * The NCU's instructions, as a hart executes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/slots.h"

/* Returns op for `slti x0, x0, op`, else 0. ncube refuses an op that does not exist. */
uint32_t ncu_op_of(uint32_t insn);

/* Returns true if a hart waits at this instruction: then it can leave its block (plugin_flush.h), since its registers
 * are in memory. */
bool ncu_waits(uint32_t op);

/* Executes the instruction whose op is `userdata`: in the plugin, or by stopping the hart. */
void hart_execute_ncu(unsigned hart, void *userdata);

/* Returns the cycles before which user code that is running now brings no SEND or ARM. At the end of its quantum the
 * kernel may attend, without a way in. */
uint64_t user_quiet(const struct slot *s);
