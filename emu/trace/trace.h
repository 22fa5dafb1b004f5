/*
 * The trace: what happens in the machine, in order of virtual time, in one of several formats.
 *
 * The models describe each event by a struct trace_record; a writer for each format (trace_parts.h) turns it into text:
 *
 *   text     one line for each event: <cycles> <node> <event> <details>        trace_text.c
 *   chrome   Chrome's trace events in JSON, for ui.perfetto.dev                 trace_chrome.c
 *   picl     PICL's format of 1992, for ParaGraph                               trace_picl.c
 *
 * Events of the text format:
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
 *   mark       a program has called nmark
 *   waited     the node has waited since then in a call of a library: MPI's
 *   end        how a run ends that fails: a word of trace_end_words, and a line for the user; lines of `more` follow
 *
 * A message in another context than 0 (vertex/contract/system.h) has it at the end of the line: context=4.
 *
 * Equal runs give equal bytes. A NULL trace writes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/network/topo.h"

struct trace;

enum trace_kind {
    TRACE_SEND,   /* to `peer`: tag, bytes, number; dim_plus_1 of a broadcast */
    TRACE_HEADER, /* from `peer`: channel, bytes */
    TRACE_ARRIVAL,
    TRACE_DAMAGE, /* both from `peer`: tag, bytes */
    TRACE_FAILED, /* to `peer`: status */
    TRACE_INTERRUPT,
    TRACE_RECEIVE, /* from `peer`: tag, bytes, number; since: its SEND */
    TRACE_DISK,    /* drive, write, sector, bytes = sectors */
    TRACE_DISK_DONE,
    TRACE_EXIT, /* status, how */
    TRACE_LINK,
    TRACE_NODE, /* both: dies */
    TRACE_MARK, /* text */
    TRACE_END,  /* how = enum trace_end, text: a line; not bound to a window, nodes or a limit */
    /* Not in the text format; spells last from `since` to `cycles`: */
    TRACE_USER,    /* a spell of user code; how: the call that has ended it, or a TRACE_BY_...; text: the program's
                    * line where it has ended; NULL: not known */
    TRACE_HANDLED, /* an interrupt; dies: its process has ended */
    TRACE_WAIT,    /* the node begins to wait: how = enum ncu_wait, peer and tag: for whom and what; text */
    TRACE_IDLE,    /* it has waited: likewise; the text format has only those in a call */
    TRACE_CHANNEL, /* message `number` of `bytes` from `peer` had the channel with index `channel` to the node `how`;
                    * its header asked for it at `asked` */
    TRACE_DRIVE,   /* a command: as TRACE_DISK */
    TRACE_QUEUE,   /* bytes: commands of the drive now */
    TRACE_REQUEST, /* to a file server, `peer`: tag, number = seq, bytes of data or -1, text: the drive's name */
    TRACE_REPLY,   /* from `peer`: tag, number = seq */
    TRACE_KINDS
};

#define TRACE_ABOUT_BYTES (30u << 10)
#define TRACE_VERSION     1 /* of the JSON format, which `ncube report` reads */

/* How a spell of user code has ended, if not by the system call of that number. */
enum { TRACE_BY_FAULT = 0x1000, TRACE_BY_SWITCH, TRACE_BY_INTERRUPT };

/* How a run ends that fails. TRACE_END_MORE: a further line about it. */
enum trace_end {
    TRACE_END_DEADLOCK,
    TRACE_END_FAULT, /* a node's program has faulted, was killed or could not be loaded */
    TRACE_END_LIMIT,
    TRACE_END_SIGNAL,
    TRACE_END_STATUS, /* it has ended by itself, with another status than 0 */
    TRACE_END_MACHINE,
    TRACE_END_MORE,
    TRACE_ENDS
};

/* A word for each: "deadlock". */
extern const char *const trace_end_words[TRACE_ENDS];

/* A library's call in which a node waits. */
struct trace_call {
    const char *name;         /* "MPI_Recv" */
    const char *communicator; /* "row"; "": none */
    const char *wait;         /* "in MPI_Recv from 2, tag 7, communicator 'row'" */
};

struct trace_record {
    enum trace_kind kind;
    uint32_t node; /* address */
    uint64_t cycles, since;
    uint32_t peer; /* address */
    uint32_t channel, how, dim_plus_1;
    uint64_t tag, bytes, number, drive, sector, asked;
    int64_t status;
    bool write, dies;
    const char *text;
    const struct trace_call *call; /* TRACE_IDLE: NULL: none */
};

/* ---- Making one ---- */

enum trace_format { TRACE_TEXT, TRACE_CHROME, TRACE_PICL, TRACE_FORMATS };

/* Returns the format of that name, or the one whose files end so; -1: there is none. */
int trace_format_by_name(const char *name);
int trace_format_by_ending(const char *path);
/* Writes the formats' names, "text, chrome or picl". */
void trace_format_names(char *text, size_t bytes);

struct trace_options {
    enum trace_format format;
    uint64_t limit_bytes;            /* the trace ends before it is longer; 0: none */
    uint64_t from_cycles, to_cycles; /* the window of virtual time, both ends in it */
    const bool *chosen;              /* by address: nodes whose events are wanted; NULL: all. Must outlive the trace */
    const struct topo *topo;         /* must outlive the trace */
    const char *about;               /* members of a JSON object that describe the run, at most TRACE_ABOUT_BYTES, which
                        * `chrome` quotes; read by trace_start only. NULL: none */
};

#define TRACE_PACKED_ENDING ".gz"

/* Starts a trace in an empty file, which is the trace's from now on. */
struct trace *trace_start(FILE *file, const struct trace_options *options);

/* Returns the time at which a trace reached its limit; UINT64_MAX: it did not. NULL is allowed. */
uint64_t trace_full_cycles(const struct trace *t);

/* Ends a trace at that time; NULL is allowed. Returns 0, or -1 with errno if not everything could be written. */
int trace_close(struct trace *t, uint64_t now_cycles);

/* ---- Writing ---- */

/* Returns true if the trace takes records of this kind. Ask before making a record that costs something. */
bool trace_wants(const struct trace *t, enum trace_kind kind);

/* Writes one record, if the trace wants it. trace_write makes none if there is no trace. */
void trace_write_record(struct trace *t, const struct trace_record *r);
#define trace_write(t, ...) ((t) ? trace_write_record(t, __VA_ARGS__) : (void)0)

/* Returns a word for what a node waits for (enum ncu_wait): "message", "reply". */
const char *trace_wait_word(uint64_t why);
