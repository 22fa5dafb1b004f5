/*
 * A recording in a copy of the process, which has come less far in it: what has been shown, and all that was noted, if
 * it is kept. The places up to which the copy has got its lists again are its own.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/record/recording_parts.h"

#define NAME_MOST 256u

static bool put(FILE *to, const void *bytes, size_t n)
{
    return n == 0 || fwrite(bytes, n, 1, to) == 1;
}

static bool get(FILE *from, void *bytes, size_t n)
{
    return n == 0 || fread(bytes, n, 1, from) == 1;
}

/* An array of n objects, whose size the reader knows from what was read before. */
static bool get_array(FILE *from, void **array, size_t *room, size_t n, size_t bytes)
{
    *array = memory_grow(*array, room, n, bytes);
    return get(from, *array, n * bytes);
}

static bool put_name(FILE *to, const char *name)
{
    char text[NAME_MOST] = "";

    snprintf(text, sizeof text, "%s", name);
    return put(to, text, sizeof text);
}

/* ---- Calls ---- */

struct calls_head { /* and so many unusual ones follow */
    bool more;
    uint64_t noted, shown, n;
};

static bool give_calls(const struct recording *r, FILE *to)
{
    const struct recorded_calls *c;

    SLIST_FOREACH(c, &r->calls, entry) {
        const struct calls_head head = {true, c->noted, c->shown > c->gone ? c->shown : c->gone, c->n};

        if (!put(to, &head, sizeof head) || !put_name(to, c->name) || !put(to, c->unusual, c->n * sizeof *c->unusual))
            return false;
    }
    return put(to, &(struct calls_head){false}, sizeof(struct calls_head));
}

static bool take_calls(struct recording *r, FILE *from)
{
    struct calls_head head;
    char name[NAME_MOST];

    while (get(from, &head, sizeof head) && head.more) {
        if (!get(from, name, sizeof name))
            return false;
        struct recorded_calls *c = recording_calls(r, name);
        c->noted = head.noted;
        c->shown = head.shown;
        c->n = head.n;
        if (!get_array(from, (void **)&c->unusual, &c->room, c->n, sizeof *c->unusual))
            return false;
    }
    return !head.more;
}

/* ---- What a kept one has besides ---- */

struct input_head { /* and its bytes follow */
    bool more, ended;
    int32_t error;
    uint64_t n;
};

static bool give_inputs(const struct recording *r, FILE *to)
{
    const struct recorded_input *in;

    SLIST_FOREACH(in, &r->inputs, entry) {
        const struct input_head head = {true, in->ended, in->error, in->n};

        if (!put(to, &head, sizeof head) || !put_name(to, in->name) || !put(to, in->bytes, in->n))
            return false;
    }
    return put(to, &(struct input_head){false}, sizeof(struct input_head));
}

static bool take_inputs(struct recording *r, FILE *from)
{
    struct input_head head;
    char name[NAME_MOST];

    while (get(from, &head, sizeof head) && head.more) {
        if (!get(from, name, sizeof name))
            return false;
        struct recorded_input *in = recording_input(r, name);
        in->ended = head.ended;
        in->error = head.error;
        in->n = head.n;
        if (!get_array(from, (void **)&in->bytes, &in->room, in->n, 1))
            return false;
    }
    return !head.more;
}

struct kept_head {
    uint64_t reached_cycles, replies;
};

static bool give_kept(const struct recording *r, FILE *to)
{
    const struct kept_head head = {r->reached_cycles, r->replies.n};

    return put(to, &head, sizeof head) && put(to, r->replies.reply, head.replies * sizeof *r->replies.reply) &&
           give_inputs(r, to);
}

/* The replies' data are in a file that the processes share. */
static bool take_kept(struct recording *r, FILE *from)
{
    struct kept_head head;

    if (!get(from, &head, sizeof head))
        return false;
    r->reached_cycles = head.reached_cycles;
    r->replies.n = head.replies;
    return get_array(from, (void **)&r->replies.reply, &r->replies.room, head.replies, sizeof *r->replies.reply) &&
           take_inputs(r, from);
}

bool recording_give(const struct recording *r, FILE *to)
{
    return give_calls(r, to) && (!r->kept_in_memory || give_kept(r, to));
}

bool recording_take(struct recording *r, FILE *from)
{
    return take_calls(r, from) && (!r->kept_in_memory || take_kept(r, from));
}

size_t recording_descriptors(const struct recording *r, const int **list)
{
    *list = r->program;
    return r->kept_in_memory ? r->programs : 0;
}

void recording_take_descriptor(struct recording *r, size_t i, int fd)
{
    if (i < r->programs) {
        if (fd >= 0)
            close(fd);
        return;
    }
    r->program = memory_grow(r->program, &r->programs_room, i + 1, sizeof *r->program);
    r->program[i] = fd;
    r->programs = i + 1;
}
