#include "emu/config/machine_file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/nearest.h"
#include "emu/base/beside.h"

char *machine_file_find(const char *name)
{
    if (strchr(name, '/') || access(name, F_OK) == 0)
        return memory_copy_text(name, SIZE_MAX);
    char *folder = beside_find("machines"), *path = memory_print("%s/%s.conf", folder, name);
    free(folder);
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return memory_copy_text(name, SIZE_MAX);
}

char *machine_file_meant(const char *name)
{
    char *folder = beside_find("machines"), *meant = NULL;
    DIR *d = strchr(name, '/') ? NULL : opendir(folder);

    for (struct dirent *e; d && (e = readdir(d));) {
        char *point = strrchr(e->d_name, '.');

        if (!point || strcmp(point, ".conf") != 0)
            continue;
        *point = '\0';
        if (nearest_word(name, meant, e->d_name) == meant)
            continue;
        free(meant);
        meant = memory_copy_text(e->d_name, SIZE_MAX);
    }
    if (d)
        closedir(d);
    free(folder);
    return meant;
}
