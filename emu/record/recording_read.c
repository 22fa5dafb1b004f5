/* Reading a recording: all of it, before anything of it is used. Whatever a damaged one says is refused here. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/record/container_parts.h"
#include "emu/record/recording_parts.h"

static int damaged(char *error)
{
    return error_line(error, "the recording is damaged: it lacks something");
}

static json_t *read_json(const struct recording *r, const char *name)
{
    const struct unpacked_entry *e = unpacked_find(&r->entries, name);
    char *text = e ? unpacked_text(e) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;

    free(text);
    return json;
}

static int check_version(const struct recording *r, char *error)
{
    int format = 0, timing = 0;

    if (json_unpack(r->about, "{s:i, s:i}", "format", &format, "timing", &timing) < 0)
        return error_line(error, "is no recording of ncube");
    if (format != RECORDING_FORMAT && format != RECORDING_FORMAT_KEPT_UP)
        return error_line(error, "a recording of version %d, which this ncube cannot read: it reads versions %d and %d",
                          format, RECORDING_FORMAT, RECORDING_FORMAT_KEPT_UP);
    if (timing != RECORDING_TIMING)
        return error_line(error,
                          "recorded by an ncube with version %d of the machine's timing; this one has version %d, and "
                          "would take other times",
                          timing, RECORDING_TIMING);
    return 0;
}

static int read_calls(struct recording *r, json_t *all, char *error)
{
    const char *name;
    json_t *list, *row;

    json_object_foreach(all, name, list)
    {
        struct recorded_calls *c = recording_calls(r, name);
        size_t i;

        c->unusual = memory_grow(c->unusual, &c->room, json_array_size(list) + 1, sizeof *c->unusual);
        json_array_foreach(list, i, row)
        {
            json_int_t call, result;
            int reason;

            if (json_unpack(row, "[I, I, i]", &call, &result, &reason) < 0)
                return damaged(error);
            c->unusual[c->n++] = (struct unusual){(uint64_t)call, result, reason};
        }
    }
    return 0;
}

static int read_signals(struct recording *r, json_t *list, char *error)
{
    json_t *row;
    size_t i;

    json_array_foreach(list, i, row)
    {
        struct recorded_signal s = {0};
        json_int_t cycles;
        int round, at_once;

        if (json_unpack(row, "[i, I, i, b]", &round, &cycles, &s.signal, &at_once) < 0)
            return damaged(error);
        s.round = (uint32_t)round;
        s.cycles = (uint64_t)cycles;
        s.at_once = at_once;
        recording_note_signal(r, &s);
    }
    return 0;
}

/* Whoever does them again checks each act. */
static int read_moments(struct recording *r, json_t *list, char *error)
{
    json_t *row, *acts;
    size_t i;

    json_array_foreach(list, i, row)
    {
        json_int_t cycles;

        if (json_unpack(row, "[I, o]", &cycles, &acts) < 0 || cycles < 0 || !json_is_array(acts))
            return damaged(error);
    }
    r->moments = json_incref(list);
    return 0;
}

static int read_parts(struct recording *r, int fd, char *error)
{
    json_t *calls, *signals, *moments = NULL;

    if (unpack(&r->entries, fd, error) < 0)
        return -1;
    r->about = read_json(r, CONTAINER_FIRST);
    r->end = read_json(r, CONTAINER_END);
    if (check_version(r, error) < 0)
        return -1;
    if (json_unpack(r->end, "{s:o, s:o, s:O, s?o}", "calls", &calls, "signals", &signals, "served", &r->served,
                    "moments", &moments) < 0)
        return damaged(error);
    if (read_calls(r, calls, error) < 0 || read_signals(r, signals, error) < 0 || read_moments(r, moments, error) < 0)
        return -1;
    return replies_read(r, error);
}

static int read_from(struct recording **read, const char *path, int fd, char *error)
{
    struct recording *r = recording_new(path);
    char why[ERROR_LINE_BYTES];

    *read = NULL;
    json_decref(r->served);
    r->served = NULL;
    r->replayed = true;
    int result = fd < 0 ? error_line(why, "%s", strerror(errno)) : read_parts(r, fd, why);
    r->read_fd = fd;
    if (result == 0) {
        *read = r;
        return 0;
    }
    recording_free(r);
    return error_line(error, "%s: %.700s", path, why);
}

int recording_read(struct recording **read, const char *path, char *error)
{
    return read_from(read, path, open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), error);
}

/* The descriptor is that of the file that was read, whatever has become of its name. */
int recording_read_again(struct recording **read, struct recording *before, char *error)
{
    int fd = dup(before->read_fd);
    struct recorded_calls *c;

    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    if (read_from(read, before->path, fd, error) < 0)
        return -1;
    SLIST_FOREACH(c, &before->calls, entry)
        recording_calls(*read, c->name)->shown = c->shown > c->gone ? c->shown : c->gone;
    return 0;
}

const json_t *recording_about(const struct recording *r)
{
    return r->about;
}

const json_t *recording_end(const struct recording *r)
{
    return r->end;
}
