/*
 * The debugger's end in ncube: waits for gdb on a port of this host, stops the nodes of one program for it, and lets
 * them go on.
 *
 *   idle --stub_begin--> entering: the program's first node stops at its entry
 *        --> waiting: for gdb --> stopped <--> running --> (gdb leaves) idle
 *   idle --gdb comes, stub_choose--> halting: all nodes stop at their next instruction --> stopped
 *
 * A stub of ncube's own, not QEMU's: QEMU's would pause its vCPUs, and one that waits in the plugin for its grant never
 * reaches the pause; there are several QEMU processes; and their threads are not our nodes.
 *
 * A node that stops only takes long, for the scheduler (debug_area.h). So the other nodes go on as far as they may, and
 * when nothing moves any more, the node that has stopped first in virtual time is the one that gdb is told of. With
 * --sync=strict, where user code never runs ahead, this is the same in every run. Only gdb's interrupt stops the nodes
 * wherever they are.
 *
 * While the nodes stand, ncube waits for gdb; a machine that is kept up looks after its other clients in between.
 *
 * Where the run can be repeated exactly (stub_goes_back), gdb can go back in it (travel.h):
 *
 *   stopped --> leaving: stub_travels; the machine is ended, and another one is built for the same stub --stub_begin-->
 *   (forward: up to shortly before it -->) seeking: a place --> stopped, or leaving once more
 *
 * gdb stays connected, and waits for the answer. The nodes' states at a place are those of every run that stops there.
 *
 * If gdb goes away, its breakpoints are removed and the machine goes on. Only programs on this host can connect.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/debug/session.h"
#include "emu/debug/target.h"

struct stub;

/* Listens on that port; 0: any free one. With look_ms, waits for gdb no longer than that at a time (stub_turn); 0: as
 * long as it takes. Returns NULL with one clear line in error. The caller frees the stub. */
struct stub *stub_new(uint16_t port, int look_ms, char *error, size_t error_bytes);
void stub_free(struct stub *s);

/* The run can be repeated exactly. Its nodes run freely, without a look at each instruction, unless gdb goes back. */
struct stub_way_back {
    bool from_end;       /* it ends in a fault or a deadlock; the first gdb finds it there. That was known */
    uint64_t end_cycles; /* at this time; 0: when is not known */
    bool closely;        /* the nodes are looked at all the way; slow, for comparisons */
    bool kept;           /* as it goes on; else it is recorded. What gdb writes to memory is in neither: it is lost when
                          * gdb goes back in a recorded run, and makes another one of a kept run, without a way back */
};
void stub_goes_back(struct stub *s, const struct stub_way_back *way);
/* Returns true if the machine is to be ended, and another one to be built and attached, from the run's beginning. */
bool stub_travels(const struct stub *s);

/* Returns the time up to which the machine is to run as without gdb, before it goes on with stub_look; 0: it is not to.
 * Then all harts stand. latest_cycles: the latest clock of a hart. */
uint64_t stub_forward(const struct stub *s);
void stub_look(struct stub *s, uint64_t latest_cycles);

/* ---- Going on in a copy of this process (emu/machine/checkpoints.h) ---- */

/* There are copies from now on. */
void stub_be_copied(struct stub *s);
/* Another machine has come further with the host: this one does not run ahead. */
void stub_be_behind(struct stub *s);
/* Returns true if gdb can go back from a copy that is made when all harts stand next; stub_may_be_copied: from one that
 * is made now, when they do. */
bool stub_may_pause(const struct stub *s);
bool stub_may_be_copied(const struct stub *s);
/* Returns true if a machine that goes on from there is one for what the debugger seeks now: `latest_cycles` as below.
 * *best: there is no better one. */
bool stub_can_resume(const struct stub *s, uint64_t latest_cycles, bool *best);
/* Returns true if it does not end at that time, which the run has not come to. */
bool stub_goes_beyond(const struct stub *s, uint64_t cycles);
/* Returns true if the nodes run, and seek no place. */
bool stub_runs(const struct stub *s);
/* Returns gdb's connection, or -1. */
int stub_connection(const struct stub *s);
/* Write what the debugger knows, for a copy, and read it there, where the connection is another descriptor, which the
 * stub takes. Return false if that fails. */
bool stub_give(const struct stub *s, FILE *to);
bool stub_take(struct stub *s, int fd, FILE *from);
/* There: what gdb sends is signalled to this process from now on. */
void stub_be_notified(const struct stub *s);
/* There, on a machine whose program has begun before the copy was made: seeks what it has taken. `latest_cycles` was
 * then the latest clock of a hart. */
void stub_resume(struct stub *s, uint64_t latest_cycles);

/* Of a process that waits while copies of it go on: what gdb was told last. */
struct stub_stop {
    enum debug_why why;
    uint32_t node;
    char packet[SESSION_STOP_BYTES];
};
struct stub_stop stub_last_stop(const struct stub *s);
/* A copy has come to where this one is, which has taken what it knows. If the nodes stand here at a breakpoint or an
 * access that gdb still wants to know of, it is told; else they go on. */
void stub_arrive(struct stub *s, const struct stub_stop *stop);

/* Writes what the user is to type to connect gdb, for a program. */
void stub_describe(const struct stub *s, const char *program, char *line, size_t bytes);
/* Fills p, of STUB_POLLS entries, with the descriptors that can give stub_turn something to do. Returns how many. */
#define STUB_POLLS 2
size_t stub_poll(const struct stub *s, struct pollfd *p);

/* Connects the stub with a machine, whose cabinets run with control.debug set, once signals.h is installed. */
void stub_attach(struct stub *s, struct debug_area *area, uint32_t slots, const struct target_ops *ops, void *ctx);

/* A program begins: its first node that reaches one of the `n` entries stops all, and `say` is called: gdb is awaited.
 * fault_pc is where Vertex ends a process because of a fault. */
void stub_begin(struct stub *s, const uint64_t *entry, uint32_t n, uint64_t fault_pc, void (*say)(void *ctx),
                void *ctx);
/* A program will begin: a gdb that comes sooner waits. */
void stub_expect(struct stub *s);
/* A program that runs already is the one for the next gdb. */
void stub_choose(struct stub *s, uint64_t fault_pc);
/* Returns true if gdb is connected. */
bool stub_is_busy(const struct stub *s);
/* Lets gdb go, and the program on. */
void stub_drop(struct stub *s);
/* Nothing more can happen in virtual time. Returns true if gdb is told, for the first time: the next stub_turn serves
 * it. */
bool stub_stuck(struct stub *s);
/* The program has ended. */
void stub_end(struct stub *s, int status);

/* Serves gdb. To be called when ncube can do nothing but wait for harts, `running` of which run. Returns true if it has
 * changed something, or is to be called again soon. Waits for gdb while the nodes are stopped; a signal ends that. */
bool stub_turn(struct stub *s, uint32_t running);
