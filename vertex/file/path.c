#include "vertex/file/path.h"

#include "vertex/contract/errors.h"

static uint32_t length(const char *s)
{
    uint32_t n = 0;

    while (s[n])
        n++;
    return n;
}

static int parse_volume(const char *volume, struct path_parts *parts)
{
    uint32_t n = 0;

    while (volume[n] && volume[n] != '/') {
        if (n + 1 >= VOLUME_NAME_BYTES)
            return -N_ENOENT;
        parts->volume[n] = volume[n];
        n++;
    }
    if (n == 0)
        return -N_ENOENT;
    parts->volume[n] = '\0';
    parts->on_volume = true;
    parts->name = volume + n;
    return 0;
}

int path_parse(const char *path, struct path_parts *parts)
{
    int error = 0;

    *parts = (struct path_parts){.name = path};
    if (path[0] == '\0')
        return -N_ENOENT;
    if (path[0] == '/' && path[1] == '/')
        error = parse_volume(path + 2, parts);
    parts->name_bytes = length(parts->name);
    return error;
}
