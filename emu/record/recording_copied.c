/* A recording in a copy of the process, which has come less far in it. */
#include <stdlib.h>
#include <string.h>

#include "emu/record/recording_parts.h"

#define NAME_MOST 256u

bool recording_give(const struct recording *r, FILE *to)
{
    const struct recorded_calls *c;

    SLIST_FOREACH(c, &r->calls, entry)
        if (fprintf(to, "%s\n%llu\n", c->name, (unsigned long long)(c->shown > c->gone ? c->shown : c->gone)) < 0)
            return false;
    return fputs("\n", to) >= 0;
}

static bool read_line(char *line, FILE *from)
{
    char *end = fgets(line, NAME_MOST, from) ? strchr(line, '\n') : NULL;

    if (end)
        *end = '\0';
    return end != NULL;
}

bool recording_take(struct recording *r, FILE *from)
{
    char name[NAME_MOST], number[NAME_MOST];

    while (read_line(name, from)) {
        if (name[0] == '\0')
            return true;
        if (!read_line(number, from))
            return false;
        recording_calls(r, name)->shown = strtoull(number, NULL, 10);
    }
    return false;
}
