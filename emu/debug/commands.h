/*
 * The commands of gdb's remote serial protocol, as far as this target has them: each packet's answer.
 *
 * A node is a thread: its number is that of the node in the program, plus 1, since 0 has another meaning for gdb. gdb
 * lets all go on, or only some (its scheduler-locking), and all stand still when one has stopped.
 */
#pragma once

#include "emu/debug/session.h"

enum command_result {
    COMMAND_LEAVE_VIEW, /* the machine is to go where the view is (trail.h); then the command is to be repeated */
    COMMAND_FIND_HITS,  /* the hits before the present are to be found; likewise */
    COMMAND_ANSWERED,   /* the answer has been made */
    COMMAND_GO,         /* the nodes go on, as `go` says; the answer comes when one has stopped */
    COMMAND_STEP_BACK,  /* the node `back` goes one instruction back; the answer comes when it is there */
    COMMAND_GO_BACK,    /* all nodes go back to the last breakpoint, or watchpoint of the node `back`; likewise */
    COMMAND_DETACHED,   /* the answer has been made; gdb leaves */
    COMMAND_KILLED,     /* gdb leaves, and the program is to end; there is no answer */
};

/* Executes the packet in s->rsp. */
enum command_result command_execute(struct session *s);
