/*
 * Pictures of patterns, for `ncube map`: the file as a grid of cells, each with the element that has its bytes. One or
 * two patterns are drawn; of two, each line of the file is shown twice, one below the other [P1 Figure 5].
 *
 * A cell is as large as it can be without two elements sharing one. Where that makes too many cells, an array or a
 * picture with a given row is shown coarser, with marks for cells that several elements share; if most are shared, or
 * without rows, only the beginning is shown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libpio/map/pattern.h"

struct map_picture {
    int patterns;
    int64_t from;         /* file offset of the first cell */
    int64_t row;          /* bytes from one line of the file to the next */
    int64_t cell;         /* bytes of a cell, of one line of the file */
    int64_t lines_a_cell; /* lines of the file that a cell covers */
    int64_t bytes;        /* of the file, from `from` on, that a whole picture would show */
    int columns, lines;   /* of cells */
    bool whole;
    int32_t *owner[2]; /* [line * columns + column]: an element, or one of these */
};

enum { MAP_NOBODY = -1, MAP_SEVERAL = -2, MAP_BEYOND = -3 };

/* Makes the picture of `patterns` patterns (1 or 2). row: bytes of a line, 0: chosen. lines: at most so many. The
 * caller frees it with map_picture_free. */
void map_picture_make(struct map_picture *m, const struct pattern *const p[2], int patterns, int64_t row, int lines);
void map_picture_free(struct map_picture *m);

/* Prints it as characters, in colours if `coloured`. */
void map_picture_print(const struct map_picture *m, FILE *to, bool coloured);
/* Writes it as SVG, to be shown on light and dark backgrounds. title: one line of any bytes for each pattern. */
void map_picture_write_svg(const struct map_picture *m, FILE *to, const char *const title[2]);
#define MAP_TEXT_COLOUR "#767676" /* as legible on white as on black */
/* Writes a text of any bytes into an SVG, at a place in pixels. anchor: start, middle or end. */
void map_picture_text(FILE *to, int x, int y, const char *anchor, const char *text);
