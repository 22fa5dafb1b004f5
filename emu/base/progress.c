/* Progress on a terminal (progress.h). */
#include "emu/base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_BYTES 256
#define WIDTH      80 /* of a terminal that does not tell */
#define FROM_BYTES (8u << 20)

static const char whole_bar[] = "########################################";
enum { BAR = sizeof whole_bar - 1 };

static bool drawn, /* the line is there */
    in_output;     /* the cursor stands in a line of a program's output */

bool progress_has_terminal(void)
{
    return isatty(STDERR_FILENO);
}

static int find_width(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH;
}

void progress_line(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;

    if (in_output || !progress_has_terminal())
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\r%.*s\033[K", find_width() - 1, line);
    fflush(stderr);
    drawn = true;
}

void progress_bar(uint64_t done, uint64_t total)
{
    if (total < FROM_BYTES)
        return;
    int full = (int)(done * BAR / total);
    progress_line("[%.*s%*s] %3u %%", full, whole_bar, BAR - full, "", (unsigned)(done * 100 / total));
    if (done >= total)
        progress_erase();
}

void progress_erase(void)
{
    if (!drawn)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    drawn = false;
}

void progress_yield(const void *bytes, size_t n)
{
    progress_erase();
    if (n > 0)
        in_output = ((const char *)bytes)[n - 1] != '\n';
}
