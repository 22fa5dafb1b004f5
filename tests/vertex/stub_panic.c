/* panic() for host tests: the text, then abort. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "vertex/base/panic.h"

void panic(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    abort();
}
