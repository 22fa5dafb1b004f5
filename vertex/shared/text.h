/*
 * Formats the few lines that Vertex and nsdisk write: panics, faults, notes for the front end. newlib's printf would be
 * larger than the rest of either program. Pure: host tests link it.
 */
#ifndef VERTEX_TEXT_H
#define VERTEX_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Formats with %s %d %u %x %ld %lu %lx %% only. Always writes a final NUL and cuts a text that does not fit. Returns
 * the length without the NUL. */
size_t text_print(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_print_list(char *to, size_t size, const char *format, va_list list);

#endif
