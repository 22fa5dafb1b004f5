/*
 * How far something is, in one line at the bottom of a terminal: on standard error, drawn again and again. Nothing is
 * drawn where that is no terminal.
 *
 * A process has one such line. Whoever writes to the terminal calls progress_erase or progress_yield before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether there is a terminal to draw on. */
bool progress_has_terminal(void);

/* Draws a text, cut to the width of the terminal. */
void progress_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Draws a bar for what takes long, from 8 MB on; it goes when done == total. total 0: not known. */
void progress_bar(uint64_t done, uint64_t total);

/* Removes the line, if there is one. */
void progress_erase(void);

/* The same before n bytes of a program's output. If they do not end a line, no line is drawn until others do. */
void progress_yield(const void *bytes, size_t n);
