/*
 * The nodes as a debugger sees them: the registers and the memory of each, its breakpoints, and when it stops and goes
 * on. Everything is in memory that ncube shares with the plugins (debug_area.h) and in the nodes' RAM; virtual time is
 * nowhere in it.
 *
 * A node in the kernel shows its program: the registers with which the program was left, so that a backtrace tells
 * where it waits. It shows the kernel's own registers while it has no program, when it has stopped in the kernel at a
 * breakpoint or after a step, or if `kernel` is set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/debug/trail.h"
#include "emu/qemu/debug_area.h"

#define TARGET_NO_SLOT    UINT32_MAX
#define TARGET_PAGE_BYTES 4096u

struct target_ops {
    /* Returns how many nodes the program has; they are numbered from 0. */
    uint32_t (*nodes)(void *ctx);
    /* Returns the slot of a node, or TARGET_NO_SLOT: it has ended, or never had the program. */
    uint32_t (*slot)(void *ctx, uint32_t node);
    /* Returns the slot that a node has whenever it has the program. */
    uint32_t (*home)(void *ctx, uint32_t node);
    /* Returns the memory of a node's cabinet, and its size: QEMU-physical CABINET_RAM_BASE and what follows. */
    uint8_t *(*memory)(void *ctx, uint32_t node, size_t *bytes);
    /* Brings there what the page at that place of it has now, if another host has it: then returns true, and only that
     * page is there. NULL: no other host has any. */
    bool (*bring)(void *ctx, uint32_t node, uint64_t at);
    /* Returns the descriptor of that memory, for holes in it; -1: there is none. */
    int (*memory_fd)(void *ctx, uint32_t node);
    /* Describes in a few words what a node does, for a debugger's list. */
    void (*describe)(void *ctx, uint32_t node, char *text, size_t bytes);
    /* Answers "monitor WORD" of gdb, but for what the debugger knows itself. Returns false if there is no such word. */
    bool (*monitor)(void *ctx, const char *word, void (*say)(void *to, const char *line), void *to);
    /* Asks all nodes of the program to end. */
    void (*kill)(void *ctx);
    /* Finds who has sent the message that a node has read last, and when, in cycles. Returns false after saying why
     * not. */
    bool (*origin)(void *ctx, uint32_t node, uint32_t *sender, uint64_t *cycles,
                   void (*say)(void *to, const char *line), void *to);
    /* Returns why the run cannot be repeated, as a sentence; NULL: nothing prevents it. */
    const char *(*no_return)(void *ctx);
    /* Returns true if the host has seen a later part of this run, in which nothing may change any more. */
    bool (*is_behind)(void *ctx);
    /* Has harts that are stopped in their slots tell their registers. Nothing may run but what is in debug stops. */
    void (*note)(void *ctx);
    /* Lets the hart of a slot go on, which is in a debug stop. */
    void (*release)(void *ctx, uint32_t slot);
    /* The virtual time up to which everything has taken effect, in cycles. */
    uint64_t (*now)(void *ctx);
    /* Lets user code run ahead, as without a debugger, or no longer: then nodes stand in the same places in every run.
     * Nothing may run when it is to end, but what is in debug stops. */
    void (*run_ahead)(void *ctx, bool ahead);
};

struct target {
    struct debug_area *area;
    uint32_t slots;
    const struct target_ops *ops;
    void *ctx;
    bool kernel, ahead; /* ahead: user code runs ahead */
    struct trail trail; /* whose view is shown of its node (trail.h) */
};

/* ---- Registers and memory ---- */

/* Returns false if the node has ended. */
bool target_is_alive(const struct target *t, uint32_t node);
/* The registers that are shown. The node must be alive. */
const struct debug_registers *target_registers(const struct target *t, uint32_t node);

/* Stores one of them, by gdb's number: x0-x31, pc, f0-f31, fflags, frm, fcsr. False: there is no such register. */
#define TARGET_REGISTERS_X 33u
#define TARGET_REGISTERS   (TARGET_REGISTERS_X + 32u + 3u)
bool target_register(const struct debug_registers *r, uint64_t number, uint64_t *value);

/* The program's registers, wherever the node is. The node must be alive and have run its program. */
const struct debug_registers *target_program_registers(const struct target *t, uint32_t node);

/* Reads a node's virtual memory, as its program or the kernel sees it. Returns how many bytes were possible, from the
 * first on. Promised pages, which have not been touched, read as zeros. */
size_t target_read(const struct target *t, uint32_t node, uint64_t va, void *bytes, size_t n);
/* Likewise, in the address space of that satp; the node need not be stopped, and there may be no debug area. */
size_t target_read_in(const struct target *t, uint32_t node, uint64_t satp, uint64_t va, void *bytes, size_t n);
/* Writes to it; false, and nothing is written, if that is not possible everywhere: text cannot be written, as QEMU
 * would not notice, nor what is not the program's to write, nor promised pages. */
bool target_write(const struct target *t, uint32_t node, uint64_t va, const void *bytes, size_t n);

/* Finds the first run of mapped or promised pages in [*low, high), all with the same rights to write and to execute.
 * Stores where it begins and its size. False: there is none. */
struct target_run {
    uint64_t low, bytes;
    bool writable, executable;
};
bool target_find_run(const struct target *t, uint32_t node, uint64_t low, uint64_t high, struct target_run *run);
/* Reads a page; false if it has never been written to and so is zero. */
bool target_read_page(const struct target *t, uint32_t node, uint64_t va, uint8_t page[TARGET_PAGE_BYTES]);

/* ---- Breakpoints and watchpoints ---- */

/* Add a breakpoint, in place of one at the same address: one that always holds, or on conditions (breaks.h). Return
 * false if there is no room. */
bool target_add_break(struct target *t, uint64_t pc);
bool target_add_break_if(struct target *t, uint64_t pc, const uint8_t *list, size_t bytes);
/* Returns false if there is none. */
bool target_remove_break(struct target *t, uint64_t pc);
/* Adds or removes a watchpoint; false: there is no room, or no such watchpoint. */
bool target_change_watch(struct target *t, const struct debug_watch *w, bool add);
void target_clear(struct target *t);
/* Faults that the program does not catch stop it, too: where Vertex ends its process; 0: they do not. */
void target_watch_faults(struct target *t, uint64_t fault_pc);

/* As before a program begins: nothing is set or sought, and user code runs ahead. No hart may be in a debug stop. */
void target_reset(struct target *t);

/* Returns true if a node that has stopped for that is at a breakpoint, or behind an access, of which gdb wants to
 * know. */
bool target_still_stops(const struct target *t, uint32_t node, enum debug_why why);

/* Copies the breakpoints and watchpoints of another target, and their conditions. */
void target_copy_breaks(struct target *t, const struct debug_area *from);
bool target_has_same_breaks(const struct debug_area *a, const struct debug_area *b);

/* ---- Places and seeking (debug_area.h) ---- */

struct target_place { /* in the program's execution; in the order of cycles, then of nodes */
    uint64_t cycles;
    uint32_t node;
};
bool target_is_before(const struct target_place *a, const struct target_place *b);
/* The place where a node is: in front of its next instruction of user code. */
struct target_place target_place(const struct target *t, uint32_t node);
/* The place of the instruction that gdb sees as its next: in the kernel, the one with which the program was left. */
struct target_place target_shown_place(const struct target *t, uint32_t node);
/* Finds the place of the instruction before that. False: it is the first. */
bool target_place_before(const struct target *t, uint32_t node, struct target_place *p);

/* Returns false if it is not known where the node is. */
bool target_has_place(const struct target *t, uint32_t node);
/* Returns false if it is not known where the node is, or which instruction was before: nobody has looked. */
bool target_knows_places(const struct target *t, uint32_t node);
/* From now on each instruction is looked at, or only where there is something to look for. To be called while no hart
 * runs. */
void target_look_closely(struct target *t, bool closely);

/* Lets all nodes seek a place: until there, breakpoints and watchpoints hold nobody. The place's own node stops there,
 * and, with early_cycles > 0, at each instruction from so long before it on. */
void target_seek(struct target *t, const struct target_place *p, uint64_t early_cycles);
/* Likewise, but each node stops in front of its first instruction that is not before the place; with `faults`, also at
 * a fault. */
void target_seek_all(struct target *t, const struct target_place *p, bool faults);
/* Adds the place of a node, which is stopped there, to the trail. */
void target_add_to_trail(struct target *t, uint32_t node);
/* Lets all nodes note what they would stop for before the place, and stop for nothing, until target_seek_on: then they
 * stop there. If the program is not loaded yet, they find breakpoints and watchpoints without looking closely. */
void target_scan(struct target *t, const struct target_place *p);
void target_seek_on(struct target *t);
void target_end_seek(struct target *t);
/* Copies the hits that the nodes have noted and kept, in the order of their places. Returns how many; the caller frees
 * the list. *lost is the place of the last one that was not kept, cycles = 0: none. */
struct target_hit {
    struct target_place place;
    enum debug_why why;
    uint64_t watch, pc;
};
size_t target_hits(const struct target *t, struct target_hit **list, struct target_place *lost);
/* Nodes stop for faults only. Hits of breakpoints, which the plugin knows before it translates the program, are noted:
 * target_first_hit returns the time of the first one at or after `cycles`; 0: there was none yet. It is rough where
 * user code runs ahead. */
void target_await_hits(struct target *t, uint64_t cycles);
uint64_t target_first_hit(const struct target *t);
/* Breakpoints hold nobody before that place. */
void target_pass(struct target *t, const struct target_place *p);
/* Returns how many there were since the seek began, kept or not: all of the node `watcher`, and the breakpoints of the
 * others, unless it is the `only` one. */
uint64_t target_count_hits(const struct target *t, uint32_t watcher, bool only);

/* ---- Stopping and going on ---- */

/* The clock of a node that is in a debug stop; false: it is not. */
bool target_clock(const struct target *t, uint32_t node, uint64_t *cycles);

/* Lets breakpoints hold on the program's nodes, and no other; `nobody`: on no node. */
void target_choose_nodes(struct target *t, bool nobody);
/* Likewise, of a program that is not yet loaded. */
void target_await_program(struct target *t);
/* Asks all nodes of the program to stop at their next instruction. */
void target_hold_all(struct target *t);
/* Returns how many harts are in debug stops. When as many run as that, nothing moves. */
uint32_t target_stopped(const struct target *t);

struct target_event {
    enum debug_why why;
    uint32_t node;
    uint64_t watch;  /* DEBUG_WATCH: the address */
    uint64_t scause; /* DEBUG_FAULT */
};
/* Takes the event that is the first in virtual time, then by node, of the nodes that have been let go. Returns false if
 * none of them has stopped for one. The others stay, to be taken later; but ends of steps are forgotten. */
bool target_take_event(struct target *t, struct target_event *e);

struct target_go {
    enum { TARGET_STAY, TARGET_RUN, TARGET_STEP } how;
    uint64_t low, high; /* TARGET_STEP: the step goes on within these addresses */
};
/* The nodes are about to go on so. Forgets the places of those that nobody will look at. go: NULL: of all. */
void target_forget_places(struct target *t, const struct target_go *go);
/* Says whether the nodes, which are about to go on so, may run ahead: only if nothing is set at which one of them would
 * stop while others go on. NULL: the program is about to begin, and stops at its entry. */
void target_pace(struct target *t, const struct target_go *go);
/* Says how a node goes on. It stays stopped if it has an event that has not been taken. */
void target_let_go(struct target *t, uint32_t node, const struct target_go *go);
/* Lets harts go on whose node has ended in the meantime. Returns true if there were any. */
bool target_release_ended(struct target *t);
/* Removes all breakpoints and lets everything run. */
void target_release_all(struct target *t);
