#include "emu/base/json_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Returns the bytes of the UTF-8 character with which `text` begins; 0 if it begins with none. */
static size_t character_bytes(const char *text)
{
    size_t left = strnlen(text, 4);

    for (size_t n = 1; n <= left; n++) {
        json_t *s = json_stringn(text, n);

        json_decref(s);
        if (s)
            return n;
    }
    return 0;
}

json_t *json_text(const char *name)
{
    char *text = memory_new(strlen(name) * (sizeof REPLACEMENT - 1) + 1, 1), *end = text;

    while (*name) {
        size_t n = character_bytes(name);

        bool control = (unsigned char)*name < 0xa0; /* of C1, as a single byte */

        end = n ? mempcpy(end, name, n) : stpcpy(end, control ? "?" : REPLACEMENT);
        name += n ? n : 1;
    }
    *end = '\0';
    json_t *string = json_string(text);
    free(text);
    return string;
}

int json_print(json_t *json)
{
    int status = json_dumpf(json, stdout, JSON_INDENT(2)) == 0 ? 0 : 1;

    putchar('\n');
    json_decref(json);
    return status;
}
