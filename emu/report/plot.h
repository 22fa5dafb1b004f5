/*
 * A plot of curves or points as SVG, drawn by gnuplot. Its colours, points and dashes are in the drawing itself, for a
 * light page, so that any viewer shows them. A style sheet changes the colours where its reader's system is dark.
 */
#ifndef NCUBE_PLOT_H
#define NCUBE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PLOT_CURVES_MAX 8
#define PLOT_POINTS_MAX 128

struct plot_curve {
    const char *title;
    bool dashed;   /* a prediction: a line without points */
    size_t colour; /* 1 to PLOT_CURVES_MAX, with its points or dashes; 0: the curve's own */
    size_t n;
    double x[PLOT_POINTS_MAX], y[PLOT_POINTS_MAX];
};

struct plot {
    const char *name; /* of its file, without .svg, and prefix of the identifiers in it */
    const char *x_axis, *y_axis;
    const char *ticks; /* of the x axis, as gnuplot wants them; NULL: its own */
    bool logarithmic;  /* the x axis, base 2 */
    size_t curves;
    struct plot_curve curve[PLOT_CURVES_MAX];
};

/* Adds a point to a curve. */
void plot_point(struct plot_curve *c, double x, double y);

/* Draws with files in the folder `work`. Returns the text of the SVG element, which the caller frees, or NULL with a
 * line in error. */
char *plot_draw(const struct plot *p, const char *work, char *error, size_t error_bytes);

/* Writes the style sheet for dark pages. */
void plot_put_style(FILE *to);

/* Whether gnuplot can be run. */
bool plot_has_program(void);

#endif
