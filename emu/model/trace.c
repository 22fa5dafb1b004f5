#include "emu/model/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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
