/* The screen of `ncube top`. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a report with its load, which top_show drops; or NULL after a text in error. */
typedef json_t *top_ask_fn(const void *ctx, char *error, size_t error_bytes);

/* Shows reports on the terminal until the user ends it, which returns true; or false after a text in error, when there
 * is no report or the terminal's type is unknown. */
bool top_show(top_ask_fn *ask, const void *ctx, uint32_t every_ms, char *error, size_t error_bytes);
