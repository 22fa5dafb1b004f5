/* How well views and layouts match (map_match.h). */
#include "emu/tools/map_match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/tools/map_picture.h"

static void add_share(struct map_match *m, struct map_share share)
{
    m->share = memory_grow(m->share, &m->room, m->shares + 1, sizeof *m->share);
    m->share[m->shares++] = share;
    m->bytes += share.bytes;
    m->runs += share.runs;
    m->gathered += share.gathered ? share.bytes : 0;
    m->scattered += share.scattered ? share.bytes : 0;
}

void map_match_free(struct map_match *m)
{
    free(m->share);
}

/* ---- Pairs ---- */

#define RUNS_MAX 200000000 /* that are looked at */

struct counting {
    int64_t runs, end[2]; /* of the last run, in both elements */
    int64_t left;
};

/* Runs that touch in both elements are one. */
static bool count_run(void *ctx, const struct plan_run *run)
{
    struct counting *c = ctx;

    c->runs += c->runs == 0 || run->in[0] != c->end[0] || run->in[1] != c->end[1];
    c->end[0] = run->in[0] + run->bytes;
    c->end[1] = run->in[1] + run->bytes;
    return --c->left > 0;
}

/* Adds what a pair shares of file bytes from .. to-1, which are in order in both elements if they ascend. */
static bool add_pair(struct map_match *m, int32_t a, int32_t b, int64_t from, int64_t to, bool access, char *error,
                     size_t error_bytes)
{
    struct plan *plan = map_meet_plan(m->p, a, b, from, to, error, error_bytes);
    struct counting c = {.left = RUNS_MAX - m->runs};
    struct map_share share = {.view = a, .subfile = b};

    if (!plan)
        return false;
    const int64_t before = plan_bytes(plan, from);
    share.bytes = plan_bytes(plan, to) - before;
    if (share.bytes > 0)
        plan_runs(plan, from, to, count_run, &c);
    share.runs = c.runs;
    if (share.bytes > 0 && access) {
        const int64_t first = plan_file(plan, before), last = plan_file(plan, before + share.bytes - 1);

        share.first = pattern_rank(m->p[1], b, first);
        share.last = pattern_rank(m->p[1], b, last);
        share.scattered = share.last - share.first + 1 != share.bytes;
        share.gathered = pattern_rank(m->p[0], a, last) - pattern_rank(m->p[0], a, first) + 1 != share.bytes;
    }
    if (share.bytes > 0)
        add_share(m, share);
    plan_free(plan);
    if (c.left > 0)
        return true;
    snprintf(error, error_bytes, "more than %d runs; give --bytes of a file", RUNS_MAX);
    return false;
}

bool map_match_whole(struct map_match *m, const struct pattern *const p[2], int64_t to, char *error, size_t error_bytes)
{
    const struct map_meeting range = map_meet_range(p, to);
    bool made = true;

    *m = (struct map_match){.p = {p[0], p[1]}};
    for (int32_t a = 0; a < p[0]->elements && made; a++)
        for (int32_t b = 0; b < p[1]->elements && made; b++)
            made = add_pair(m, a, b, range.from, range.to, false, error, error_bytes);
    return made;
}

/* ---- An access ---- */

static bool access_of(struct map_match *m, int32_t a, int64_t from, int64_t to, char *error, size_t error_bytes)
{
    const int64_t first = pattern_file(m->p[0], a, from), last = pattern_file(m->p[0], a, to);

    if (m->p[0]->element[a].bytes == 0)
        return true;
    if (first < 0 || last < 0) {
        snprintf(error, error_bytes, "view %d: byte %" PRId64 " lies beyond what a file can have", a,
                 first < 0 ? from : to);
        return false;
    }
    for (int32_t b = 0; b < m->p[1]->elements; b++)
        if (!add_pair(m, a, b, first, last + 1, true, error, error_bytes))
            return false;
    return true;
}

bool map_match_access(struct map_match *m, const struct pattern *const p[2], int64_t from, int64_t to, char *error,
                      size_t error_bytes)
{
    *m = (struct map_match){.p = {p[0], p[1]}};
    for (int side = 0; side < 2; side++)
        for (int32_t e = 0; e < p[side]->elements; e++)
            if (!p[side]->element[e].ascending) {
                snprintf(error, error_bytes, "the bytes of element %d of %c do not ascend in the file", e, 'A' + side);
                return false;
            }
    for (int32_t a = 0; a < p[0]->elements; a++)
        if (!access_of(m, a, from, to, error, error_bytes))
            return false;
    return true;
}

/* ---- Pictures ---- */

#define SHADES   9 /* of a share that is not all; all is one more */
#define SVG_MOST 64
#define CELL     22
#define LEFT     56
#define TOP      88

/* For each of a view's subfiles, the part of its bytes in percent. first: its first share, end: behind the last. */
static size_t shares_of(const struct map_match *m, size_t first, int64_t *bytes)
{
    size_t end = first;

    for (*bytes = 0; end < m->shares && m->share[end].view == m->share[first].view; end++)
        *bytes += m->share[end].bytes;
    return end;
}

static int shade_of(int64_t bytes, int64_t of)
{
    return bytes == of ? SHADES : (int)((__int128)bytes * SHADES / of);
}

void map_match_print(const struct map_match *m, FILE *to, bool coloured, int most)
{
    static const char shades[] = ".:-=+oxX%#";
    const int columns = m->p[1]->elements < SVG_MOST ? m->p[1]->elements : SVG_MOST;
    char line[SVG_MOST];
    int64_t bytes;

    for (size_t first = 0, end; first < m->shares && most > 0; first = end, most--) {
        end = shares_of(m, first, &bytes);
        memset(line, -1, sizeof line);
        for (size_t i = first; i < end && m->share[i].subfile < columns; i++)
            line[m->share[i].subfile] = (char)shade_of(m->share[i].bytes, bytes);
        fprintf(to, "%5d ", m->share[first].view);
        for (int b = 0; b < columns; b++)
            if (line[b] < 0)
                fputs("  ", to);
            else if (coloured)
                fprintf(to, "\033[48;5;%d;38;5;%dm %c\033[0m", 254 - 2 * line[b], line[b] < 5 ? 16 : 231,
                        shades[(int)line[b]]);
            else
                fprintf(to, " %c", shades[(int)line[b]]);
        fputc('\n', to);
    }
    fprintf(to, "a row: a view, a column: a subfile; # all of the view's bytes, X half of them and more, . a little\n");
}

static void write_cell(FILE *to, int x, int y, const struct map_share *s, int64_t of)
{
    const double part = (double)s->bytes / (double)of;

    fprintf(to,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"#1f6fb4\" fill-opacity=\"%.3f\">"
            "<title>view %d, subfile %d: %" PRId64 " bytes in %" PRId64 " runs</title></rect>\n",
            x + 1, y + 1, CELL - 2, CELL - 2, 0.12 + 0.88 * part, s->view, s->subfile, s->bytes, s->runs);
    if (s->gathered || s->scattered)
        fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"10\" fill=\"%s\">%s</text>\n",
                x + CELL / 2, y + CELL / 2 + 4, part > 0.4 ? "#ffffff" : MAP_TEXT_COLOUR,
                s->gathered && s->scattered ? "gs"
                : s->gathered               ? "g"
                                            : "s");
}

static void write_axes(FILE *to, int rows, int columns)
{
    char text[16];

    for (int b = 0; b<columns; b += columns> 16 ? 4 : 1) {
        snprintf(text, sizeof text, "%d", b);
        map_picture_text(to, LEFT + b * CELL + CELL / 2, TOP - 6, "middle", text);
    }
    for (int a = 0; a<rows; a += rows> 32 ? 4 : 1) {
        snprintf(text, sizeof text, "%d", a);
        map_picture_text(to, LEFT - 6, TOP + a * CELL + CELL / 2 + 4, "end", text);
    }
    fprintf(to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"" MAP_TEXT_COLOUR "\"/>\n",
            LEFT, TOP, columns * CELL, rows * CELL);
}

void map_match_write_svg(const struct map_match *m, FILE *to, const char *const title[2])
{
    const int rows = m->p[0]->elements < SVG_MOST ? m->p[0]->elements : SVG_MOST;
    const int columns = m->p[1]->elements < SVG_MOST ? m->p[1]->elements : SVG_MOST;
    const size_t longest = strlen(title[0]) > strlen(title[1]) ? strlen(title[0]) : strlen(title[1]);
    const int words = 24 + 8 * ((int)(longest < 110 ? longest : 110) + 24), height = TOP + rows * CELL + 14;
    int width = LEFT + columns * CELL + 14, left = 0;
    char line[160];
    int64_t bytes;

    width = width > words ? width : words;
    width = width > 620 ? width : 620;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"monospace\" font-size=\"12\">\n",
            width, height, width, height);
    snprintf(line, sizeof line, "rows, views: %s", title[0]);
    map_picture_text(to, 12, 22, "start", line);
    snprintf(line, sizeof line, "columns, subfiles: %s", title[1]);
    map_picture_text(to, 12, 40, "start", line);
    left = m->gathered + m->scattered > 0;
    snprintf(line, sizeof line, "%" PRId64 " bytes, %.1f a run%s", m->bytes,
             m->runs > 0 ? (double)m->bytes / (double)m->runs : 0.0,
             left ? "; g: gathered by the process, s: scattered by the server" : "; darker: more of the view's bytes");
    map_picture_text(to, 12, 58, "start", line);
    write_axes(to, rows, columns);
    for (size_t first = 0, end; first < m->shares; first = end) {
        end = shares_of(m, first, &bytes);
        for (size_t i = first; i < end; i++)
            if (m->share[i].view < rows && m->share[i].subfile < columns)
                write_cell(to, LEFT + m->share[i].subfile * CELL, TOP + m->share[i].view * CELL, &m->share[i], bytes);
    }
    fputs("</svg>\n", to);
}
