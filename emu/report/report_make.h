/* A run's report as one page of HTML that needs nothing else: facts as tables, pictures from report_view.js, and the
 * run played by report_play.js. */
#pragma once

#include "emu/report/timeline.h"

/* What report_assets.c has taken from the files of those names, each with a NUL at its end. */
extern const char report_view_css[], report_view_js[], report_play_js[];

/* Writes the report of a timeline, which gets further names, to an open file. Returns 0, or -1 with a line in error
 * that names `path`. */
int report_make(struct timeline *t, int fd, const char *path, char *error, size_t error_bytes);
