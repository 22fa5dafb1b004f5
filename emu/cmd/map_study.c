/*
 * `ncube map --match`, `--access` and `--advise` (map_study.h). Advice compares layouts by what they make of the views'
 * accesses: bytes a run, which a server and a process copy one by one, and subfiles a view, which are requests. The
 * layouts are the views' own patterns, and stripes of usual sizes over as many subfiles.
 */
#include "emu/cmd/map_study.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/json_text.h"
#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/tools/map_match.h"

#define ROWS 64 /* of a table; the rest is counted */

bool map_shows_colours(void)
{
    const char *term = getenv("NO_COLOR") ? "dumb" : getenv("TERM");

    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

int map_svg_end(const struct options *options, const char *path, FILE *file)
{
    int written = file && !ferror(file) ? 0 : -1;

    if (file && fclose(file) == 0 && written == 0)
        return 0;
    return options_fail(options, "%s: %s", path, strerror(errno));
}

bool map_study_range(const char *text, int64_t *first, int64_t *last)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *first = strtoll(text, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return false;
    *last = strtoll(end + 1, &end, 10);
    return *end == '\0' && errno == 0 && *first <= *last && *last < PATTERN_OFFSET_MAX;
}

static double part(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

static int64_t views_of(const struct map_match *m)
{
    int64_t views = 0;

    for (size_t i = 0; i < m->shares; i++)
        views += i == 0 || m->share[i].view != m->share[i - 1].view;
    return views;
}

/* ---- Matching, and an access ---- */

static void print_shares(const struct map_match *m, bool access)
{
    printf("%-6s %-7s %12s %10s %12s%s\n", "view", "subfile", "bytes", "runs", "bytes a run",
           access ? "  in the subfile, copies" : "");
    for (size_t i = 0; i < m->shares && i < ROWS; i++) {
        const struct map_share *s = &m->share[i];

        printf("%-6d %-7d %12" PRId64 " %10" PRId64 " %12.1f", s->view, s->subfile, s->bytes, s->runs,
               part(s->bytes, s->runs));
        if (access)
            printf("  %" PRId64 "-%" PRId64 "%s%s%s", s->first, s->last, s->gathered ? " gathered" : "",
                   s->scattered ? " scattered" : "", s->gathered || s->scattered ? "" : " none");
        putchar('\n');
    }
    if (m->shares > ROWS)
        printf("... and %zu more; --json has all\n", m->shares - ROWS);
}

static void print_sum(const struct map_match *m, bool access)
{
    const int64_t views = views_of(m);

    printf("\n%zu request%s, %" PRId64 " byte%s in %" PRId64 " run%s: %.1f a run, %.1f subfiles a view of %d\n",
           m->shares, plural(m->shares), m->bytes, plural((uint64_t)m->bytes), m->runs, plural((uint64_t)m->runs),
           part(m->bytes, m->runs), part((int64_t)m->shares, views), m->p[1]->elements);
    if (access)
        printf("%" PRId64 " bytes gathered by processes, %" PRId64 " scattered by servers\n", m->gathered,
               m->scattered);
    else if ((int64_t)m->shares == views && m->runs == views)
        printf("they match: each view is one run of a subfile\n");
}

static int print_json(const struct map_match *m)
{
    json_t *shares = json_array();

    for (size_t i = 0; i < m->shares; i++) {
        const struct map_share *s = &m->share[i];

        json_array_append_new(shares,
                              json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:b, s:b}", "view", (int)s->view, "subfile",
                                        (int)s->subfile, "bytes", (json_int_t)s->bytes, "runs", (json_int_t)s->runs,
                                        "first", (json_int_t)s->first, "last", (json_int_t)s->last, "gathered",
                                        s->gathered, "scattered", s->scattered));
    }
    return json_print(json_pack("{s:I, s:I, s:I, s:I, s:o}", "bytes", (json_int_t)m->bytes, "runs", (json_int_t)m->runs,
                                "gathered", (json_int_t)m->gathered, "scattered", (json_int_t)m->scattered, "shares",
                                shares));
}

static int write_svg(const struct map_study *s, const struct map_match *m, char **text)
{
    FILE *file = fopen(s->svg, "w");

    if (file)
        map_match_write_svg(m, file, (const char *const[2]){text[0], text[1]});
    return map_svg_end(s->options, s->svg, file);
}

static int show(const struct map_study *s, const struct map_match *m, char **text)
{
    const bool access = s->last >= 0;

    if (s->svg)
        return write_svg(s, m, text);
    if (s->json)
        return print_json(m);
    printf("views: %s\nlayout: %s\n\n", text[0], text[1]);
    map_match_print(m, stdout, map_shows_colours(), ROWS);
    putchar('\n');
    print_shares(m, access);
    print_sum(m, access);
    return 0;
}

int map_study_match(const struct map_study *s, const struct pattern *const p[2], char **text)
{
    struct map_match m;
    char error[200];
    bool made = s->last >= 0 ? map_match_access(&m, p, s->first, s->last, error, sizeof error)
                             : map_match_whole(&m, p, s->bytes, error, sizeof error);
    int status = made ? show(s, &m, text) : options_fail(s->options, "%s", error);

    map_match_free(&m);
    return status;
}

/* ---- Advice ---- */

#define STRIPES 3

struct layout {
    char text[200];
    int64_t bytes, runs, requests, views;
    bool counts; /* every view could be compared with it */
};

/* What a layout makes of all views. */
static void try_layout(const struct map_study *s, struct layout *l, const struct pattern *const *view, int n,
                       const struct pattern *layout)
{
    char error[200];

    l->counts = true;
    for (int i = 0; i < n && l->counts; i++) {
        const struct pattern *const p[2] = {view[i], layout};
        struct map_match m;

        l->counts = map_match_whole(&m, p, s->bytes, error, sizeof error);
        l->bytes += m.bytes;
        l->runs += m.runs;
        l->requests += (int64_t)m.shares;
        l->views += views_of(&m);
        map_match_free(&m);
    }
}

/* Longer runs first, then fewer requests. */
static int compare_layouts(const void *a, const void *b)
{
    const struct layout *x = a, *y = b;
    const double longer = part(y->bytes, y->runs) - part(x->bytes, x->runs);
    const double more = part(x->requests, x->views) - part(y->requests, y->views);

    if (x->counts != y->counts)
        return x->counts ? -1 : 1;
    return longer != 0 ? (longer > 0 ? 1 : -1) : more != 0 ? (more > 0 ? 1 : -1) : strcmp(x->text, y->text);
}

static void print_layouts(const struct layout *l, int n)
{
    const double best = part(l[0].bytes, l[0].runs);

    printf("%12s %16s  layout\n", "bytes a run", "subfiles a view");
    for (int i = 0; i < n && l[i].counts; i++) {
        const double here = part(l[i].bytes, l[i].runs);
        char bar[21] = "";

        memset(bar, '#', (size_t)(20 * here / best));
        printf("%12.1f %16.1f  %-20s %s\n", here, part(l[i].requests, l[i].views), bar, l[i].text);
    }
    printf("\nadvice: %s\n", l[0].text);
}

static int print_layouts_json(const struct layout *l, int n)
{
    json_t *all = json_array();

    for (int i = 0; i < n && l[i].counts; i++)
        json_array_append_new(all, json_pack("{s:o, s:f, s:f}", "layout", json_text(l[i].text), "bytes_a_run",
                                             part(l[i].bytes, l[i].runs), "subfiles_a_view",
                                             part(l[i].requests, l[i].views)));
    return json_print(json_pack("{s:o}", "layouts", all));
}

int map_study_advise(const struct map_study *s, const struct pattern *const *p, char **text, int n)
{
    static const int64_t stripe[STRIPES] = {4096, 16384, 65536};
    struct layout *l = memory_new((size_t)n + STRIPES, sizeof *l);
    char why[PATTERN_WHY_BYTES];
    int32_t most = 1;
    int layouts = 0;

    for (int i = 0; i < n; i++) {
        most = p[i]->elements > most ? p[i]->elements : most;
        if (pattern_check(p[i], why) < 0 || strlen(text[i]) >= sizeof l->text)
            continue; /* a view with holes is no layout */
        strcpy(l[layouts].text, text[i]);
        try_layout(s, &l[layouts++], p, n, p[i]);
    }
    for (int i = 0; i < STRIPES; i++) {
        struct pattern *stripes;

        if (pattern_stripe(stripe[i], most, &stripes) < 0)
            continue;
        snprintf(l[layouts].text, sizeof l->text, "cyclic %" PRId64 " %d", stripe[i], most);
        try_layout(s, &l[layouts++], p, n, stripes);
        pattern_free(stripes);
    }
    qsort(l, (size_t)layouts, sizeof *l, compare_layouts);
    int status = 0;
    if (layouts == 0 || !l[0].counts)
        status = options_fail(s->options, "no layout can be compared with these views; give --bytes of a file");
    else if (s->json)
        status = print_layouts_json(l, layouts);
    else
        print_layouts(l, layouts);
    free(l);
    return status;
}
