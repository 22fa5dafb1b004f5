/*
 * Lines that Vertex itself writes to the front end's standard error (N_CONSOLE).
 */
#pragma once

/* Sends one line of at most 255 bytes, with the node's address before the text and a newline after it; a longer text is
 * cut. Does nothing if there is no memory for the message. */
void console_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
