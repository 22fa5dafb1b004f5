/* Names of families' files (family_text.h). */
#include "emu/disk/family_text.h"

#include <string.h>

static int read_text(struct volume *v, const char *path, char *text, size_t bytes, char *error)
{
    struct volume_file *file = NULL;
    uint64_t size = 0;
    int result = volume_file_open(v, path, &file, &size, error);

    bytes = size < bytes ? (size_t)size : bytes;
    if (result == 0)
        result = volume_file_read(file, 0, text, bytes, error);
    text[result == 0 ? bytes : 0] = '\0';
    return volume_file_close(file, result, error);
}

bool family_text_is(struct volume *v, const struct family_text *t, const char *path)
{
    char text[32];
    const size_t n = strlen(t->first);

    return n < sizeof text && read_text(v, path, text, n, NULL) == 0 && strcmp(text, t->first) == 0;
}

int family_text_find(struct pio_volumes *v, const struct family_text *t, const char *path, char *text, size_t bytes,
                     struct volume_stat *st, char *error)
{
    for (uint32_t i = 0; i < v->n; i++) {
        struct volume *volume;

        if (pio_volume(v, i, &volume, error) < 0)
            return -1;
        if (!volume_has(volume, path) || !family_text_is(volume, t, path))
            continue;
        if (volume_stat(volume, path, st, error) < 0)
            return -1;
        return read_text(volume, path, text, bytes, error);
    }
    return error_line(error, "%s:%s: no volume of this machine has a file of %s of that name", t->scheme, path,
                      t->what);
}

int family_text_volume(const struct pio_volumes *v, const char *name, uint32_t *index, char *error)
{
    for (*index = 0; *index < v->n; ++*index)
        if (strcmp(v->name[*index], name) == 0)
            return 0;
    return error_line(error, "there is no volume %s in this machine", name);
}
