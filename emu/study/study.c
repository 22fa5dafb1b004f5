/* The list of a study's measurements (study.h). */
#define _GNU_SOURCE
#include "emu/study/study.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/json_text.h"

static bool is_same(const struct study_measure *a, const struct study_measure *b)
{
    return a->machine == b->machine && a->program == b->program && a->dim == b->dim &&
           strcmp(a->nodes, b->nodes) == 0 && strcmp(a->words, b->words) == 0;
}

const struct study_measure *study_measure(struct study *s, const struct study_measure *m)
{
    for (size_t i = 0; i < s->n; i++)
        if (is_same(s->measure[i], m))
            return s->measure[i];
    struct study_measure *added = memory_new(1, sizeof *added);
    added->machine = m->machine;
    added->program = m->program;
    added->dim = m->dim;
    strcpy(added->nodes, m->nodes);
    strcpy(added->words, m->words);
    s->measure = memory_grow(s->measure, &s->room, s->n + 1, sizeof(struct study_measure *));
    s->measure[s->n++] = added;
    return added;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

void study_remove_folder(const char *folder)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- Raw figures ---- */

const char *const study_program_names[] = {[STUDY_PIOBENCH] = "piobench", [STUDY_DISKMON] = "diskmon"};

static json_t *json_of_side(const struct study_side *side)
{
    const struct study_use *u = &side->use;
    json_t *json = json_pack("{s:O}", "lines", side->lines);

    if (side->us > 0)
        json_object_set_new(json, "busy",
                            json_pack("{s:f, s:f, s:f, s:f, s:i, s:i}", "processor", u->processor, "drive", u->drive,
                                      "server", u->server, "channel", u->channel, "channel_from", (int)u->channel_from,
                                      "channel_number", (int)u->channel_number));
    return json;
}

json_t *study_json(const struct study *s)
{
    json_t *all = json_array();

    for (size_t i = 0; i < s->n; i++) {
        const struct study_measure *m = s->measure[i];
        json_t *json =
            json_pack("{s:o, s:s, s:i, s:s, s:s}", "machine", json_text(m->machine->name), "program",
                      study_program_names[m->program], "dimension", (int)m->dim, "nodes", m->nodes, "words", m->words);

        if (m->program == STUDY_PIOBENCH) {
            json_object_set_new(json, "write", json_of_side(&m->write));
            json_object_set_new(json, "read", json_of_side(&m->read));
        } else {
            json_object_set(json, "lines", m->write.lines);
        }
        json_array_append_new(all, json);
    }
    return all;
}

void study_free(struct study *s)
{
    for (size_t i = 0; i < s->n; i++) {
        json_decref(s->measure[i]->write.lines);
        json_decref(s->measure[i]->read.lines);
        free(s->measure[i]);
    }
    free(s->measure);
    if (s->work)
        study_remove_folder(s->work);
    free(s->work);
}
