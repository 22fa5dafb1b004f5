/*
 * A recording's life, and what is noted and taken: unusual results of calls, programs, signals. The replies for files
 * are in recording_replies.c, input and acts in recording_acts.c, what only a kept one has in recording_kept.c.
 */
#include "emu/record/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/record/digest.h"
#include "emu/record/recording_parts.h"

/* ---- Writing ---- */

struct recording *recording_new(const char *path)
{
    struct recording *r = memory_new(1, sizeof *r);

    r->path = path;
    r->file.fd = r->read_fd = -1;
    r->replies.fd = -1;
    r->served = json_array();
    return r;
}

int recording_open(struct recording *r, char *error)
{
    char why[ERROR_LINE_BYTES];

    if (new_file_open(&r->file, r->path, error) < 0)
        return -1;
    if (container_begin(&r->pack, r->file.fd, why) == 0)
        return 0;
    new_file_close(&r->file, -1, why);
    return error_line(error, "%s: %.200s", r->path, why);
}

const char *recording_file(const struct recording *r)
{
    return r->path;
}

static json_t *describe_calls(const struct recording *r)
{
    const struct recorded_calls *c;
    json_t *all = json_object();

    SLIST_FOREACH(c, &r->calls, entry) {
        json_t *list = json_array();

        for (size_t i = 0; i < c->n; i++)
            json_array_append_new(list, json_pack("[I, I, i]", (json_int_t)c->unusual[i].call,
                                                  (json_int_t)c->unusual[i].result, c->unusual[i].reason));
        if (c->n > 0)
            json_object_set_new(all, c->name, list);
        else
            json_decref(list);
    }
    return all;
}

static json_t *describe_signals(const struct recording *r)
{
    json_t *list = json_array();

    for (size_t i = 0; i < r->signals; i++)
        json_array_append_new(list, json_pack("[i, I, i, b]", (int)r->signal[i].round, (json_int_t)r->signal[i].cycles,
                                              r->signal[i].signal, (int)r->signal[i].at_once));
    return list;
}

static int write_end(struct recording *r, json_t *end)
{
    replies_flush(r);
    replies_settle(r);
    acts_add_inputs(r);
    json_object_set_new(end, "calls", describe_calls(r));
    json_object_set_new(end, "signals", describe_signals(r));
    json_object_set(end, "served", r->served);
    if (r->moments)
        json_object_set(end, "moments", r->moments);
    json_object_set_new(end, "replies", json_integer((json_int_t)r->replies.all));
    char *text = json_dumps(end, JSON_COMPACT);
    if (!text)
        recording_judge(r, error_line(r->error, "no memory for its end"));
    int result = container_end(r->pack, r->failed ? NULL : text, r->error);
    recording_judge(r, result);
    r->pack = NULL;
    free(text);
    return r->failed ? -1 : 0;
}

int recording_close(struct recording *r, json_t *end, char *error)
{
    char why[ERROR_LINE_BYTES] = "";
    bool opened = r->pack != NULL;

    int result = opened ? write_end(r, end) : 0;
    json_decref(end);
    if (!opened)
        return 0;
    if (result < 0)
        error_line(error, "%s: %.400s; there is no recording", r->path, r->error);
    if (new_file_close(&r->file, result, why) < 0 && result == 0)
        result = error_line(error, "%.700s; there is no recording", why);
    return result;
}

/* ---- Life ---- */

void recording_free(struct recording *r)
{
    char error[ERROR_LINE_BYTES];

    if (!r)
        return;
    replies_settle(r);
    container_end(r->pack, NULL, error);
    if (r->file.fd >= 0)
        new_file_close(&r->file, -1, error);
    for (struct recorded_calls *c; (c = SLIST_FIRST(&r->calls));) {
        SLIST_REMOVE_HEAD(&r->calls, entry);
        if (c->held)
            c->release(c->held);
        free(c->name);
        free(c->unusual);
        free(c);
    }
    replies_free(&r->replies);
    if (r->read_fd >= 0)
        close(r->read_fd);
    unpacked_free(&r->entries);
    json_decref(r->about);
    json_decref(r->end);
    json_decref(r->served);
    acts_free(r);
    for (size_t i = 0; i < r->programs; i++)
        if (r->program[i] >= 0)
            close(r->program[i]);
    free(r->program);
    free(r->signal);
    free(r->departure);
    free(r);
}

/* ---- Calls ---- */

struct recorded_calls *recording_calls(struct recording *r, const char *name)
{
    struct recorded_calls *c;

    if (!r)
        return NULL;
    SLIST_FOREACH(c, &r->calls, entry)
        if (strcmp(c->name, name) == 0)
            return c;
    c = memory_new(1, sizeof *c);
    *c = (struct recorded_calls){.of = r, .name = memory_copy_text(name, strlen(name))};
    SLIST_INSERT_HEAD(&r->calls, c, entry);
    return c;
}

int64_t recorded_calls_note(struct recorded_calls *c, int64_t usual, int64_t result, int reason)
{
    uint64_t call = c->calls++;

    c->noted = c->calls;
    if (result == usual && reason == 0)
        return result;
    c->unusual = memory_grow(c->unusual, &c->room, c->n + 1, sizeof *c->unusual);
    c->unusual[c->n++] = (struct unusual){call, result, reason};
    return result;
}

int64_t recorded_calls_take(struct recorded_calls *c, int64_t usual, int *reason)
{
    uint64_t call = c->calls++;

    *reason = 0;
    if (c->taken == c->n || c->unusual[c->taken].call != call)
        return usual;
    *reason = c->unusual[c->taken].reason;
    return c->unusual[c->taken++].result;
}

size_t recorded_calls_pass(struct recorded_calls *c, size_t bytes)
{
    uint64_t left = c->shown > c->gone ? c->shown - c->gone : 0;

    c->gone += bytes;
    return left < bytes ? left : bytes;
}

bool recorded_calls_are_written(const struct recorded_calls *c)
{
    return c && !recorded_calls_are_replayed(c);
}

bool recorded_calls_are_replayed(const struct recorded_calls *c)
{
    return c && (c->of->replayed || c->calls < c->noted);
}

struct recording *recorded_calls_of(const struct recorded_calls *c)
{
    return c->of;
}

void recorded_calls_hold(struct recorded_calls *c, void *what, void (*release)(void *what))
{
    c->held = what;
    c->release = release;
}

void *recorded_calls_held(const struct recorded_calls *c)
{
    return c ? c->held : NULL;
}

/* ---- Programs ---- */

/* The same program is kept once. */
static bool is_served(const struct recording *r, const char *digest)
{
    for (size_t i = 0; i < json_array_size(r->served); i++) {
        const char *known = json_string_value(json_array_get(r->served, i));

        if (known && strcmp(known, digest) == 0)
            return true;
    }
    return false;
}

bool recording_gives_program(const struct recording *r)
{
    return r && (r->replayed || r->served_taken < r->programs);
}

#define COPY_BYTES 65536u

/* Returns the number of bytes, or -1. */
static int64_t copy_bytes(int from, int to)
{
    char piece[COPY_BYTES];
    off_t at = 0;
    ssize_t n;

    while ((n = host_read(from, piece, sizeof piece, at)) > 0 && host_write(to, piece, (size_t)n, at) == n)
        at += n;
    return n == 0 ? at : -1;
}

int recording_keep_copy(struct recording *r, int fd)
{
    int copy = memfd_create("program", MFD_CLOEXEC);
    int64_t bytes = copy < 0 ? -1 : copy_bytes(fd, copy);

    if (bytes >= 0 && recording_count(r, (uint64_t)bytes))
        return copy;
    recording_lose(r, "there is no memory for a copy of a program");
    if (copy >= 0)
        close(copy);
    return -1;
}

/* Its file may be another one when it is wanted again. */
static void keep_program(struct recording *r, int fd)
{
    r->program = memory_grow(r->program, &r->programs_room, r->programs + 1, sizeof *r->program);
    r->program[r->programs++] = fd < 0 ? -1 : recording_keep_copy(r, fd);
    r->served_taken = r->programs;
}

void recording_note_program(struct recording *r, int fd)
{
    char digest[DIGEST_TEXT_BYTES], name[DIGEST_TEXT_BYTES + sizeof RECORDING_SERVED];
    struct stat st;

    if (r->kept_in_memory) {
        keep_program(r, fd);
        return;
    }
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !digest_file(fd, digest)) {
        json_array_append_new(r->served, json_null());
        return;
    }
    const struct file_extent all = {0, (uint64_t)st.st_size};
    snprintf(name, sizeof name, RECORDING_SERVED, digest);
    replies_settle(r);
    if (!is_served(r, digest))
        recording_add_file(r, name, fd, all.bytes, &all, 1);
    json_array_append_new(r->served, json_string(digest));
}

int recording_take_program(struct recording *r)
{
    if (r->kept_in_memory) {
        int kept = r->program[r->served_taken++];

        return kept < 0 ? -1 : fcntl(kept, F_DUPFD_CLOEXEC, 0);
    }
    const char *digest = json_string_value(json_array_get(r->served, r->served_taken++));
    char name[DIGEST_TEXT_BYTES + sizeof RECORDING_SERVED], path[RECORDING_PATH_BYTES];

    snprintf(name, sizeof name, RECORDING_SERVED, digest ? digest : "");
    return digest && recording_path(r, name, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* ---- Signals ---- */

void recording_note_signal(struct recording *r, const struct recorded_signal *s)
{
    r->signal = memory_grow(r->signal, &r->signals_room, r->signals + 1, sizeof *r->signal);
    r->signal[r->signals++] = *s;
}

const struct recorded_signal *recording_next_signal(const struct recording *r)
{
    return recording_is_replayed(r) && !r->let_go && r->signals_taken < r->signals ? &r->signal[r->signals_taken]
                                                                                   : NULL;
}

void recording_drop_signal(struct recording *r)
{
    r->signals_taken++;
}
