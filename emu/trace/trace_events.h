/*
 * Parts of an event in Chrome's trace event format, as trace_chrome.c writes it: each adds text to a piece, and writes
 * nothing.
 */
#ifndef TRACE_EVENTS_H
#define TRACE_EVENTS_H

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

/* Add a name; event_name_begin leaves it open for piece_text until event_name_end. */
void event_name(struct piece *p, const char *name);
void event_name_begin(struct piece *p);
void event_name_end(struct piece *p);

/* Adds text of a program: quotes, control characters and bytes above ASCII become '?'. */
void event_quoted(struct piece *p, const char *text);
/* The same, at most so many of its bytes. */
void event_quoted_most(struct piece *p, const char *text, size_t most);

/* Adds an argument after the first one. */
void event_argument(struct piece *p, const char *name, uint64_t value);

/* Adds arguments: how an I/O node is wired, its channels' SI nodes, or -1, and the volumes of its drives. */
void event_wiring(struct piece *p, const struct topo_io_node *io);

/* Adds the arguments of a message. */
void event_message(struct piece *p, const struct trace_arrow *a);

/* Returns "FWRITE" for N_FWRITE. */
const char *event_op_name(uint64_t tag);

#endif
