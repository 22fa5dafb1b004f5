/*
 * What the files of Chrome's trace event format share: trace_chrome.c writes the file, trace_chrome_nodes.c the nodes'
 * tracks with their messages and requests, trace_chrome_devices.c those of channels and drives.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/trace/trace_arrows.h"
#include "emu/trace/trace_events.h"
#include "emu/trace/trace_parts.h"
#include "vertex/contract/machine.h"

#define NEVER UINT64_MAX

struct node_view {
    bool named;
    uint64_t kernel_since; /* when the kernel was entered; NEVER: user code runs, or an interrupt is handled */
    uint32_t call;         /* by which */
    char *phase;           /* that nmark has begun; NULL: none */
};

struct rate {
    uint64_t bytes, shown; /* in this interval; the value that was written last */
};

struct chrome {
    struct node_view *node; /* by address */
    bool *channel_named, *drive_named;
    struct rate net, *drive;
    uint64_t interval; /* number of the one that `rate`s count in */
    bool begun;        /* an event has been written */
    struct trace_arrows arrows;
};

/* ---- trace_events.c ---- */

/* Ends an event with what it adds to the piece, and a brace. Returns whether there was room for it. */
__attribute__((format(printf, 3, 4))) bool event_put(struct trace *t, struct piece *p, const char *format, ...);

/* ---- trace_chrome_nodes.c: each writes what a record says ---- */

void chrome_user(struct trace *t, const struct trace_record *r);
void chrome_handled(struct trace *t, const struct trace_record *r);
void chrome_idle(struct trace *t, const struct trace_record *r);
void chrome_instant(struct trace *t, const struct trace_record *r, const char *name, const char *more);
void chrome_mark(struct trace *t, const struct trace_record *r);
void chrome_receive(struct trace *t, const struct trace_record *r);
void chrome_host_slice(struct trace *t, const struct trace_record *r, const char *name);
void chrome_arrival(struct trace *t, const struct trace_record *r);
void chrome_request(struct trace *t, const struct trace_record *r, char phase, uint32_t procid);
void chrome_slice(struct trace *t, uint32_t node, uint64_t since, uint64_t until, const char *name);
void chrome_end_phase(struct trace *t, uint32_t node, uint64_t cycles);
/* Writes the arrows that begin or end on the node's track up to that time. */
void chrome_show_arrows(struct trace *t, uint32_t node, uint64_t until);

/* ---- trace_chrome_devices.c: likewise ---- */

void chrome_channel(struct trace *t, const struct trace_record *r);
void chrome_queue(struct trace *t, const struct trace_record *r);
void chrome_drive(struct trace *t, const struct trace_record *r);
/* Writes the rates of the intervals that have ended: of the last that counted, and 0 after it if one lies between. */
void chrome_pass_intervals(struct trace *t, uint64_t now_cycles);
