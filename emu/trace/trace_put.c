/*
 * The trace below its formats: what a writer has made goes into the file, up to the limit; names that several formats
 * use.
 */
#include <errno.h>

#include "emu/trace/trace_parts.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

bool trace_chose(const struct trace *t, uint32_t node)
{
    return !t->options.chosen || (node <= NODE_HOST && t->options.chosen[node]);
}

void trace_put_reserved(struct trace *t, const char *text, size_t bytes)
{
    t->written += bytes;
    if (t->error == 0 && fwrite(text, 1, bytes, t->file) != bytes) {
        t->error = errno;
        t->kinds = 0;
    }
}

bool trace_put(struct trace *t, const char *text, size_t bytes)
{
    uint64_t limit = t->options.limit_bytes;

    if (t->kinds == 0)
        return false;
    if (limit > 0 && t->written + t->reserve + bytes > limit) {
        t->full_cycles = t->now_cycles;
        t->kinds = 0;
        return false;
    }
    trace_put_reserved(t, text, bytes);
    return t->error == 0;
}

uint64_t trace_says_reserve(const struct trace *t)
{
    uint64_t limit = t->options.limit_bytes;

    return limit == 0 || limit >= 2 * TRACE_SAYS_BYTES ? TRACE_SAYS_BYTES : 0;
}

void trace_put_says(struct trace *t, const char *text, size_t bytes)
{
    if (t->said + bytes > trace_says_reserve(t))
        return;
    t->said += bytes;
    t->reserve -= t->reserve < bytes ? t->reserve : bytes;
    trace_put_reserved(t, text, bytes);
}

/* ---- A piece of text ---- */

static size_t put_argument(struct piece *p, const char *directive, va_list *arguments)
{
    switch (*directive) {
    case 's':
        piece_text(p, va_arg(*arguments, const char *));
        return 1;
    case 'c':
        piece_bytes(p, (char[]){(char)va_arg(*arguments, int)}, 1);
        return 1;
    case 'u':
        piece_number(p, va_arg(*arguments, unsigned));
        return 1;
    default: /* lu */
        piece_number(p, va_arg(*arguments, uint64_t));
        return 2;
    }
}

void piece_put_list(struct piece *p, const char *format, va_list list)
{
    va_list arguments;

    va_copy(arguments, list);
    while (*format) {
        char c = *format++;

        if (c == '%')
            format += put_argument(p, format, &arguments);
        else if (p->n < PIECE_BYTES)
            p->text[p->n++] = c == '\'' ? '"' : c;
    }
    va_end(arguments);
}

void piece_put(struct piece *p, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    piece_put_list(p, format, arguments);
    va_end(arguments);
}

/* ---- Names ---- */

const char *const trace_end_words[TRACE_ENDS] = {
    [TRACE_END_DEADLOCK] = "deadlock", [TRACE_END_FAULT] = "fault",   [TRACE_END_LIMIT] = "limit",
    [TRACE_END_SIGNAL] = "signal",     [TRACE_END_STATUS] = "status", [TRACE_END_MACHINE] = "machine",
    [TRACE_END_MORE] = "more"};

const char *trace_wait_word(uint64_t why)
{
    static const char *const words[] = {
        [NCU_WAIT_PROCESS] = "program", [NCU_WAIT_MESSAGE] = "message", [NCU_WAIT_REPLY] = "reply",
        [NCU_WAIT_MEMORY] = "memory",   [NCU_WAIT_DISK] = "drive",      [NCU_WAIT_TIME] = "time",
        [NCU_WAIT_CHILD] = "child",     [NCU_WAIT_PIPE] = "pipe",       [NCU_WAIT_POLL] = "poll"};

    return why < sizeof words / sizeof *words ? words[why] : "unknown";
}

#define TRAP_NAME(name, number) [number] = #name,
static const char *const trap_names[TRAPS] = {TRAP_LIST(TRAP_NAME)};
#undef TRAP_NAME

const char *trace_call_name(uint32_t how)
{
    if (how < TRAPS)
        return trap_names[how];
    return how == TRACE_BY_FAULT ? "page fault" : how == TRACE_BY_SWITCH ? "switch" : "kernel";
}
