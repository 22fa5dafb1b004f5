/* Plots by gnuplot (plot.h): its input is written to one file, its output read from another. */
#define _GNU_SOURCE
#include "emu/report/plot.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/child.h"

#define PATH_BYTES 4096

/* What tells curves apart, also without the style sheet and without colours. */
static const struct {
    uint32_t light, dark; /* colours on a light page, which gnuplot draws with, and on a dark one */
    uint32_t point;       /* gnuplot's type: disk, square, triangle, diamond, and the same empty */
} looks[PLOT_CURVES_MAX] = {{0x0b62a8, 0x6cb6ff, 7},  {0xc2410c, 0xff9a5c, 5}, {0x15803d, 0x6fdc8c, 9},
                            {0x86198f, 0xe39cf2, 13}, {0xb45309, 0xf2c14e, 6}, {0x0e7490, 0x5fd3e6, 4},
                            {0xbe123c, 0xff8fa3, 8},  {0x555555, 0xaaaaaa, 12}};

void plot_point(struct plot_curve *c, double x, double y)
{
    assert(c->n < PLOT_POINTS_MAX);
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

bool plot_has_program(void)
{
    return child_run((char *[]){"gnuplot", "--version", NULL}, true) == 0;
}

static void write_curves(FILE *f, const struct plot *p)
{
    for (size_t i = 0; i < p->curves; i++) {
        const struct plot_curve *c = &p->curve[i];

        fprintf(f, "$curve%zu << end\n", i);
        for (size_t j = 0; j < c->n; j++)
            fprintf(f, "%.9g %.9g\n", c->x[j], c->y[j]);
        fputs("end\n", f);
    }
    for (size_t i = 0; i < p->curves; i++) {
        const struct plot_curve *c = &p->curve[i];
        size_t look = (c->colour > 0 ? c->colour : i + 1) - 1;

        fprintf(f, "%s$curve%zu using 1:2 with %s linewidth 2 linecolor rgb \"#%06x\"", i > 0 ? ", " : "plot ", i,
                c->dashed ? "lines" : "linespoints", looks[look].light);
        if (c->dashed)
            fprintf(f, " dashtype %zu", 2 + look);
        else
            fprintf(f, " pointtype %u pointsize 0.8", looks[look].point);
        fprintf(f, " title \"%s\"", c->title);
    }
    fputc('\n', f);
}

static void write_script(FILE *f, const struct plot *p, const char *svg)
{
    char *prefix = memory_copy_text(p->name, SIZE_MAX);

    for (char *c = prefix; *c; c++) /* which has no '-' */
        *c = *c == '-' ? '_' : *c;
    fprintf(f, "set terminal svg size 520,360 dynamic font 'sans-serif,15' name '%s' noenhanced\n", prefix);
    free(prefix);
    fprintf(f, "set output '%s'\nset grid\nset key below maxrows 2 samplen 3 spacing 1.2\n", svg);
    fputs("set yrange [0:*]\nset border 3\nset tics nomirror\n", f);
    fprintf(f, "set xlabel '%s'\nset ylabel '%s'\nset offsets graph 0.03, graph 0.03, graph 0.05, 0\n", p->x_axis,
            p->y_axis);
    fputs(p->logarithmic ? "set logscale x 2\n" : "set xrange [0:*]\n", f);
    if (p->ticks)
        fprintf(f, "set xtics (%s)\n", p->ticks);
    write_curves(f, p);
}

/* A rule for a dark page: where gnuplot drew in one colour, another one. */
static void put_dark(FILE *to, const char *attribute, uint32_t from, uint32_t colour)
{
    fprintf(to, "svg [%s=\"rgb(%3u, %3u, %3u)\"]{%s:#%06x}\n", attribute, from >> 16, from >> 8 & 255, from & 255,
            attribute, colour);
}

void plot_put_style(FILE *to)
{
    fputs("@media(prefers-color-scheme:dark){\n"
          "svg [fill=black]{fill:#ddd}svg [stroke=black]{stroke:#ddd}svg [stroke=gray]{stroke:#555}\n",
          to);
    for (size_t i = 0; i < PLOT_CURVES_MAX; i++) {
        put_dark(to, "stroke", looks[i].light, looks[i].dark);
        put_dark(to, "color", looks[i].light, looks[i].dark);
    }
    fputs("}\n", to);
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t n = 0;

    if (!f)
        return NULL;
    if (getdelim(&text, &n, '\0', f) < 0) {
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

/* Removes what lies between two marks, with them, everywhere. */
static void remove_between(char *text, const char *from, const char *to)
{
    char *start = text, *end;

    while ((start = strstr(start, from)) && (end = strstr(start, to)))
        memmove(start, end + strlen(to), strlen(end + strlen(to)) + 1);
}

char *plot_draw(const struct plot *p, const char *work, char *error, size_t error_bytes)
{
    char script[PATH_BYTES], svg[PATH_BYTES];

    snprintf(script, sizeof script, "%s/%s.gp", work, p->name);
    snprintf(svg, sizeof svg, "%s/%s.svg", work, p->name);
    FILE *f = fopen(script, "w");
    if (f) {
        write_script(f, p, svg);
        if (fclose(f) != 0)
            f = NULL;
    }
    char *text = f && child_run((char *[]){"gnuplot", script, NULL}, true) == 0 ? read_whole(svg) : NULL;
    char *element = text ? strstr(text, "<svg") : NULL;
    if (!element) {
        snprintf(error, error_bytes, "plot %s: gnuplot has not drawn it (%s)", p->name, script);
        free(text);
        return NULL;
    }
    memmove(text, element, strlen(element) + 1);
    remove_between(text, "<title>", "</title>"); /* names of gnuplot's own, which a browser would show */
    remove_between(text, "<desc>", "</desc>");
    return text;
}
