#include "emu/base/inputs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "emu/base/memory.h"

const char *inputs_find(const struct inputs *in, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return NULL;
    for (uint32_t i = 0; i < in->n; i++)
        if (in->input[i].dev == st.st_dev && in->input[i].ino == st.st_ino)
            return in->input[i].what;
    return NULL;
}

void inputs_add(struct inputs *in, const char *path, const char *format, ...)
{
    struct stat st;
    va_list arguments;

    if (stat(path, &st) < 0)
        return;
    va_start(arguments, format);
    char *what = memory_print_list(format, arguments);
    va_end(arguments);
    in->input = memory_resize(in->input, in->n + 1, sizeof *in->input);
    in->input[in->n++] = (struct input){what, st.st_dev, st.st_ino};
}

void inputs_free(struct inputs *in)
{
    for (uint32_t i = 0; i < in->n; i++)
        free(in->input[i].what);
    free(in->input);
    *in = (struct inputs){0};
}
