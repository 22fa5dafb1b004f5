/*
 * Parts of an event in Chrome's trace event format, as trace_chrome.c writes it: each adds text to a piece, and writes
 * nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/trace/trace_arrows.h"
#include "emu/trace/trace_parts.h"

enum process { PROCESS_NODES = 1, PROCESS_CHANNELS, PROCESS_DRIVES };

/* Adds a time in microseconds. */
void event_cycles(struct piece *p, uint64_t cycles);

/* Begins an event: a comma, a new line, and the fields that all have. Others follow, then a brace. */
void event_begin(struct piece *p, char phase, enum process process, uint32_t track, uint64_t cycles);

/* Begins a slice, cut to the trace's window. Returns false if nothing of it is left. */
bool event_slice_begin(const struct trace *t, struct piece *p, enum process process, uint32_t track, uint64_t since,
                       uint64_t until);

/* Begins the name of a process or track, `what`; further arguments may follow, then two braces. */
void event_meta_begin(struct piece *p, enum process process, uint32_t track, const char *what, const char *name);

/* Adds text of a program, at most so many of its bytes: quotes, control characters and bytes above ASCII become '?'. */
void event_quoted(struct piece *p, const char *text, size_t most);

/* Adds arguments: how an I/O node is wired, its channels' SI nodes, or -1, and the volumes of its drives. */
void event_wiring(struct piece *p, const struct topo_io_node *io);

/* Returns "FWRITE" for N_FWRITE. */
const char *event_op_name(uint64_t tag);
