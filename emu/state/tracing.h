/*
 * The trace of a run: its options on the command line, its file, its end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/options.h"
#include "emu/qemu/slots.h"
#include "emu/trace/trace.h"

struct machine;

struct tracing {        /* what the user wants */
    const char *path;   /* NULL: no trace */
    const char *report; /* file for a report; NULL: none */
    enum trace_format format;
    bool format_given;
    const char *another;  /* an option of the trace that has been given, without its dashes; NULL: none */
    uint64_t limit_bytes; /* 0: by the format */
    uint64_t from_cycles, to_cycles;
    const char *nodes; /* text; NULL: all */
    bool lines;        /* of the programs, at traps */
};

#define TRACING_NONE            \
    {                           \
        .to_cycles = UINT64_MAX \
    }

/* The options of the trace; their arguments are a struct tracing. They refuse what is wrong (options_refuse). */
extern const struct option_line tracing_lines[];

/* Refuses options that do not go together, when all have been taken; chooses the format. */
void tracing_check(const struct options *o, struct tracing *t);

/* Opens the file and starts the trace of a machine whose configuration has been read. Returns 0; or -1 after one line,
 * for a node that the machine does not have, too. */
int tracing_open(struct machine *m);

/* What the plugin reads at traps for the trace. */
enum slot_traps tracing_traps(const struct machine *m);

/* Tells the trace, if there is one, how the run fails, when and with which line; then further lines, of
 * TRACE_END_MORE. A trace is not told of a run that ends well. */
void tracing_say_end(struct machine *m, enum trace_end how, uint64_t cycles, const char *line);

/* Ends the trace of a machine, if it has one, and makes the report. Says if the limit was reached. Returns 0; or -1
 * after one line if not all could be written: then a file is removed. */
int tracing_close(struct machine *m);
