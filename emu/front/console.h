/*
 * What the front end tells its user on the standard error stream: its own lines and text from nodes, which is shown
 * as it is, but for control characters that could play with a terminal.
 */
#ifndef NCUBE_CONSOLE_H
#define NCUBE_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#include "emu/front/streams.h"

#define CONSOLE_LINE_BYTES 1024u /* longer lines from nodes are broken */

/* One line: "ncube: ", then the text. */
__attribute__((format(printf, 2, 3))) void console_say(struct streams *s, const char *format, ...);

/* n bytes of text, each line behind "prefix: " (nothing when the prefix is empty). */
void console_print(struct streams *s, const char *prefix, const char *text, size_t n);

/* Why something failed, in CONSOLE_LINE_BYTES at `line`: the text that came with it, as one line, or the error list's
 * for the status when there was none. */
void console_explain(const char *text, size_t n, int32_t status, char *line);

#endif
