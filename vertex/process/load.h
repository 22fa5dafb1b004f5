/*
 * Loading: a job from the front end by broadcast or over the spanning tree (vertex/contract/system.h), or the built-in
 * program of an I/O node from the shared region.
 *
 * A node with children in the tree forwards every message of a load before it acts on it, from the buffer in which it
 * received it. Errors are recorded and reported, once, at N_LOAD_START.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/system.h"
#include "vertex/message/queue.h"

struct vm;

/* The heap starts behind the last segment, which ends here. */
void load_extend_break(struct vm *vm, uint64_t end);
/* Handles all messages of a load that a process of this node has made for the node itself (exec.c). Takes them over. */
void load_here(struct message_queue *messages);
/* Returns true if a segment may lie at va in a program whose stack extends down to stack_low. */
bool load_place_is_sound(uint64_t stack_low, uint64_t va, uint64_t bytes, uint64_t zero_bytes);

/* Returns true if struct load_pipes and what follows it, b->pipes_bytes in all, makes sense for the program of b. */
bool load_pipes_are_sound(const struct load_begin *b, const struct load_pipes *pipes);

/* At the boot of an I/O node: starts the built-in program that boot_info describes, if there is one. */
void load_builtin(void);
