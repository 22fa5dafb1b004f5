/* What all parts of a recording need: its entries, whether it is written or replayed, and where a replay leaves it. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/record/recording_parts.h"

/* ---- Entries ---- */

/* Notes the first failure. */
void recording_judge(struct recording *r, int result)
{
    r->failed = r->failed || result < 0;
}

void recording_add(struct recording *r, const char *name, const void *bytes, size_t n)
{
    if (r->pack && !r->failed)
        recording_judge(r, container_add(r->pack, name, bytes, n, r->error));
}

void recording_add_text(struct recording *r, const char *name, const char *text)
{
    recording_add(r, name, text, strlen(text));
}

void recording_add_json(struct recording *r, const char *name, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);

    if (text)
        recording_add_text(r, name, text);
    else
        recording_judge(r, error_line(r->error, "no memory for %s", name));
    free(text);
    json_decref(json);
}

void recording_add_file(struct recording *r, const char *name, int fd, uint64_t bytes, const struct file_extent *extent,
                        size_t extents)
{
    if (r->pack && !r->failed)
        recording_judge(r, container_add_file(r->pack, name, fd, bytes, extent, extents, r->error));
}

const struct unpacked *recording_entries(const struct recording *r)
{
    return &r->entries;
}

bool recording_path(const struct recording *r, const char *name, char path[RECORDING_PATH_BYTES])
{
    const struct unpacked_entry *e = unpacked_find(&r->entries, name);

    snprintf(path, RECORDING_PATH_BYTES, "/proc/self/fd/%d", e ? e->fd : -1);
    return e;
}

/* ---- A replay ---- */

bool recording_is_written(const struct recording *r)
{
    return r && !r->replayed;
}

bool recording_is_replayed(const struct recording *r)
{
    return r && r->replayed;
}

bool recording_is_kept(const struct recording *r)
{
    return r && r->kept_in_memory;
}

/* ---- One that is kept ---- */

void recording_lose(struct recording *r, const char *format, ...)
{
    va_list arguments;

    if (r->failed)
        return;
    va_start(arguments, format);
    vsnprintf(r->error, sizeof r->error, format, arguments);
    va_end(arguments);
    r->failed = true;
}

const char *recording_loss(const struct recording *r)
{
    return r->failed ? r->error : NULL;
}

bool recording_count(struct recording *r, uint64_t bytes)
{
    r->kept_bytes += bytes;
    if (r->kept_bytes > r->most_bytes)
        recording_lose(r, "going back would take more than %llu MB of memory; --gdb-memory=MB gives it more",
                       (unsigned long long)r->most_bytes >> 20);
    return !r->failed;
}

void recording_depart(struct recording *r, const char *format, ...)
{
    char text[ERROR_LINE_BYTES];
    va_list arguments;

    if (r->departure || r->let_go)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    r->departure = memory_copy_text(text, strlen(text));
}

const char *recording_departure(const struct recording *r)
{
    return r ? r->departure : NULL;
}

void recording_let_go(struct recording *r)
{
    if (r)
        r->let_go = true;
}

bool recording_was_let_go(const struct recording *r)
{
    return r && r->let_go;
}
