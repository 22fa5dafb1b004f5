/*
 * Reads a timeline that ncube has written (emu/trace/trace_chrome.c): one event a line, so that a trace of any length
 * needs the memory of its events only.
 *
 *   reader_begin --> reader_feed ... --> reader_end --> (timeline) --> timeline_free
 */
#pragma once

#include "emu/report/timeline.h"

#define READER_ERROR_BYTES 512
#define READER_LINE_MAX    (64u << 10) /* bytes; longer lines are none of ncube's */

struct reader {
    struct timeline *timeline;
    char *line; /* the beginning of one whose end has not come yet */
    size_t n, room;
    uint64_t lines;
    bool begun, ended;
    void *open;           /* timeline_read.c's: requests and phases whose ends have not come yet */
    struct letter letter; /* whose end comes next */
    bool in_letter;
    char error[READER_ERROR_BYTES]; /* the first one; "": none */
};

/* Begins to read into a timeline, which timeline_begin has made. */
void reader_begin(struct reader *r, struct timeline *t);

/* Takes the next bytes of the trace. After an error it ignores them. */
void reader_feed(struct reader *r, const char *bytes, size_t n);

/* Ends, with timeline_sort. Returns 0; or -1 with a text in r->error that says what is wrong with the trace, which
 * line, and what to do. Frees what the reader has taken. */
int reader_end(struct reader *r);

/* Reads a file, packed or not, to its end. Returns as reader_end. */
int reader_read_file(struct timeline *t, const char *path, char error[READER_ERROR_BYTES]);
