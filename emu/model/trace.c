#include "emu/model/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "vertex/contract/system.h"

struct trace; /* a stdio stream under another name */

struct trace *trace_start(FILE *file)
{
    return (struct trace *)file;
}

int trace_close(struct trace *t)
{
    return !t ? 0 : fclose((FILE *)t);
}

void trace_event(struct trace *t, uint64_t now_cycles, uint32_t node, const char *format, ...)
{
    if (!t)
        return;
    va_list arguments;
    fprintf((FILE *)t, "%" PRIu64 " %u ", now_cycles, node);
    va_start(arguments, format);
    vfprintf((FILE *)t, format, arguments);
    va_end(arguments);
    fputc('\n', (FILE *)t);
}

/* A table, since the text is asked for also when there is no trace. */
const char *trace_context(uint64_t tag)
{
#define NAMES(d)                                                                                                      \
    " context=" d "0", " context=" d "1", " context=" d "2", " context=" d "3", " context=" d "4", " context=" d "5", \
        " context=" d "6", " context=" d "7", " context=" d "8", " context=" d "9"
    static const char *const names[] = {"",           " context=1", " context=2",  " context=3", " context=4",
                                        " context=5", " context=6", " context=7",  " context=8", " context=9",
                                        NAMES("1"),   NAMES("2"),   " context=30", " context=31"};
#undef NAMES
    _Static_assert(sizeof names / sizeof *names == CONTEXT_MOST + 1, "each context has its text");

    return names[TAG_CONTEXT(tag)];
}
