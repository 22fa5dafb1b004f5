#include "emu/cmd/machine_data.h"

#include <stdarg.h>

#include "emu/base/oneline.h"

int machine_complain(struct machine *m, const char *format, ...)
{
    char text[2 * MACHINE_ERROR_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "ncube: %s\n", one_line(text));
    m->failed = true;
    return -1;
}
