/*
 * A report as Markdown and as one page of HTML, made at the same time: headings, paragraphs, tables, plots. Text is
 * plain; the page escapes it where HTML needs that.
 *
 * Plots are files beside the Markdown text and part of the page. Nothing is written to the host's disk before
 * page_write, which makes every file under a temporary name first: a full disk leaves what was there.
 */
#ifndef NCUBE_REPORT_PAGE_H
#define NCUBE_REPORT_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "emu/report/plot.h"

#define PAGE_FILES_MAX  64
#define PAGE_CELL_BYTES 96

struct page_file {
    char *name; /* without its folder */
    char *text;
    size_t bytes;
};

struct page {
    FILE *markdown, *html;
    struct page_file file[PAGE_FILES_MAX]; /* the first two are theirs */
    size_t files;
    size_t columns;   /* of the open table; 0: none is open */
    size_t column;    /* of the next cell */
    bool in_list;     /* the last thing was an item */
    const char *work; /* temporary folder for plots; NULL: they are not drawn */
    char *error;      /* the first failure; "": none */
    size_t error_bytes;
};

/* Begins a report. `style` is added to the style sheet of the page; NULL: nothing. `error`, the caller's, gets the
 * first failure. */
void page_begin(struct page *p, const char *title, const char *style, const char *work, char *error,
                size_t error_bytes);

void page_heading(struct page *p, const char *name, const char *text);
void page_paragraph(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_item(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends a list before HTML that is not to be in it. */
void page_end_list(struct page *p);

/* A table: its columns' names, separated by '|'; then cells, row by row. */
void page_table(struct page *p, const char *columns);
void page_cell(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number with so many decimals; "-" if it is not above 0: not known. */
void page_number(struct page *p, int decimals, double value);
/* By how much a value is above or below a reference, in %; "-" without a reference. */
void page_difference(struct page *p, double value, double reference);
void page_end_table(struct page *p);

/* Adds HTML to the page only. */
void page_html(struct page *p, const char *html);

/* Draws a plot, with a sentence below it. */
void page_plot(struct page *p, const struct plot *plot, const char *caption);

/* Adds a file of its own beside the page. Drops json. */
void page_json(struct page *p, const char *name, json_t *json);

/* Writes all files into the folder, which is made if it is missing. Returns 0, or -1 with a line in p->error. */
int page_write(struct page *p, const char *folder);

/* Writes the page alone, to the file that is open (disk_tools.h). Returns 0, or -1 with a line in p->error that names
 * `path`. The caller closes the file. */
int page_write_html(struct page *p, int fd, const char *path);

/* Frees what page_begin and the others took. */
void page_end(struct page *p);

#endif
