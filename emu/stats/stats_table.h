/*
 * Tables of statistics (stats.h): columns for each kind of part, from which both the JSON and the summary are made.
 */
#pragma once

#include "emu/stats/stats.h"

struct column {
    const char *key;   /* in JSON */
    const char *label; /* in the summary; NULL: left out */
    bool is_time;      /* cycles: printed as a share of virtual time */
};

#define COLUMNS_MAX 16
#define NAME_BYTES  24 /* of a part, in the summary */

struct row {
    uint64_t value[COLUMNS_MAX];
};

/* A table of rows, printed as mean, lowest and highest value of each column, with the names of the parts that have
 * them. */
struct part {
    const struct column *column;
    const struct row *row;
    char (*name)[NAME_BYTES];
    uint32_t count;
};

/* Returns an empty table with room for so many rows, which are *row; stats_part_free frees both. */
struct part stats_part_new(const struct column *column, struct row **row, uint32_t room);
void stats_part_free(struct part *p, struct row *row);

/* Prints a heading, and then the columns, without those that are 0 everywhere; nothing without rows. */
void stats_print_heading(FILE *to, const char *heading);
void stats_print_column(FILE *to, const struct stats_source *s, const struct part *p, size_t k);
void stats_print_part(FILE *to, const struct stats_source *s, const char *title, const struct part *p);

/* Returns which part of virtual time that is; a / b, or 0. */
double stats_share(const struct stats_source *s, uint64_t cycles);
double stats_ratio(double a, double b);
