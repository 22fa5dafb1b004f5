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

#define PATH_BYTES 4096

/* Colours that mean "of curve n": the style sheet replaces them. */
#define CURVE_COLOUR "#%06zx"

void plot_point(struct plot_curve *c, double x, double y)
{
    assert(c->n < PLOT_POINTS_MAX);
    c->x[c->n] = x;
    c->y[c->n++] = y;
}

/* Runs gnuplot with its standard output and error discarded. Returns its status, 127 if there is none. */
static int run_gnuplot(const char *argument)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(127);
        execlp("gnuplot", "gnuplot", argument, NULL);
        _exit(127);
    }
    if (child < 0)
        return 1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool plot_has_program(void)
{
    return run_gnuplot("--version") == 0;
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
    for (size_t i = 0; i < p->curves; i++)
        fprintf(f, "%s$curve%zu using 1:2 with %s linewidth 2 linecolor rgb \"" CURVE_COLOUR "\" %s title \"%s\"",
                i > 0 ? ", " : "plot ", i, p->curve[i].dashed ? "lines" : "linespoints",
                p->curve[i].colour > 0 ? p->curve[i].colour : i + 1,
                p->curve[i].dashed ? "dashtype 2" : "pointtype 7 pointsize 0.7", p->curve[i].title);
    fputc('\n', f);
}

static void write_script(FILE *f, const struct plot *p, const char *svg)
{
    char *prefix = memory_copy_text(p->name, SIZE_MAX);

    for (char *c = prefix; *c; c++) /* which has no '-' */
        *c = *c == '-' ? '_' : *c;
    fprintf(f, "set terminal svg size 520,360 dynamic font 'sans-serif,15' name '%s' noenhanced\n", prefix);
    free(prefix);
    fprintf(f,
            "set output '%s'\nset grid\nset key below maxrows 2 spacing 1.2\nset yrange [0:*]\nset border 3\nset tics "
            "nomirror\n",
            svg);
    fprintf(f, "set xlabel '%s'\nset ylabel '%s'\nset offsets graph 0.03, graph 0.03, graph 0.05, 0\n", p->x_axis,
            p->y_axis);
    fputs(p->logarithmic ? "set logscale x 2\n" : "set xrange [0:*]\n", f);
    if (p->ticks)
        fprintf(f, "set xtics (%s)\n", p->ticks);
    write_curves(f, p);
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
    char *text = f && run_gnuplot(script) == 0 ? read_whole(svg) : NULL;
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
