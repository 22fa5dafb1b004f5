#include "emu/machine/recorded.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "emu/base/memory.h"

json_t *recorded_text(const char *text)
{
    json_t *json = json_string(text);

    if (json)
        return json;
    json = json_array();
    for (const char *c = text; *c; c++)
        json_array_append_new(json, json_integer((unsigned char)*c));
    return json;
}

char *recorded_text_of(const json_t *json)
{
    const char *string = json_string_value(json);
    size_t n = json_array_size(json);

    if (string)
        return memory_copy_text(string, SIZE_MAX);
    if (!json_is_array(json))
        return NULL;
    char *text = memory_new(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)json_integer_value(json_array_get(json, i));
    return text;
}

bool recorded_part_digest(const char *lib, const char *name, char digest[DIGEST_TEXT_BYTES])
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", lib, name);
    return digest_path(path, digest);
}
