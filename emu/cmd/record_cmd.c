/* `ncube record show`: what a recording contains, before somebody mails it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/json_text.h"
#include "emu/base/oneline.h"
#include "emu/base/options.h"
#include "emu/base/plural.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"
#include "emu/machine/recorded.h"
#include "emu/machine/replayer.h"
#include "emu/record/recording.h"
#include "vertex/contract/machine.h"

struct words {
    bool json;
};

static const struct option_line lines[] = {{OPTION_JSON(struct words, json)}, {0}};

static const struct options options = {
    .command = "ncube record",
    .usage = "[OPTION...] show FILE",
    .summary = "Shows what a recording contains: whatever the run, or the machine's programs, have read.",
    .line = lines,
    .words = 2,
};

/* ---- Text ---- */

static void print_text(const char *name, const json_t *text)
{
    char *line = recorded_text_of(text);

    if (line)
        printf("%-12s %s\n", name, one_line(line));
    free(line);
}

static void print_end(const struct recording *r)
{
    const json_t *end = recording_end(r);
    size_t signals = json_array_size(json_object_get(end, "signals"));

    printf("%-12s status %d at %.6f s%s\n", "end", (int)json_integer_value(json_object_get(end, "status")),
           (double)json_integer_value(json_object_get(end, "cycles")) / CLOCK_HZ, signals > 0 ? ", by a signal" : "");
    int replies = (int)json_integer_value(json_object_get(end, "replies"));
    if (replies > 0)
        printf("%-12s %d repl%s to requests for files\n", "host", replies, replies == 1 ? "y" : "ies");
}

static void print_programs(const struct recording *r, const json_t *programs)
{
    json_t *p;
    size_t i;

    json_array_foreach(programs, i, p)
    {
        char path[RECORDING_PATH_BYTES];
        char *file = recorded_text_of(json_object_get(p, "path"));
        const char *digest = json_string_value(json_object_get(p, "sha256"));
        bool there = recording_path(r, replayer_program_name(r, (uint32_t)i, p).text, path);
        printf("%-12s %s, %" JSON_INTEGER_FORMAT " bytes, SHA-256 %.16s...%s\n", "program", file ? one_line(file) : "?",
               json_integer_value(json_object_get(p, "bytes")), digest ? digest : "?", there ? "" : ", not included");
        free(file);
    }
}

/* ---- The life of a machine that was kept up ---- */

static void print_words(const json_t *program)
{
    json_t *word;
    size_t i;

    json_array_foreach(json_object_get(program, "words"), i, word)
    {
        char *text = recorded_text_of(word);

        printf(" %s", text ? one_line(text) : "?");
        free(text);
    }
}

/* ["launch", number, first node, job] */
static void print_launch(const struct recording *r, double seconds, const json_t *act)
{
    const json_t *job = json_array_get(act, 3), *programs = json_object_get(job, "programs"), *p;
    int number = (int)json_integer_value(json_array_get(act, 1)),
        base = (int)json_integer_value(json_array_get(act, 2));
    unsigned nodes = 1u << (json_integer_value(json_object_get(job, "dimension")) & 31);
    size_t i;

    printf("%.6f s   program %d begins on %u node%s from node %d on:", seconds, number, nodes, plural(nodes), base);
    json_array_foreach(programs, i, p) print_words(p);
    printf("%s\n", json_array_size(programs) == 0 ? " a host program's" : "");
    print_text("serves", json_object_get(job, "serve"));
    print_programs(r, programs);
}

static void print_act(const struct recording *r, double seconds, const json_t *act)
{
    const char *name = json_string_value(json_array_get(act, 0));
    int number = (int)json_integer_value(json_array_get(act, 1));

    if (!name)
        return;
    if (strcmp(name, "launch") == 0)
        print_launch(r, seconds, act);
    else if (strcmp(name, "conclude") == 0)
        printf("%.6f s   program %d has ended with status %d\n", seconds, number,
               (int)json_integer_value(json_array_get(act, 2)));
    else if (strcmp(name, "kill") == 0 || strcmp(name, "end") == 0 || strcmp(name, "deadlock") == 0)
        printf("%.6f s   program %d is killed\n", seconds, number);
}

static void print_life(const struct recording *r)
{
    json_t *moment, *act;
    size_t i, k;

    json_array_foreach(json_object_get(recording_end(r), "moments"), i, moment)
        json_array_foreach(json_array_get(moment, 1), k, act)
            print_act(r, (double)json_integer_value(json_array_get(moment, 0)) / CLOCK_HZ, act);
}

static void print_entries(const struct recording *r)
{
    const struct unpacked *u = recording_entries(r);

    printf("\n%14s %14s  %s\n", "bytes", "of data", "entry");
    for (size_t i = 0; i < u->n; i++)
        printf("%14" PRIu64 " %14" PRIu64 "  %s\n", u->entry[i].bytes, u->entry[i].stored, one_line(u->entry[i].name));
}

static void show(const struct recording *r)
{
    const json_t *about = recording_about(r), *job = json_object_get(about, "job");

    print_text("command", json_object_get(job, "command"));
    print_text("machine", json_object_get(json_object_get(about, "machine"), "name"));
    print_text("serves", json_object_get(job, "serve"));
    print_programs(r, json_object_get(job, "programs"));
    print_life(r);
    print_end(r);
    print_entries(r);
}

/* ---- JSON ---- */

static json_t *list_entries(const struct recording *r)
{
    const struct unpacked *u = recording_entries(r);
    json_t *entries = json_array();

    for (size_t i = 0; i < u->n; i++)
        json_array_append_new(entries,
                              json_pack("{s:o, s:I, s:I}", "name", json_text(u->entry[i].name), "bytes",
                                        (json_int_t)u->entry[i].bytes, "data", (json_int_t)u->entry[i].stored));
    return entries;
}

/* ---- The command ---- */

int record_command(int argc, char **argv)
{
    struct words w = {0};
    char **word = options_parse(&options, &w, argc, argv), error[ERROR_LINE_BYTES];
    struct recording *r;

    if (!word[0] || strcmp(word[0], "show") != 0)
        options_refuse(&options, "give show and a recording%s%s; ncube run --record=FILE writes one",
                       word[0] ? ", not " : "", word[0] ? word[0] : "");
    if (!word[1])
        options_refuse(&options, "show: give a recording");
    if (recording_read(&r, word[1], error) < 0)
        return options_fail(&options, "%s", error);
    int status = 0;
    if (w.json)
        status = json_print(json_pack("{s:O, s:O, s:o}", "about", (json_t *)recording_about(r), "end",
                                      (json_t *)recording_end(r), "entries", list_entries(r)));
    else
        show(r);
    recording_free(r);
    return status;
}
