/*
 * `ncube map PATTERN`: which element has which byte of a file, drawn in characters or as SVG. `ncube map A B`: what the
 * elements of two patterns have in common, as messages and runs [P1 section 1.2, P3 section 5.2].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/tools/map_load.h"
#include "emu/tools/map_meet.h"
#include "emu/tools/map_picture.h"
#include "emu/base/options.h"
#include "emu/base/json_text.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"
#include "emu/cmd/map_study.h"

#define PAIRS_MAX      (1 << 20)
#define LINES_TEXT     32
#define LINES_SVG      64
#define ROWS_TEXT      64   /* of a table; the rest is counted */
#define SET_BYTES      100  /* of an element's set in a table */
#define COARSE_BYTES   1024 /* runs of so many bytes are sent as they are */
#define SET_BYTES_JSON (1 << 16)

#define PATTERNS_MAX 8 /* of --advise */

struct arguments {
    const char *svg, *machine, *access;
    bool match, advise;
    int64_t row, bytes; /* row 0: an array's */
    bool json, drives;
};

static const struct options options;

/* ---- One pattern ---- */

static void print_head(const char *name, const char *text, const struct pattern *p)
{
    printf("%s%s: %d element%s, %lld byte%s a period", name, text, p->elements, plural((uint64_t)p->elements),
           (long long)p->period, plural((uint64_t)p->period));
    if (p->displacement)
        printf(", from byte %lld on", (long long)p->displacement);
    putchar('\n');
}

static void print_picture(const struct pattern *const p[2], int patterns, int64_t row)
{
    struct map_picture m;

    map_picture_make(&m, p, patterns, row, LINES_TEXT / patterns);
    printf("a character: %lld byte%s", (long long)m.cell, plural((uint64_t)m.cell));
    if (m.lines_a_cell > 1)
        printf(" of %lld lines, or * where several elements share them", (long long)m.lines_a_cell);
    printf("\n\n");
    map_picture_print(&m, stdout, map_shows_colours());
    putchar('\n');
    map_picture_free(&m);
}

static int print_pattern(const char *text, const struct pattern *p, int64_t row)
{
    const struct pattern *const one[2] = {p, NULL};

    print_head("", text, p);
    print_picture(one, 1, row);
    printf("%-7s %12s %10s  %s\n", "element", "bytes", "runs", "in a period");
    for (int32_t e = 0; e < p->elements && e < ROWS_TEXT; e++) {
        char set[SET_BYTES];
        bool cut = falls_format(&p->element[e], set, sizeof set) >= sizeof set;

        printf("%-7d %12lld %10lld  %s%s\n", e, (long long)p->element[e].bytes,
               (long long)map_runs_of(&p->element[e]).count, set, cut ? "..." : "");
    }
    if (p->elements > ROWS_TEXT)
        printf("... and %d more; --json has all\n", p->elements - ROWS_TEXT);
    return 0;
}

static json_t *json_of_pattern(const char *text, const struct pattern *p)
{
    json_t *elements = json_array();
    char *set = memory_new(SET_BYTES_JSON, 1);

    for (int32_t e = 0; e < p->elements; e++) {
        bool whole = falls_format(&p->element[e], set, SET_BYTES_JSON) < SET_BYTES_JSON;
        json_t *falls = whole ? json_string(set) : json_null(); /* a longer one is not worth reading */

        json_array_append_new(elements, json_pack("{s:i, s:I, s:I, s:o}", "element", (int)e, "bytes",
                                                  (json_int_t)p->element[e].bytes, "runs",
                                                  (json_int_t)map_runs_of(&p->element[e]).count, "falls", falls));
    }
    free(set);
    return json_pack("{s:o, s:I, s:I, s:o}", "pattern", json_text(text), "displacement", (json_int_t)p->displacement,
                     "period", (json_int_t)p->period, "elements", elements);
}

/* ---- Two patterns ---- */

static bool meet(const struct pattern *const p[2], int64_t to, struct map_meeting *m)
{
    char error[200];

    if (map_meet(m, p, to, error, sizeof error))
        return true;
    options_fail(&options, "%s", error);
    return false;
}

/* How the bytes would best go from A to B [P1 section 1.2]. */
static const char *way_of(const struct map_meeting *m)
{
    bool matched = true;

    for (int side = 0; side < 2 && matched; side++) {
        bool *met = memory_new((size_t)m->p[side]->elements, sizeof *met);

        for (size_t i = 0; i < m->pairs; i++) {
            matched &= !met[m->pair[i].of[side]];
            met[m->pair[i].of[side]] = true;
        }
        free(met);
    }
    return matched ? "matched" : m->runs.shortest >= COARSE_BYTES ? "coarse" : "packed";
}

static const char *range_of(const struct map_runs *r, char text[48])
{
    if (r->shortest == r->longest)
        snprintf(text, 48, "%lld", (long long)r->shortest);
    else
        snprintf(text, 48, "%lld to %lld", (long long)r->shortest, (long long)r->longest);
    return text;
}

static int print_meeting(const struct map_meeting *m)
{
    static const struct {
        const char *name, *what;
    } ways[] = {{"matched", "each element has one partner: whole buffers can be sent"},
                {"coarse", "every run is long enough to be sent as it is"},
                {"packed", "short runs are best gathered into one message for each partner"}};
    char range[48];

    printf("%-6s %-6s %12s %10s  %s\n", "A", "B", "bytes", "runs", "bytes a run");
    for (size_t i = 0; i < m->pairs && i < ROWS_TEXT; i++)
        printf("%-6d %-6d %12lld %10lld  %s\n", m->pair[i].of[0], m->pair[i].of[1], (long long)m->pair[i].bytes,
               (long long)m->pair[i].runs.count, range_of(&m->pair[i].runs, range));
    if (m->pairs > ROWS_TEXT)
        printf("... and %zu more; --json has all\n", m->pairs - ROWS_TEXT);
    printf("\n%zu message%s, %lld run%s, %lld byte%s in common of %lld from byte %lld on\n", m->pairs, plural(m->pairs),
           (long long)m->runs.count, plural((uint64_t)m->runs.count), (long long)m->bytes, plural((uint64_t)m->bytes),
           (long long)(m->to - m->from), (long long)m->from);
    const char *way = m->pairs > 0 ? way_of(m) : "";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, way) == 0)
            printf("%s: %s\n", ways[i].name, ways[i].what);
    return 0;
}

static int print_meeting_json(const struct map_meeting *m, char **text, const struct map_load *load)
{
    json_t *pairs = json_array(), *channels = load ? map_load_json(load) : NULL;

    for (size_t i = 0; i < m->pairs; i++) {
        const struct map_pair *q = &m->pair[i];

        json_array_append_new(pairs,
                              json_pack("{s:i, s:i, s:I, s:I, s:I, s:I}", "a", (int)q->of[0], "b", (int)q->of[1],
                                        "bytes", (json_int_t)q->bytes, "runs", (json_int_t)q->runs.count, "shortest",
                                        (json_int_t)q->runs.shortest, "longest", (json_int_t)q->runs.longest));
    }
    return json_print(json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:s?, s:o, s:o*}", "a",
                                json_of_pattern(text[0], m->p[0]), "b", json_of_pattern(text[1], m->p[1]), "from",
                                (json_int_t)m->from, "period", (json_int_t)(m->to - m->from), "messages",
                                (json_int_t)m->pairs, "runs", (json_int_t)m->runs.count, "bytes", (json_int_t)m->bytes,
                                "way", m->pairs > 0 ? way_of(m) : NULL, "pairs", pairs, "channels", channels));
}

/* The messages on the channels of a machine. Returns false after one line if they have no way there. */
static bool find_load(const struct map_meeting *m, const struct topo *topo, bool drives, struct map_load *load)
{
    const int32_t elements[2] = {m->p[0]->elements, m->p[1]->elements};
    char error[200];
    bool found = map_load_begin(load, topo, elements, drives, error, sizeof error);

    for (size_t i = 0; i < m->pairs && found; i++)
        found = map_load_add(load, m->pair[i].of[0], m->pair[i].of[1], (uint64_t)m->pair[i].bytes, error, sizeof error);
    if (!found)
        options_fail(&options, "%s", error);
    return found;
}

/* `topo`: of the machine, NULL without one. */
static int compare(const struct pattern *const p[2], char **text, const struct arguments *a, const struct topo *topo)
{
    struct map_meeting m;
    struct map_load load = {0};
    int status = 1;

    if (meet(p, a->bytes, &m) && (!topo || find_load(&m, topo, a->drives, &load))) {
        if (a->json) {
            status = print_meeting_json(&m, text, topo ? &load : NULL);
        } else {
            print_head("A: ", text[0], p[0]);
            print_head("B: ", text[1], p[1]);
            print_picture(p, 2, a->row);
            status = print_meeting(&m);
            if (topo)
                map_load_print(&load);
        }
    }
    map_load_free(&load);
    map_meeting_free(&m);
    return status;
}

/* The same on the machine of a file, if one is given. */
static int compare_on_machine(const struct pattern *const p[2], char **text, const struct arguments *a)
{
    struct machine_config config;

    if (!a->machine)
        return compare(p, text, a, NULL);
    if (!config_load_for(&options, a->machine, &config))
        return 1;
    int status = compare(p, text, a, &config.topo);
    config_free(&config);
    return status;
}

/* ---- Command line ---- */

#define TO(kind, member) OPTION_INTO(kind, struct arguments, member)

static const struct option_line lines[] = {
    {"svg", "FILE", "write the picture to FILE, as SVG", TO(OPTION_TEXT, svg)},
    {"row", "BYTES", "bytes of the file in a line of the picture (default: an array's row)", TO(OPTION_BYTES, row), 1,
     PATTERN_OFFSET_MAX / PATTERN_ELEMENTS_MAX},
    {"bytes", "N", "compare N bytes of the file (default: a common period)", TO(OPTION_BYTES, bytes), 1,
     PATTERN_OFFSET_MAX},
    {"machine", "FILE", "print the busiest channel of this machine, and the rate that it allows",
     TO(OPTION_TEXT, machine), .letter = 'm'},
    {"drives", NULL, "with -m: the second pattern's elements are the machine's drives", TO(OPTION_FLAG, drives)},
    {"match", NULL, "A's elements are views, B's subfiles: how well they match", TO(OPTION_FLAG, match)},
    {"access", "FIRST-LAST", "likewise: what an access to these bytes of each view asks of the subfiles",
     TO(OPTION_TEXT, access)},
    {"advise", NULL, "the patterns are views: which layout suits them", TO(OPTION_FLAG, advise)},
    {OPTION_JSON(struct arguments, json)},
    {OPTION_SET},
    {0}};

static const struct options options = {
    .command = "ncube map",
    .usage = "[OPTION...] PATTERN [PATTERN]...",
    .words = PATTERNS_MAX,
    .summary =
        "Draws which element (process, disk, subfile) has which byte of a file. With two patterns, A and B, prints\n"
        "what each element of A has in common with each of B: a message for each pair, and its runs of bytes\n"
        "that are contiguous in the file and in both elements. With a machine, A and B are the nodes of two programs\n"
        "of a pipeline, or of one program and the drives.",
    .line = lines,
    .end = "Patterns, each one word of the command line:\n"
           "  'cyclic 16384 8'                         blocks of 16384 bytes to 8 elements in turn\n"
           "  'array 1024x1024x8 block,cyclic on 2x4'  items of 8 bytes, on a grid of 2 x 4 elements\n"
           "  'bits o10- p1-0 o9-0'                    a permutation of address bits\n"
           "  'falls 16 (0,3,8,2,4,2,{(0,0,2,2,1,2)})' nested PITFALLS, with their period\n"
           "  'view 16 (0,3,8,2)'                      one element, which need not have every byte\n"
           "+D after any of them: from byte D of the file on. See pattern(3n).",
};

static struct pattern *parse(const char *text)
{
    struct pattern *p;
    char why[PATTERN_WHY_BYTES];

    if (pattern_parse(text, &p, why) != 0)
        options_refuse(&options, "pattern '%s': %s", text, why);
    return p;
}

static int write_svg(const char *path, const struct pattern *const p[2], int patterns, char **text, int64_t row)
{
    struct map_picture m;
    FILE *file = fopen(path, "w");

    if (file) {
        map_picture_make(&m, p, patterns, row, LINES_SVG / patterns);
        map_picture_write_svg(&m, file, (const char *const[2]){text[0], text[1]});
        map_picture_free(&m);
    }
    return map_svg_end(&options, path, file);
}

/* Refuses options that do not go together. n: patterns. */
static void check(const struct arguments *a, int n, struct pattern *const *p)
{
    const bool study = a->match || a->access || a->advise;

    if (n == 0)
        options_refuse(&options, "give a pattern, such as 'cyclic 1024 3'");
    if (n > 2 && !a->advise)
        options_refuse(&options, "%d patterns; at most two, but for --advise", n);
    if (a->match + (a->access != NULL) + a->advise > 1)
        options_refuse(&options, "--match, --access and --advise: give one of them");
    if ((a->match || a->access) && n < 2)
        options_refuse(&options, "%s compares views and a layout; give both patterns",
                       a->match ? "--match" : "--access");
    if (study && (a->machine || a->row > 0))
        options_refuse(&options, "%s is not for views and layouts; omit it", a->machine ? "-m" : "--row");
    if (a->advise && a->svg)
        options_refuse(&options, "--advise draws nothing; omit --svg");
    if (a->machine && n < 2)
        options_refuse(&options, "-m compares two patterns; give the second one");
    if (a->machine && a->svg)
        options_refuse(&options, "--svg draws patterns, not channels; omit -m");
    if (a->drives && !a->machine)
        options_refuse(&options, "--drives needs the machine that has them: -m FILE");
    for (int i = 1; i < n; i++)
        if ((int64_t)p[0]->elements * p[i]->elements > PAIRS_MAX)
            options_refuse(&options, "%d x %d pairs of elements are too many; at most %d", p[0]->elements,
                           p[i]->elements, PAIRS_MAX);
}

static int study(const struct arguments *a, const struct pattern *const *p, char **text, int n)
{
    struct map_study s = {&options, a->svg, a->bytes, 0, -1, a->json};

    if (a->access && !map_study_range(a->access, &s.first, &s.last))
        options_refuse(&options, "--access '%s' is not FIRST-LAST, two bytes of a view, such as 0-4095", a->access);
    return a->advise ? map_study_advise(&s, p, text, n) : map_study_match(&s, p, text);
}

int map_command(int argc, char **argv)
{
    struct arguments a = {.bytes = PATTERN_OFFSET_MAX};
    char **word = options_parse(&options, &a, argc, argv);
    struct pattern *p[PATTERNS_MAX] = {NULL};
    int n = 0, status;

    for (; word[n]; n++)
        p[n] = parse(word[n]);
    check(&a, n, p);
    const struct pattern *all[PATTERNS_MAX];
    for (int i = 0; i < PATTERNS_MAX; i++)
        all[i] = p[i];
    if (a.match || a.access || a.advise)
        status = study(&a, all, word, n);
    else if (a.svg)
        status = write_svg(a.svg, all, n, word, a.row);
    else if (n == 2)
        status = compare_on_machine(all, word, &a);
    else
        status = a.json ? json_print(json_of_pattern(word[0], p[0])) : print_pattern(word[0], p[0], a.row);
    for (int i = 0; i < n; i++)
        pattern_free(p[i]);
    return status;
}
