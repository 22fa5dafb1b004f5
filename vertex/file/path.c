#include "vertex/file/path.h"

#include "vertex/contract/errors.h"

uint32_t path_length(const char *s)
{
    uint32_t n = 0;

    while (s[n])
        n++;
    return n;
}

int path_prepend(const char *base, char *text, uint32_t size)
{
    uint32_t n = path_length(text), ahead = path_length(base);

    if (n == 0 || text[0] == '/')
        return 0;
    ahead += base[ahead - 1] != '/';
    if (ahead + n >= size)
        return -N_ENAMETOOLONG;
    for (uint32_t i = n + 1; i-- > 0;)
        text[ahead + i] = text[i];
    for (uint32_t i = 0; i < ahead && base[i]; i++)
        text[i] = base[i];
    text[ahead - 1] = '/';
    return 0;
}

/* Returns the length of a leading "//volume", or 0. */
static uint32_t root_bytes(const char *text)
{
    uint32_t n = 2;

    if (text[0] != '/' || text[1] != '/')
        return 0;
    while (text[n] && text[n] != '/')
        n++;
    return n;
}

uint32_t path_simplify(char *text)
{
    uint32_t root = root_bytes(text), to = root, from = root;

    while (text[from]) {
        uint32_t n = 0;

        while (text[from] == '/')
            from++;
        while (text[from + n] && text[from + n] != '/')
            n++;
        if (n == 2 && text[from] == '.' && text[from + 1] == '.') {
            while (to > root && text[--to] != '/')
                ;
        } else if (n > 0 && !(n == 1 && text[from] == '.')) {
            text[to++] = '/';
            for (uint32_t i = 0; i < n; i++)
                text[to++] = text[from + i];
        }
        from += n;
    }
    if (to == root)
        text[to++] = '/';
    text[to] = '\0';
    return to;
}

int path_parse_volume(const char *volume, struct path_parts *parts)
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
    parts->name_bytes = path_length(parts->name);
    return 0;
}

int path_parse(const char *path, struct path_parts *parts)
{
    *parts = (struct path_parts){.name = path};
    if (path[0] == '\0')
        return -N_ENOENT;
    if (path[0] == '/' && path[1] == '/')
        return path_parse_volume(path + 2, parts);
    parts->name_bytes = path_length(parts->name);
    return 0;
}
