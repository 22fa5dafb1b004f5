/*
 * The trace: one line of text per event of the machine, in order of virtual time.
 *
 *   <cycles> <node> <event> <details>
 *
 *   send       SEND takes effect: of a node, or of the front end (node 32768)
 *   header     a message waits at the node, holding its path: no receive is armed for it
 *   arrival    its last byte is in the node's memory, or at the front end; `damage` if it was damaged
 *   failed     its sender learns that it did not arrive
 *   interrupt  the node takes its causes; `since`: the time at which user code was interrupted
 *   receive    the node's kernel learns of an arrival: in an interrupt, before a trap, or after IDLE
 *   disk, disk-done   a drive's command is issued and ends
 *   exit       the last process of a job has ended on the node: the front end has its N_EXIT
 *   link, node        a link or node dies or recovers (fault_plan.c)
 *
 * A message in another context than 0 (vertex/contract/system.h) has it at the end of the line: context=4.
 *
 * Equal runs give equal bytes. A NULL trace writes nothing.
 */
#ifndef NCUBE_TRACE_H
#define NCUBE_TRACE_H

#include <stdint.h>
#include <stdio.h>

struct trace;

/* Starts a trace in an empty file, which is the trace's from now on. */
struct trace *trace_start(FILE *file);

/* Ends a trace; NULL is allowed. Returns 0, or -1 with errno if not everything could be written. */
int trace_close(struct trace *t);

/* Returns the end of a message's line: " context=4", or "" in context 0. Static. */
const char *trace_context(uint64_t tag);

/* Writes one line: the time, the node's address, and the event with its details. */
void trace_event(struct trace *t, uint64_t now_cycles, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
