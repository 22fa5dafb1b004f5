/* The trace as text: a line for each event (trace.h). */
#include <inttypes.h>
#include <stdarg.h>

#include "emu/trace/trace_parts.h"
#include "vertex/contract/system.h"

static void line(struct trace *t, const struct trace_record *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void line(struct trace *t, const struct trace_record *r, const char *format, ...)
{
    char text[PIECE_BYTES];
    va_list arguments;

    int n = snprintf(text, sizeof text, "%" PRIu64 " %u ", r->cycles, r->node);
    va_start(arguments, format);
    n += vsnprintf(text + n, sizeof text - (size_t)n - 1, format, arguments);
    va_end(arguments);
    if ((size_t)n > sizeof text - 2)
        n = sizeof text - 2;
    text[n] = '\n';
    if (r->kind == TRACE_END)
        trace_put_says(t, text, (size_t)n + 1);
    else
        trace_put(t, text, (size_t)n + 1);
}

static void message_line(struct trace *t, const struct trace_record *r, const char *event)
{
    char context[24] = "";

    if (TAG_CONTEXT(r->tag) > 0)
        snprintf(context, sizeof context, " context=%u", (unsigned)TAG_CONTEXT(r->tag));
    line(t, r, "%s=%u tag=%#" PRIx64 " bytes=%" PRIu64 "%s", event, r->peer, r->tag, r->bytes, context);
}

static void record(struct trace *t, const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_SEND:
        return message_line(t, r, "send to");
    case TRACE_ARRIVAL:
        return message_line(t, r, "arrival from");
    case TRACE_DAMAGE:
        return message_line(t, r, "damage from");
    case TRACE_RECEIVE:
        return message_line(t, r, "receive from");
    case TRACE_HEADER:
        return line(t, r, "header from=%u channel=%u bytes=%" PRIu64, r->peer, r->channel, r->bytes);
    case TRACE_FAILED:
        return line(t, r, "failed to=%u status=%d", r->peer, (int)r->status);
    case TRACE_INTERRUPT:
        return line(t, r, "interrupt since=%" PRIu64, r->since);
    case TRACE_DISK:
        return line(t, r, "disk drive=%" PRIu64 " %s sector=%" PRIu64 " sectors=%" PRIu64, r->drive,
                    r->write ? "write" : "read", r->sector, r->bytes);
    case TRACE_DISK_DONE:
        return line(t, r, "disk-done status=%d", (int)r->status);
    case TRACE_EXIT:
        return line(t, r, "exit status=%d how=%u", (int)r->status, r->how);
    case TRACE_LINK:
    case TRACE_NODE:
        return line(t, r, "%s %s", r->kind == TRACE_NODE ? "node" : "link", r->dies ? "dies" : "recovers");
    case TRACE_MARK:
        return line(t, r, "mark %s", r->text);
    case TRACE_IDLE:
        if (r->call)
            line(t, r, "waited since=%" PRIu64 " %s", r->since, r->call->wait);
        return;
    default:
        return;
    }
}

static void says_end(struct trace *t, const struct trace_record *r)
{
    line(t, r, "end %s: %s", trace_end_words[r->how], r->text);
}

static void begin(struct trace *t)
{
    t->reserve = trace_says_reserve(t);
}

const struct trace_writer trace_text = {.name = "text",
                                        .kinds = ((1u << TRACE_USER) - 1) | 1u << TRACE_IDLE,
                                        .begin = begin,
                                        .record = record,
                                        .says_end = says_end};
