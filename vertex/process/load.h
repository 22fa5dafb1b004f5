/*
 * Loading: a job from the front end by broadcast or over the spanning tree (vertex/contract/system.h), or the built-in
 * program of an I/O node from the shared region.
 *
 * A node passes every message of a load on before it acts, if it is its turn, by sending the very buffer it received.
 * What goes wrong here is remembered and reported, once, at N_LOAD_START.
 */
#ifndef VERTEX_LOAD_H
#define VERTEX_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/message/queue.h"

/* N_LOAD_BEGIN, N_LOAD_DATA or N_LOAD_START. Takes the message over. */
void load_message(struct message *m);
/* All messages of a load that a process on this node has made for it (rexec.c). Takes them over. */
void load_own(struct msg_queue *messages);
/* A segment of a program with a stack down to stack_low may lie there. */
bool load_place_is_sound(uint64_t stack_low, uint64_t va, uint64_t bytes, uint64_t zero_bytes);
/* N_KILL. Takes the message over. */
void load_kill(struct message *m);

/* A message of a load could not be passed on to that node: it is out of reach, and so is all behind it in the tree. */
void load_undeliverable(uint32_t node);

/* Boot of an I/O node: the process from boot_info, if there is one. */
void load_builtin(void);

#endif
