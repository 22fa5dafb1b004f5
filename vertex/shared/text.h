/*
 * Formats the few lines that Vertex, nsdisk and libpio write: panics, faults, notes for the front end, descriptions of
 * files. newlib's printf and scanf would be larger than the rest of either program. Pure: host tests link it.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* Formats with %s %.*s %c %d %u %x %ld %lu %lx %lld %llu %llx %% only. Always writes a final NUL and cuts a text that
 * does not fit. Returns the length without the NUL. */
size_t text_print(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_print_list(char *to, size_t size, const char *format, va_list list);
