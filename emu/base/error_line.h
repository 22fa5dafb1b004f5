/* One line that says what is wrong, which a function that fails leaves to its caller. */
#pragma once

#include <stdarg.h>
#include <stdio.h>

#define ERROR_LINE_BYTES 1400u

/* Writes a line to error (ERROR_LINE_BYTES), unless that is NULL. Returns -1. */
__attribute__((format(printf, 2, 3))) static inline int error_line(char *error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (error)
        vsnprintf(error, ERROR_LINE_BYTES, format, arguments);
    va_end(arguments);
    return -1;
}
