/* Reads what a measurement's runs printed, and their statistics (docs/statistics.md). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/study/study.h"
#include "vertex/contract/machine.h"

#define PATH_BYTES 4096
#define LINE_BYTES 1024

/* ---- Lines of "name=value" ---- */

static json_t *value_of(const char *text)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end != '\0')
        return json_string(text);
    return strpbrk(text, ".eE") ? json_real(number) : json_integer((json_int_t)number);
}

static json_t *read_line(char *line)
{
    json_t *json = json_object();

    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
        char *equal = strchr(word, '=');

        if (!equal)
            continue;
        *equal = '\0';
        json_object_set_new(json, word, value_of(equal + 1));
    }
    return json;
}

static json_t *read_lines(const char *folder, const char *name)
{
    char path[PATH_BYTES], line[LINE_BYTES];
    json_t *lines = json_array();

    snprintf(path, sizeof path, "%s/%s.out", folder, name);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        json_array_append_new(lines, read_line(line));
    if (f)
        fclose(f);
    return lines;
}

/* ---- Statistics ---- */

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static json_t *read_statistics(struct study *s, const char *folder, const char *operation, const char *where)
{
    char path[PATH_BYTES];
    json_error_t error;

    snprintf(path, sizeof path, "%s/%s-%s.json", folder, operation, where);
    json_t *json = json_load_file(path, 0, &error);
    if (!json)
        snprintf(s->error, sizeof s->error, "%s: %s", path, error.text);
    return json;
}

static double more(const json_t *end, const json_t *begin, const char *key)
{
    return number(end, key) - number(begin, key);
}

static void use_of_nodes(const json_t *end, const json_t *begin, double cycles, struct study_use *u)
{
    size_t i;
    json_t *node;

    json_array_foreach(end, i, node)
    {
        const json_t *other = json_array_get(begin, i);
        double part = (more(node, other, "user_cycles") + more(node, other, "kernel_cycles")) / cycles;
        bool io = strcmp(json_string_value(json_object_get(node, "kind")), "io") == 0;

        if (io)
            u->server = fmax(u->server, part);
        else
            u->processor = fmax(u->processor, part);
    }
}

static void use_of_channels(const json_t *end, const json_t *begin, double cycles, struct study_use *u)
{
    size_t i;
    json_t *channel;

    json_array_foreach(end, i, channel)
    {
        double part = more(channel, json_array_get(begin, i), "busy_cycles") / cycles;

        if (part <= u->channel || number(channel, "from") == NODE_HOST)
            continue;
        u->channel = part;
        u->channel_from = (uint32_t)number(channel, "from");
        u->channel_number = (uint32_t)number(channel, "channel");
    }
}

static void use_of_drives(const json_t *end, const json_t *begin, double cycles, struct study_use *u)
{
    size_t i;
    json_t *drive;

    json_array_foreach(end, i, drive) u->drive =
        fmax(u->drive, more(drive, json_array_get(begin, i), "busy_cycles") / cycles);
}

static int read_use(struct study *s, struct study_side *side, const char *folder, const char *operation)
{
    json_t *end = read_statistics(s, folder, operation, "end");
    json_t *begin = end ? read_statistics(s, folder, operation, "begin") : NULL;
    double cycles = side->us * CLOCK_HZ / 1e6;

    if (begin) {
        use_of_nodes(json_object_get(end, "nodes"), json_object_get(begin, "nodes"), cycles, &side->use);
        use_of_channels(json_object_get(end, "channels"), json_object_get(begin, "channels"), cycles, &side->use);
        use_of_drives(json_object_get(end, "drives"), json_object_get(begin, "drives"), cycles, &side->use);
    }
    json_decref(end);
    json_decref(begin);
    return begin ? 0 : -1;
}

/* ---- A transfer ---- */

bool study_read_times(struct study_side *side, const char *folder, const char *operation)
{
    double bytes = 0;
    json_t *line;
    size_t i;

    side->lines = read_lines(folder, operation);
    side->from_us = INFINITY;
    json_array_foreach(side->lines, i, line)
    {
        side->from_us = fmin(side->from_us, number(line, "from_us"));
        side->to_us = fmax(side->to_us, number(line, "to_us"));
        side->set_up_us = fmax(side->set_up_us, number(line, "set_up_us"));
        bytes += number(line, "bytes");
    }
    side->us = side->to_us - side->from_us;
    side->mb_s = bytes / STUDY_MB / (side->us / 1e6);
    return side->us > 0;
}

static int read_side(struct study *s, struct study_side *side, const char *folder, const char *operation)
{
    if (study_read_times(side, folder, operation))
        return read_use(s, side, folder, operation);
    snprintf(s->error, sizeof s->error, "%s.out: no measurement in it", operation);
    return -1;
}

int study_read_outcome(struct study *s, struct study_measure *m, const char *folder)
{
    m->done = true;
    if (m->program != STUDY_PIOBENCH) {
        m->write.lines = read_lines(folder, "write");
        return 0;
    }
    if (read_side(s, &m->write, folder, "write") < 0)
        return -1;
    return read_side(s, &m->read, folder, "read");
}
