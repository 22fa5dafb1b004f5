/*
 * Pictures of patterns (map_picture.h): how large a cell is, which element a cell shows, and how the grid is printed.
 */
#include "emu/tools/map_picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "libpio/map/numbers.h"

#define COLUMNS_MAX    64
#define FILE_LINES_MAX 65536 /* that are looked at for coarse cells */

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Cells ---- */

/* The greatest size such that all blocks of the pattern begin and end at multiples of it from the displacement on. */
static int64_t grain_of(const struct pattern *p)
{
    int64_t grain = p->period;

    for (int32_t e = 0; e < p->elements; e++)
        for (int32_t i = 0; i < p->element[e].nodes; i++) {
            const struct falls *f = &p->element[e].node[i];

            grain = gcd(gcd(grain, f->left), f->length);
            if (f->count > 1)
                grain = gcd(grain, f->stride);
        }
    return grain;
}

/* Returns how many bytes an element has from the displacement to x. */
static int64_t bytes_below(const struct pattern *p, int32_t element, int64_t x)
{
    const struct falls_set *set = &p->element[element];

    x -= p->displacement;
    return x / p->period * set->bytes + falls_rank(set, x % p->period);
}

static int32_t owner_of(const struct pattern *p, int64_t x, int64_t bytes)
{
    int32_t element;
    int64_t place;
    bool owned = pattern_place(p, x, &element, &place) == 0;

    if (!owned)
        element = 0; /* only views have holes, and they have one element */
    int64_t own = bytes_below(p, element, x + bytes) - bytes_below(p, element, x);
    return own == bytes ? element : own == 0 ? MAP_NOBODY : MAP_SEVERAL;
}

/* Returns the owner of a cell that covers several lines of the file. */
static int32_t owner_of_cell(const struct map_picture *m, const struct pattern *p, int line, int column)
{
    int32_t owner = MAP_BEYOND;

    for (int64_t i = 0; i < m->lines_a_cell; i++) {
        int64_t at = (line * m->lines_a_cell + i) * m->row + column * m->cell;
        int64_t bytes = min(m->cell, m->row - column * m->cell);

        if (at >= m->bytes)
            break;
        int32_t here = owner_of(p, m->from + at, min(bytes, m->bytes - at));
        if (owner != MAP_BEYOND && owner != here)
            return MAP_SEVERAL;
        owner = here;
    }
    return owner;
}

/* Finds all owners. Returns how many cells have several. */
static int64_t fill(struct map_picture *m, const struct pattern *const p[2])
{
    int64_t shared = 0;

    for (int k = 0; k < m->patterns; k++) {
        free(m->owner[k]);
        m->owner[k] = memory_new((size_t)m->lines * (size_t)m->columns, sizeof *m->owner[k]);
        for (int line = 0; line < m->lines; line++)
            for (int column = 0; column < m->columns; column++) {
                int32_t owner = owner_of_cell(m, p[k], line, column);

                m->owner[k][line * m->columns + column] = owner;
                shared += owner == MAP_SEVERAL;
            }
    }
    return shared;
}

static int64_t parts(int64_t whole, int64_t part)
{
    return whole / part + (whole % part != 0);
}

/* Shows the beginning, cell by cell. */
static void crop(struct map_picture *m, int64_t grain, int lines)
{
    m->cell = grain;
    m->lines_a_cell = 1;
    m->columns = (int)min(parts(m->row, grain), COLUMNS_MAX);
    m->lines = (int)min(parts(m->bytes, m->row), lines);
    m->whole = m->columns == parts(m->row, grain) && m->lines == parts(m->bytes, m->row);
}

/* Shows the whole file with larger cells. Returns false if that would take too many lookups. */
static bool coarsen(struct map_picture *m, int64_t grain, int lines)
{
    int64_t file_lines = parts(m->bytes, m->row);

    if (file_lines > FILE_LINES_MAX)
        return false;
    m->cell = parts(parts(m->row, grain), COLUMNS_MAX) * grain;
    m->columns = (int)parts(m->row, m->cell);
    if (lines > 8 && lines > m->columns) /* a matrix of few columns needs no more lines */
        lines = m->columns > 8 ? m->columns : 8;
    m->lines_a_cell = parts(file_lines, lines);
    m->lines = (int)parts(file_lines, m->lines_a_cell);
    m->whole = true;
    return true;
}

void map_picture_make(struct map_picture *m, const struct pattern *const p[2], int patterns, int64_t row, int lines)
{
    int64_t grain = grain_of(p[0]), period = p[0]->period;

    *m = (struct map_picture){.patterns = patterns, .from = p[0]->displacement, .row = row > 0 ? row : p[0]->row};
    if (patterns > 1) {
        period = min(pattern_common_period(p[0], p[1]), PATTERN_OFFSET_MAX / 4);
        grain = gcd(gcd(grain, grain_of(p[1])), p[0]->displacement - p[1]->displacement); /* it may be negative */
        grain = grain < 0 ? -grain : grain;
        m->from = p[1]->displacement > m->from ? p[1]->displacement : m->from;
        m->row = m->row > 0 ? m->row : p[1]->row;
    }
    bool has_rows = m->row > 0;
    m->bytes = min(period, PATTERN_OFFSET_MAX - m->from - period);
    if (!has_rows) { /* up to four periods, or as much as fits in a line */
        int64_t cells = period / grain, times = min(4, COLUMNS_MAX / cells);

        m->row = times > 0 ? times * period : COLUMNS_MAX * grain;
        m->bytes = times > 0 ? m->row : m->bytes;
    }
    grain = gcd(grain, m->row);
    crop(m, grain, lines);
    if (!m->whole && has_rows && coarsen(m, grain, lines)) {
        if (fill(m, p) <= (int64_t)m->lines * m->columns * patterns / 4)
            return;
        crop(m, grain, lines);
    }
    fill(m, p);
}

void map_picture_free(struct map_picture *m)
{
    free(m->owner[0]);
    free(m->owner[1]);
}

/* ---- Characters ---- */

/* Light colours, neighbours of different hue, with dark text on them: RGB, and the nearest of a terminal's 256. */
static const struct {
    const char *rgb;
    int terminal;
} colour[] = {
    {"#8ecae6", 117}, {"#ffb703", 214}, {"#90be6d", 107}, {"#f28482", 210}, {"#cdb4db", 182}, {"#e9d8a6", 187},
    {"#2ec4b6", 43},  {"#f4a261", 215}, {"#a3b9ff", 147}, {"#d9ed92", 192}, {"#ff8fab", 211}, {"#c9ada7", 181},
};
#define COLOURS ((int32_t)(sizeof colour / sizeof *colour))

static char character_of(int32_t owner)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    switch (owner) {
    case MAP_BEYOND:
        return ' ';
    case MAP_NOBODY:
        return '.';
    case MAP_SEVERAL:
        return '*';
    default:
        return digits[owner % (int32_t)(sizeof digits - 1)];
    }
}

static void print_cells(const struct map_picture *m, const int32_t *owner, FILE *to, bool coloured)
{
    bool spaced = m->columns <= COLUMNS_MAX / 2;

    for (int column = 0; column < m->columns && owner[column] != MAP_BEYOND; column++) {
        if (coloured && owner[column] >= 0)
            fprintf(to, "\033[48;5;%d;38;5;16m%s%c\033[0m", colour[owner[column] % COLOURS].terminal, spaced ? " " : "",
                    character_of(owner[column]));
        else
            fprintf(to, "%s%c", spaced ? " " : "", character_of(owner[column]));
    }
    fputc('\n', to);
}

/* Prints a line about the part that is not drawn. */
static void print_rest(const struct map_picture *m, FILE *to)
{
    int64_t cells = parts(m->row, m->cell), lines = parts(m->bytes, m->row);

    if (m->columns < cells)
        fprintf(to, "the first %d of %" PRId64 " cells of a line\n", m->columns, cells);
    if (m->lines < lines && m->lines_a_cell == 1)
        fprintf(to, "the first %d of %" PRId64 " lines\n", m->lines, lines);
}

void map_picture_print(const struct map_picture *m, FILE *to, bool coloured)
{
    int64_t last = m->from + (m->lines - 1) * m->lines_a_cell * m->row;
    int width = snprintf(NULL, 0, "%" PRId64, last);

    for (int line = 0; line < m->lines; line++)
        for (int k = 0; k < m->patterns; k++) {
            if (k == 0)
                fprintf(to, "%*" PRId64 " ", width, m->from + line * m->lines_a_cell * m->row);
            else
                fprintf(to, "%*s ", width, "");
            if (m->patterns > 1)
                fprintf(to, "%c ", 'A' + k);
            print_cells(m, &m->owner[k][line * m->columns], to, coloured);
        }
    print_rest(m, to);
}

/* ---- SVG ---- */

#define MARGIN 12

struct canvas {
    FILE *to;
    int left, top; /* of the first cell */
    int cell, gap; /* a cell's width and height; between two lines of the file */
};

static void write_escaped(FILE *to, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '<' || c == '>' || c == '&' || c == '"')
            fprintf(to, "&#%d;", c);
        else
            fputc(c < ' ' || c > '~' ? '?' : c, to);
    }
}

void map_picture_text(FILE *to, int x, int y, const char *anchor, const char *text)
{
    fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"" MAP_TEXT_COLOUR "\">", x, y, anchor);
    write_escaped(to, text);
    fputs("</text>\n", to);
}

/* Writes adjacent cells of one owner. */
static void write_run(const struct canvas *c, int x, int y, int cells, int32_t owner)
{
    int width = cells * c->cell;
    char name[16];

    if (owner == MAP_SEVERAL)
        fprintf(c->to, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"url(#several)\"/>\n", x, y, width,
                c->cell);
    if (owner == MAP_NOBODY)
        fprintf(c->to,
                "<rect x=\"%d.5\" y=\"%d.5\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"" MAP_TEXT_COLOUR
                "\" stroke-width=\"0.5\"/>\n",
                x, y, width - 1, c->cell - 1);
    if (owner < 0)
        return;
    fprintf(c->to,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"#333\" stroke-width=\"0.5\"/>\n",
            x, y, width, c->cell, colour[owner % COLOURS].rgb);
    if (snprintf(name, sizeof name, "%d", owner) * 7 <= width)
        fprintf(c->to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#111\">%s</text>\n", x + width / 2,
                y + c->cell / 2 + 4, name);
}

static void write_line(const struct map_picture *m, const struct canvas *c, int k, int line)
{
    const int32_t *owner = &m->owner[k][line * m->columns];
    int y = c->top + line * (m->patterns * c->cell + c->gap) + k * c->cell;

    for (int first = 0, end; first < m->columns; first = end) {
        for (end = first + 1; end < m->columns && owner[end] == owner[first]; end++)
            ;
        write_run(c, c->left + first * c->cell, y, end - first, owner[first]);
    }
}

static void write_lines(const struct map_picture *m, const struct canvas *c)
{
    char text[32];

    for (int line = 0; line < m->lines; line++) {
        int y = c->top + line * (m->patterns * c->cell + c->gap) + c->cell / 2 + 4;

        snprintf(text, sizeof text, "%" PRId64, m->from + line * m->lines_a_cell * m->row);
        map_picture_text(c->to, c->left - (m->patterns > 1 ? 22 : 8), y, "end", text);
        for (int k = 0; k < m->patterns; k++) {
            if (m->patterns > 1)
                map_picture_text(c->to, c->left - 8, y + k * c->cell, "end", k == 0 ? "A" : "B");
            write_line(m, c, k, line);
        }
    }
}

void map_picture_write_svg(const struct map_picture *m, FILE *to, const char *const title[2])
{
    int64_t last = m->from + (m->lines - 1) * m->lines_a_cell * m->row;
    struct canvas c = {.to = to, .cell = m->columns <= 16 ? 28 : m->columns <= 32 ? 20 : 14};
    size_t longest = strlen(title[0]);
    char text[120];

    c.gap = m->patterns > 1 ? 10 : 0;
    c.left = MARGIN + 8 * snprintf(NULL, 0, "%" PRId64, last) + (m->patterns > 1 ? 26 : 12);
    c.top = MARGIN + 18 * (m->patterns + 1);
    int n = snprintf(text, sizeof text, "a cell: %" PRId64 " byte%s", m->cell, plural((uint64_t)m->cell));
    if (m->lines_a_cell > 1)
        n += snprintf(text + n, sizeof text - (size_t)n, " of %" PRId64 " lines; hatched: of several elements",
                      m->lines_a_cell);
    if (!m->whole)
        snprintf(text + n, sizeof text - (size_t)n, "; only the beginning");
    if (m->patterns > 1 && strlen(title[1]) > longest)
        longest = strlen(title[1]);
    if (strlen(text) > longest)
        longest = strlen(text);
    int width = c.left + m->columns * c.cell + MARGIN, words = 2 * MARGIN + 8 * ((int)min(longest, 110) + 4);
    int height = c.top + m->lines * (m->patterns * c.cell + c.gap) + MARGIN;
    width = width > words ? width : words;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"monospace\" font-size=\"12\">\n"
            "<defs><pattern id=\"several\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
            "<path d=\"M0,4 L4,0\" stroke=\"" MAP_TEXT_COLOUR "\"/></pattern></defs>\n",
            width, height, width, height);
    for (int k = 0; k < m->patterns; k++) {
        char line[128];

        snprintf(line, sizeof line, "%s%s", m->patterns < 2 ? "" : k == 0 ? "A: " : "B: ", title[k]);
        map_picture_text(c.to, MARGIN, MARGIN + 18 * k + 10, "start", line);
    }
    map_picture_text(c.to, MARGIN, MARGIN + 18 * m->patterns + 10, "start", text);
    write_lines(m, &c);
    fputs("</svg>\n", to);
}
