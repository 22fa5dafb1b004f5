/*
 * The trace: one line of text per event of the machine, in order of virtual time.
 *
 *   <cycles> <node> <event> <details>
 *
 *   send       SEND takes effect: of a node, or of the front end (node 32768)
 *   header     a message waits at the node, holding its path: no receive is armed for it
 *   arrival    its last byte is in the node's memory, or at the front end; `damage`: it was hit on the way
 *   failed     its sender learns that it has not arrived
 *   interrupt  the node takes its causes; `since`: user code was interrupted then
 *   receive    the node's kernel learns of an arrival: in an interrupt, before a trap, or out of IDLE
 *   disk, disk-done   a drive's command begins and ends
 *   exit       the last process of a job has ended on the node: the front end has its N_EXIT
 *   link, node        something dies or recovers (fault_plan.c)
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
