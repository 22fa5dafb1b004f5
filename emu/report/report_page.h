/*
 * A page of HTML: headings, paragraphs, tables. Text is plain; the page escapes it where HTML needs that. Nothing is
 * written to the host's disk before page_write_html.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define PAGE_CELL_BYTES 96

extern const char report_page_css[]; /* of reports and of `ncube experiments` */

struct page {
    FILE *html;
    char *text; /* what it has */
    size_t bytes;
    size_t columns; /* of the open table; 0: none is open */
    size_t column;  /* of the next cell */
    bool in_list;   /* the last thing was an item */
    char *error;    /* the first failure; "": none */
    size_t error_bytes;
};

/* Begins a page. `style` is added to its style sheet. `error`, the caller's, gets the first failure. */
void page_begin(struct page *p, const char *title, const char *style, char *error, size_t error_bytes);

void page_heading(struct page *p, const char *name, const char *text);
void page_paragraph(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void page_item(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends a list before HTML that is not to be in it. */
void page_end_list(struct page *p);

/* A table: its columns' names, separated by '|'; then cells, row by row. */
void page_table(struct page *p, const char *columns);
void page_cell(struct page *p, const char *text);
void page_end_table(struct page *p);

/* Adds HTML. */
void page_html(struct page *p, const char *html);

/* Writes the page to the file that is open (new_file.h). Returns 0, or -1 with a line in p->error that names `path`.
 * The caller closes the file. */
int page_write_html(struct page *p, int fd, const char *path);

/* Frees what page_begin and the others took. */
void page_end(struct page *p);
