/*
 * The few conversions that nsdisk's messages need: %s, %u, %lu, %d, %x. newlib's printf would be larger than
 * the rest of the program.
 */
#ifndef NSDISK_TEXT_H
#define NSDISK_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Writes at most `bytes` with the final NUL; returns the text's length. */
size_t text_format(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_format_list(char *text, size_t bytes, const char *format, va_list list);

#endif
