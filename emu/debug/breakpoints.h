/*
 * gdb's packets for breakpoints and watchpoints: "KIND,ADDRESS,BYTES", behind a Z or z; behind a breakpoint that is
 * added, its conditions, as agent expressions (emu/qemu/agent_expression.h).
 *
 *   Z0,10078,4;X6,26000a22052013...      each: X, its length, a comma, its bytes
 */
#pragma once

#include "emu/debug/session.h"

/* Add or remove what the text behind the letter says. Return false if it is malformed, or there is no room, and have
 * added no answer: as commands.c wants it. */
bool breakpoints_add(struct session *s, const char *text);
bool breakpoints_remove(struct session *s, const char *text);

/* gdb lets the nodes go on, as s->go says, or back: by one instruction, or not. To be called before they do.
 *
 * gdb 13 sends no packet for a breakpoint of its own, by which it makes a step or awaits the end of a call, at an
 * address where another one is set already: it takes it for granted that this one always stops. So a condition counts
 * only when gdb has just sent it, as in `continue`. If gdb has let nodes go on before and has left the breakpoint where
 * it is, it may be in the middle of `step` or `next`: then the breakpoint holds always, and gdb looks at the condition
 * itself. Two cases are none of these:
 *
 *   - gdb has only let a node pass a breakpoint, alone, to the instruction behind. It may await the next one.
 *   - gdb has gone back, and does again: its breakpoints are those of before. */
void breakpoints_go_on(struct session *s);
void breakpoints_go_back(struct session *s, bool step);
