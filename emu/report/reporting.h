/*
 * The report of `ncube run --report`: it reads the trace while that is written.
 *
 *   reporting_open --> reporting_stream --> (a trace is written to the stream, which is closed) --> reporting_close
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct reporting;

/* Opens the file for the report, which gets its name at the end. Returns NULL with a line in error
 * (ERROR_LINE_BYTES). */
struct reporting *reporting_open(const char *path, char *error);

/* Returns a stream to which a trace in JSON is to be written. What is written to it goes to `copy` as well, which is
 * the stream's from now on; NULL: there is none. Returns NULL with errno; then `copy` is still the caller's. */
FILE *reporting_stream(struct reporting *r, FILE *copy);

/* Makes the report, if it is `wanted`, after the stream has been closed. Frees everything. Returns 0, or -1 with a line
 * in error (ERROR_LINE_BYTES); then there is no file. */
int reporting_close(struct reporting *r, bool wanted, char *error);
