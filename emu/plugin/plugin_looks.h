/*
 * Which instructions a hart looks at for gdb (SLOT_DEBUG_ASKED), without translating any again: each instruction has a
 * word among a few hundred of its hart, and calls the plugin while that is not 0. A breakpoint sets the word of its
 * address, which others have by chance, too. Calls of the kernel have one of their own.
 */
#pragma once

#include "emu/qemu/debug_area.h"
#include "emu/plugin/qemu_abi.h"

enum looks {
    LOOKS_NONE,
    LOOKS_SOME, /* at breakpoints, at calls, and at some that are neither */
    LOOKS_ALL,
};

/* To be called when QEMU loads the plugin. */
void looks_init(const struct debug_area *area);

/* To be called in the hart: from now on it looks there. Takes up breakpoints that have changed since the last call. */
void looks_choose(unsigned hart, enum looks looks);
/* What the hart, in which the caller runs, has chosen last. */
enum looks looks_chosen(void);

/* Lets an instruction call `look` where it is looked at. is_call: it is a program's call of the kernel. */
void looks_translate(struct qemu_plugin_insn *insn, bool is_call, qemu_plugin_vcpu_udata_cb look, void *what);
