/*
 * Empties QEMU's buffer for translated code while all harts of the cabinet are stopped, so that a machine that is kept
 * up may execute any number of programs.
 *
 * QEMU empties it only when no hart is in a block, but ours stop within blocks. So each hart first puts its registers
 * where QEMU has them between blocks, by the address in the block from which the plugin was called. Then the buffer is
 * emptied, and a hart that is granted does not return to its block, which is gone: it jumps back into QEMU's loop,
 * which translates what follows. QEMU executes the instruction at which it was stopped from its beginning, so the
 * callback comes again, and is left out.
 *
 * The functions for that belong to QEMU, but not to its plugin ABI. A QEMU that does not export them refuses.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/plugin/qemu_abi.h"

/* To be called when QEMU loads the plugin, with the number of its harts. Returns 0, or -1 with errno. */
int flush_init(uint32_t harts);

/* Looks now and then how much code there is, and tells ncube if it is more than plugin.code_most. To be called for each
 * block that is translated. */
void flush_note_block(void);

/* Executes SLOT_FLUSH, and answers it. To be called by the first carrier while all harts are stopped, none in user
 * code. */
void flush_make(void);

/* Notes from where in its block a hart has called the plugin. To be called at the beginning of each callback in which
 * it may stop and be told to leave its block; its registers must be in memory. */
void flush_note_place(unsigned hart, void *place);

/* To be called at the beginning of a callback if the counter's `again` is set: this callback has been executed before
 * the buffer was emptied. Sets the counter to what it was; the caller does nothing else. */
void flush_begin_again(unsigned hart);

/* To be called at the end of a callback if the counter's `left` is set: its block is gone. Does not return. `again`:
 * the callback is in the middle of its block, and will come again. */
_Noreturn void flush_leave_block(unsigned hart, bool again);
