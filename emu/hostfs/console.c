#include "emu/hostfs/console.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/oneline.h"
#include "emu/hostfs/errmap.h"
#include "vertex/shared/node_name.h"

void console_say(struct streams *s, const char *format, ...)
{
    char text[CONSOLE_LINE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    console_print(s, "ncube", text, strlen(text));
}

/* Writes the whole line at once, so that no other output comes between. */
static void print_line(struct streams *s, const char *prefix, const char *text, size_t n)
{
    char line[NODE_NAME_BYTES + CONSOLE_LINE_BYTES + 8];
    size_t used = snprintf(line, NODE_NAME_BYTES + 2, "%s%s", prefix, prefix[0] ? ": " : "");

    used += one_line_copy(line + used, text, n, '\t');
    line[used] = '\n';
    streams_write(s, STREAM_ERR, line, used + 1);
}

void console_print(struct streams *s, const char *prefix, const char *text, size_t n)
{
    while (n > 0) {
        const char *newline = memchr(text, '\n', n <= CONSOLE_LINE_BYTES ? n : CONSOLE_LINE_BYTES + 1);
        size_t line = newline ? (size_t)(newline - text) : n < CONSOLE_LINE_BYTES ? n : CONSOLE_LINE_BYTES;

        print_line(s, prefix, text, line);
        line += newline != NULL;
        text += line;
        n -= line;
    }
}

void console_explain(const char *text, size_t n, int32_t status, char *line)
{
    while (n > 0 && text[n - 1] == '\n')
        n--;
    if (n == 0) {
        snprintf(line, CONSOLE_LINE_BYTES, "%s", errmap_text(status));
        return;
    }
    size_t shown = n < CONSOLE_LINE_BYTES - 1 ? n : CONSOLE_LINE_BYTES - 1;
    line[one_line_copy(line, text, shown, '\t')] = '\0';
}
