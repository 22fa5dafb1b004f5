/*
 * Formatting of the few lines that Vertex and nsdisk write: panics, faults, notes for the front end. Pure: newlib's printf
 * would be larger than the rest of either program.
 */
#ifndef VERTEX_TEXT_H
#define VERTEX_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Knows %s %d %u %x %ld %lu %lx %%. Always ends in a NUL; what does not fit is left out. Returns the length
 * without the NUL. */
size_t text_print(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_print_list(char *to, size_t size, const char *format, va_list list);

#endif
