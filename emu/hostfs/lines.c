/* Output by whole lines: an incomplete line of each node and stream is kept until its newline comes. */
#include "emu/hostfs/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "vertex/contract/errors.h"

#define LABEL_BYTES 20u

int lines_init(struct lines *l, struct streams *streams, uint32_t base, uint32_t nodes, bool label)
{
    *l = (struct lines){.streams = streams, .base = base, .nodes = nodes, .label = label};
    if (nodes <= 1 && !label)
        return 0;
    l->line = calloc(2 * (size_t)nodes, sizeof *l->line);
    return l->line ? 0 : -N_ENOMEM;
}

void lines_free(struct lines *l)
{
    for (uint32_t i = 0; l->line && i < 2 * l->nodes; i++)
        free(l->line[i].bytes);
    free(l->line);
    l->line = NULL;
}

static struct line *line_of(const struct lines *l, uint32_t node, enum stream which)
{
    if (!l->line || node < l->base || node - l->base >= l->nodes)
        return NULL;
    return &l->line[2 * (node - l->base) + (which == STREAM_ERR)];
}

static bool line_add(struct line *line, const void *bytes, size_t n)
{
    if (n == 0)
        return true;
    uint8_t *larger = memory_try_grow(line->bytes, &line->room, line->n + n, 1);
    if (!larger)
        return false;
    line->bytes = larger;
    memcpy(line->bytes + line->n, bytes, n);
    line->n += n;
    return true;
}

static void line_clear(struct line *line, bool begun)
{
    free(line->bytes);
    *line = (struct line){.begun = begun};
}

static size_t count_newlines(const uint8_t *bytes, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += bytes[i] == '\n';
    return count;
}

/* Copies text, with the label before every line that begins in it. Returns the end of the copy. */
static uint8_t *copy_labelled(uint8_t *to, const uint8_t *bytes, size_t n, const char *label, bool begun)
{
    while (n > 0) {
        const uint8_t *newline = memchr(bytes, '\n', n);
        size_t piece = newline ? (size_t)(newline + 1 - bytes) : n;

        if (!begun)
            to = (uint8_t *)stpcpy((char *)to, label);
        memcpy(to, bytes, piece);
        to += piece;
        bytes += piece;
        n -= piece;
        begun = false;
    }
    return to;
}

static int64_t write_labelled(struct lines *l, uint32_t node, enum stream which, const struct line *line)
{
    char label[LABEL_BYTES];
    size_t label_bytes = snprintf(label, sizeof label, "node %u: ", node - l->base);
    uint8_t *text = malloc(line->n + (count_newlines(line->bytes, line->n) + 1) * label_bytes + 1);

    if (!text)
        return -N_ENOMEM;
    uint8_t *end = copy_labelled(text, line->bytes, line->n, label, line->begun);
    int64_t put = streams_write(l->streams, which, text, end - text);
    free(text);
    return put;
}

/* Writes the bytes that have been kept. 0 or a negative n_error. */
static int64_t pass_on(struct lines *l, uint32_t node, enum stream which, struct line *line)
{
    bool complete = line->bytes[line->n - 1] == '\n';
    int64_t put =
        l->label ? write_labelled(l, node, which, line) : streams_write(l->streams, which, line->bytes, line->n);

    line_clear(line, !complete);
    return put < 0 ? put : 0;
}

int64_t lines_write(struct lines *l, uint32_t node, enum stream which, const void *bytes, size_t n)
{
    struct line *line = line_of(l, node, which);
    const uint8_t *last = memrchr(bytes, '\n', n);
    size_t whole = last ? (size_t)(last + 1 - (const uint8_t *)bytes) : 0;
    int64_t error = 0;

    if (!line)
        return streams_write(l->streams, which, bytes, n);
    if (line->error) {
        error = line->error;
        line->error = 0;
        return error;
    }
    if (!line_add(line, bytes, whole))
        return -N_ENOMEM;
    if (whole > 0)
        error = pass_on(l, node, which, line);
    if (error == 0 && !line_add(line, (const uint8_t *)bytes + whole, n - whole))
        error = -N_ENOMEM;
    if (error == 0 && line->n > LINES_MAX_BYTES)
        error = pass_on(l, node, which, line);
    return error < 0 ? error : (int64_t)n;
}

void lines_flush(struct lines *l, uint32_t node)
{
    for (int which = STREAM_OUT; which <= STREAM_ERR; which++) {
        struct line *line = line_of(l, node, which);
        int64_t error = line && line->n > 0 ? pass_on(l, node, which, line) : 0;

        if (error < 0)
            line->error = (int32_t)error;
    }
}

void lines_end(struct lines *l, uint32_t node)
{
    lines_flush(l, node);
    for (int which = STREAM_OUT; which <= STREAM_ERR; which++) {
        struct line *line = line_of(l, node, which);

        if (!line)
            continue;
        l->error = l->error ? l->error : line->error;
        line->error = 0;
    }
}

int32_t lines_take_error(struct lines *l)
{
    int32_t error = l->error;

    l->error = 0;
    return error;
}
