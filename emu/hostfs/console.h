/*
 * Lines for the user on the standard error stream: the front end's own, and text from nodes. Control characters, which
 * could change the state of a terminal, are shown as "?".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/hostfs/streams.h"

#define CONSOLE_LINE_BYTES 1024u /* longer lines from nodes are broken */

/* Prints one line: "ncube: ", then the text. */
__attribute__((format(printf, 2, 3))) void console_say(struct streams *s, const char *format, ...);

/* Prints n bytes of text, each line after "prefix: ", or after nothing if the prefix is empty. */
void console_print(struct streams *s, const char *prefix, const char *text, size_t n);

/* Writes why something failed to `line` (CONSOLE_LINE_BYTES): the n bytes of text that came with the failure, without
 * the final newline, or, if there are none, the error list's text for the status. */
void console_explain(const char *text, size_t n, int32_t status, char *line);
