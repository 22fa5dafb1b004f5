#include "emu/cmd/machine_data.h"

#include <stdarg.h>

#include "emu/base/oneline.h"
#include "emu/base/progress.h"

static void say(const char *format, va_list arguments)
{
    char text[2 * MACHINE_ERROR_BYTES];

    vsnprintf(text, sizeof text, format, arguments);
    fflush(stdout);
    progress_erase();
    fprintf(stderr, "ncube: %s\n", one_line(text));
}

void machine_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

int machine_complain(struct machine *m, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    m->failed = true;
    return -1;
}
