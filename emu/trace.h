/*
 * The trace: one line of text per event of the machine, in order of virtual time.
 *
 *   <cycles> <node> <event> <details>
 *
 * Equal runs give equal bytes. A NULL trace writes nothing.
 */
#ifndef NCUBE_TRACE_H
#define NCUBE_TRACE_H

#include <stdint.h>

struct trace;

/* Starts a trace into a new or emptied file. NULL and errno when it cannot be made. */
struct trace *trace_open(const char *path);

/* Ends it. Returns 0, or -1 with errno when not everything could be written. */
int trace_close(struct trace *t);

void trace_event(struct trace *t, uint64_t now_cycles, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
