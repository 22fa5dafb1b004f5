#define _GNU_SOURCE /* asprintf */
#include "emu/base/beside.h"

#include <err.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

char *beside_find(const char *name)
{
    char self[PATH_MAX], *path;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    if (asprintf(&path, "%s/%s", dirname(dirname(self)), name) < 0)
        errx(1, "no memory for the path of %s", name);
    return path;
}
