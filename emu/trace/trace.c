/*
 * The trace above its formats: their table, which records are wanted, how a trace begins and ends.
 */
#include "emu/trace/trace_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/base/memory.h"

#define BUFFER_BYTES (64u << 10)

static const struct trace_writer *const writers[TRACE_FORMATS] = {
    [TRACE_TEXT] = &trace_text, [TRACE_CHROME] = &trace_chrome, [TRACE_PICL] = &trace_picl};

/* ---- Formats ---- */

int trace_format_by_name(const char *name)
{
    for (int i = 0; i < TRACE_FORMATS; i++)
        if (strcmp(writers[i]->name, name) == 0)
            return i;
    return -1;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t all = strlen(path), n = ending ? strlen(ending) : 0;

    return n > 0 && all > n && strcmp(path + all - n, ending) == 0;
}

int trace_format_by_ending(const char *path)
{
    for (int i = 0; i < TRACE_FORMATS; i++)
        for (int k = 0; k < 2; k++)
            if (ends_in(path, writers[i]->ending[k]))
                return i;
    return -1;
}

void trace_format_names(char *text, size_t bytes)
{
    size_t n = 0;

    for (int i = 0; i < TRACE_FORMATS && n < bytes; i++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%s",
                              i == 0                   ? ""
                              : i + 1 == TRACE_FORMATS ? " or "
                                                       : ", ",
                              writers[i]->name);
}

/* ---- Life ---- */

struct trace *trace_start(FILE *file, const struct trace_options *options)
{
    struct trace *t = memory_new(1, sizeof *t);

    *t = (struct trace){.file = file,
                        .writer = writers[options->format],
                        .options = *options,
                        .kinds = writers[options->format]->kinds,
                        .full_cycles = UINT64_MAX};
    setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
    if (t->writer->begin)
        t->writer->begin(t);
    return t;
}

uint64_t trace_full_cycles(const struct trace *t)
{
    return t ? t->full_cycles : UINT64_MAX;
}

int trace_close(struct trace *t, uint64_t now_cycles)
{
    if (!t)
        return 0;
    t->now_cycles = now_cycles;
    if (t->writer->end)
        t->writer->end(t, now_cycles < t->options.to_cycles ? now_cycles : t->options.to_cycles);
    int error = t->error;
    if (fclose(t->file) != 0 && error == 0)
        error = errno;
    free(t);
    errno = error;
    return error == 0 ? 0 : -1;
}

/* ---- Writing ---- */

bool trace_wants(const struct trace *t, enum trace_kind kind)
{
    return t && (t->kinds >> kind & 1);
}

/* A spell is in the window if a part of it is. */
static bool is_in_window(const struct trace *t, const struct trace_record *r)
{
    uint64_t since = r->kind >= TRACE_USER ? r->since : r->cycles;

    return r->cycles >= t->options.from_cycles && since <= t->options.to_cycles;
}

void trace_write_record(struct trace *t, const struct trace_record *r)
{
    if (r->kind == TRACE_END) {
        if (t->writer->says_end)
            t->writer->says_end(t, r);
        return;
    }
    if (!trace_wants(t, r->kind) || !is_in_window(t, r) || !trace_chose(t, r->node))
        return;
    t->now_cycles = r->cycles;
    t->writer->record(t, r);
}
