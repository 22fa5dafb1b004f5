/*
 * What the trace and its writers share; no other file includes it.
 *
 * trace.c chooses the records, and trace_put.c keeps the limit. Between them, a writer turns one record into one or
 * more pieces of text, each of which is whole by itself, so that the trace can end after any of them.
 */
#pragma once

#include <stdarg.h>
#include <string.h>

#include "emu/trace/trace.h"

#define TRACE_SAYS_BYTES (4u << 10) /* of what is said about the end of a run; a part of `reserve` */

struct trace_writer {
    const char *name;               /* of the format */
    const char *ending[2];          /* of its files' names, or NULL */
    uint32_t kinds;                 /* bits: the kinds of records that it takes */
    void (*begin)(struct trace *t); /* may be NULL */
    void (*record)(struct trace *t, const struct trace_record *r);
    void (*says_end)(struct trace *t, const struct trace_record *r); /* TRACE_END, even at the limit; may be NULL */
    void (*end)(struct trace *t, uint64_t now_cycles);               /* may be NULL; frees t->own */
};

extern const struct trace_writer trace_text, trace_chrome, trace_picl;

struct trace {
    FILE *file;
    const struct trace_writer *writer;
    struct trace_options options;
    uint32_t kinds;       /* that are still wanted */
    uint64_t written;     /* bytes */
    uint64_t reserve;     /* bytes that the writer's end needs */
    uint64_t said;        /* bytes of TRACE_END that have been written, of TRACE_SAYS_BYTES */
    uint64_t full_cycles; /* when the limit was reached; UINT64_MAX: not yet */
    uint64_t now_cycles;  /* of the record that is being written */
    int error;            /* errno of the first write that failed */
    void *own;            /* the writer's */
};

/* Writes a piece, if it fits below the limit; else the trace ends here. Returns whether it has been written. */
bool trace_put(struct trace *t, const char *text, size_t bytes);
/* Writes what must come in any case; `reserve` has counted it. */
void trace_put_reserved(struct trace *t, const char *text, size_t bytes);

/* How much of `reserve` is for pieces about the end of the run: nothing where the limit is hardly more. */
uint64_t trace_says_reserve(const struct trace *t);

/* Writes a piece about the end of the run, unless there have been more than the reserve has room for. */
void trace_put_says(struct trace *t, const char *text, size_t bytes);

/* Returns whether the node's events are wanted. */
bool trace_chose(const struct trace *t, uint32_t node);

/* ---- A piece of text ---- */

#define PIECE_BYTES 640u

struct piece {
    char text[PIECE_BYTES];
    size_t n;
};

/* Append to a piece; what does not fit is left out. */
static inline void piece_bytes(struct piece *p, const char *text, size_t n)
{
    if (n > PIECE_BYTES - p->n)
        n = PIECE_BYTES - p->n;
    memcpy(p->text + p->n, text, n);
    p->n += n;
}

static inline void piece_text(struct piece *p, const char *text)
{
    piece_bytes(p, text, strlen(text));
}

static inline void piece_number(struct piece *p, uint64_t number)
{
    char digits[20], *end = digits + sizeof digits, *first = end;

    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    piece_bytes(p, first, (size_t)(end - first));
}

/* Appends as printf does, but much faster: %s, %c, %u and %lu, which is uint64_t. For JSON, each ' is written as ". */
void piece_put(struct piece *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void piece_put_list(struct piece *p, const char *format, va_list arguments);

/* Two formats name calls. */
const char *trace_call_name(uint32_t how);
