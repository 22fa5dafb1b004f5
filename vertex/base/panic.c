#include "vertex/base/panic.h"

#include <stdarg.h>
#include <stddef.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/shared/text.h"

enum { LINE_BYTES = 256 };

void panic(const char *format, ...)
{
    static char line[LINE_BYTES];
    va_list list;

    va_start(list, format);
    size_t n = text_print_list(line, sizeof line, format, list);
    va_end(list);
    ncu_fault(line, n);
}
