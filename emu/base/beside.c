#include "emu/base/beside.h"

#include <libgen.h>
#include <limits.h>
#include <unistd.h>

#include "emu/base/memory.h"

char *beside_find(const char *name)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    return memory_print("%s/%s", dirname(dirname(self)), name);
}
