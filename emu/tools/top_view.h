/*
 * What `ncube top` shows, as lines of text: tables of programs, nodes, channels, drives and their caches, from one
 * report of a machine, or from two, of which the difference is shown.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum top_view { TOP_PROGRAMS, TOP_NODES, TOP_CHANNELS, TOP_DRIVES, TOP_CACHES, TOP_VIEWS };

#define TOP_LINE_BYTES 200u
#define TOP_KEYS       3u

struct top_row {
    char text[TOP_LINE_BYTES];
    double key[TOP_KEYS]; /* to sort by */
    size_t number;        /* in the order of the report */
};

struct top_table {
    const char *title, *header, *key_name[TOP_KEYS];
    struct top_row *row;
    size_t n;
};

/* Checks the load of a report (machine_load.h), which comes from a machine: every field has its type. */
bool top_load_makes_sense(json_t *load);

/* Makes a table from a report with its load (machine_load.h). `before`: an earlier one of the same machine, or NULL:
 * the numbers are since the machine's start. The caller frees it with top_table_free. */
void top_table_make(struct top_table *t, enum top_view view, const json_t *now, const json_t *before);
void top_table_free(struct top_table *t);

/* Sorts by a key, the highest first; then by the order in the report. */
void top_table_sort(struct top_table *t, unsigned key);
/* Leaves only the rows that contain the text. */
void top_table_filter(struct top_table *t, const char *text);

/* Write the two texts above the tables: the machine and its times; what its nodes do. */
void top_head(char *text, size_t bytes, const json_t *now, const json_t *before);
void top_states(char *text, size_t bytes, const json_t *now);

/* Returns how many bytes of the text go into a line of so many columns (at least 1): all, or up to a space, best one
 * between two parts of the text. */
size_t top_line_end(const char *text, size_t columns);
