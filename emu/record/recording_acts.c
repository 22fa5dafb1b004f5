/*
 * What comes to a run, or to a machine that is kept up, at a time that the host determines: bytes, and the acts of
 * clients.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/record/recording_parts.h"

/* ---- Bytes ---- */

/* In a replay its bytes are those of the entry of that name, if there is one. */
struct recorded_input *recording_input(struct recording *r, const char *name)
{
    struct recorded_input *in;

    if (!r)
        return NULL;
    SLIST_FOREACH(in, &r->inputs, entry)
        if (strcmp(in->name, name) == 0)
            return in;
    const struct unpacked_entry *e = r->replayed ? unpacked_find(&r->entries, name) : NULL;
    in = memory_new(1, sizeof *in);
    in->of = r;
    in->name = memory_copy_text(name, strlen(name));
    in->bytes = e ? (uint8_t *)unpacked_text(e) : NULL;
    in->n = in->bytes ? e->bytes : 0;
    SLIST_INSERT_HEAD(&r->inputs, in, entry);
    return in;
}

void recorded_input_note(struct recorded_input *in, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    in->bytes = memory_grow(in->bytes, &in->room, in->n + n, 1);
    memcpy(in->bytes + in->n, bytes, n);
    in->n += n;
}

size_t recorded_input_take(struct recorded_input *in, void *bytes, size_t room)
{
    size_t left = in->n - in->taken, n = left < room ? left : room;

    if (n > 0)
        memcpy(bytes, in->bytes + in->taken, n);
    in->taken += n;
    return n;
}

void recorded_input_keep(struct recorded_input *in, const void *bytes, size_t n)
{
    if (recording_count(in->of, n))
        recorded_input_note(in, bytes, n);
    in->taken = in->n;
}

void recorded_input_end(struct recorded_input *in, int32_t error)
{
    in->ended = true;
    in->error = error;
}

bool recorded_input_has_ended(const struct recorded_input *in, int32_t *error)
{
    *error = in->error;
    return in->ended && in->taken == in->n;
}

void acts_add_inputs(struct recording *r)
{
    const struct recorded_input *in;

    SLIST_FOREACH(in, &r->inputs, entry)
        if (in->n > 0)
            recording_add(r, in->name, in->bytes, in->n);
}

/* ---- Acts ---- */

void recording_begin_moment(struct recording *r, uint64_t cycles)
{
    r->moment_cycles = cycles;
    r->moment_has_acts = false;
}

void recording_note_act(struct recording *r, json_t *act)
{
    if (!r->moments)
        r->moments = json_array();
    if (!r->moment_has_acts)
        json_array_append_new(r->moments, json_pack("[I, []]", (json_int_t)r->moment_cycles));
    r->moment_has_acts = true;
    json_array_append_new(json_array_get(json_array_get(r->moments, json_array_size(r->moments) - 1), 1), act);
}

const json_t *recording_next_moment(const struct recording *r, uint64_t *cycles)
{
    const json_t *moment = json_array_get(r->moments, r->moments_taken), *acts = json_array_get(moment, 1);

    *cycles = (uint64_t)json_integer_value(json_array_get(moment, 0));
    return acts;
}

void recording_drop_moment(struct recording *r)
{
    r->moments_taken++;
}

void recording_keep_file(struct recording *r, const char *name, int fd, uint64_t bytes)
{
    const struct file_extent all = {0, bytes};

    replies_settle(r);
    if (!r->kept)
        r->kept = json_object();
    if (json_object_get(r->kept, name))
        return;
    recording_add_file(r, name, fd, bytes, &all, 1);
    json_object_set_new(r->kept, name, json_true());
}

void acts_free(struct recording *r)
{
    for (struct recorded_input *in; (in = SLIST_FIRST(&r->inputs));) {
        SLIST_REMOVE_HEAD(&r->inputs, entry);
        free(in->name);
        free(in->bytes);
        free(in);
    }
    json_decref(r->moments);
    json_decref(r->kept);
}
