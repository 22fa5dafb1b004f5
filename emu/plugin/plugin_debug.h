/*
 * The plugin's part of the debugger: looks before instructions (plugin_looks.h) whether its hart is to stop there, and
 * waits until ncube releases it (debug_area.h). Adds no cycles.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/debug_area.h"
#include "emu/plugin/qemu_abi.h"

struct plugin_debug_ops {
    uint64_t (*cycles)(unsigned hart); /* its clock, at the end of the block */
    /* Publishes how far the hart is, since it stays there, and wakes ncube. */
    void (*stands)(unsigned hart, bool in_user);
    /* From now on its user code calls plugin_debug_at_return before each block, if n > 0. */
    void (*await_returns)(unsigned hart, uint32_t n);
    /* It stops in its slot before its next block of user code. */
    void (*recall)(unsigned hart);
};

/* `first` is the slot of hart 0, of so many. */
void plugin_debug_init(struct control *c, uint64_t first, uint32_t harts, const struct plugin_debug_ops *ops);

/* In a copy of the process (plugin_copy.h): from now on the slot of hart 0 is this one. */
void plugin_debug_move(uint64_t first);

/* Adds the look before an instruction, and the one after its accesses, where there are to be any. `waits`: it is an
 * instruction of the NCU, at which the hart may stop. `rest` is what the block costs from this instruction on. To be
 * called before other callbacks of the instruction are added: they run in this order. */
void plugin_debug_translate(struct qemu_plugin_insn *insn, bool kernel, bool waits, uint32_t rest_cycles);

/* The hart is about to execute a block of user code at pc; its first instruction has not been looked at. */
void plugin_debug_at_block(unsigned hart, uint64_t pc);
/* The hart is about to execute a block of user code at pc, and awaits returns. */
void plugin_debug_at_return(unsigned hart, void *pc);
/* The hart stops in its slot: keeps its registers for ncube. */
void plugin_debug_note(unsigned hart);
/* Executes SLOT_NOTE. To be called by the first carrier while all harts are stopped, or in debug stops. */
void plugin_debug_note_all(void);
/* ncube may have changed what the hart is to stop for. */
void plugin_debug_ask(unsigned hart);
