/*
 * Typed reading of a libconfig file, whose errors name file, line, offending text and what would be right.
 *
 * Every function returns false after it has put one line into the reader's error, unless an earlier fault is there. A
 * key that is absent leaves the value as it was, which is how defaults are given.
 */
#pragma once

#include <libconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/inputs.h"

struct setting_reader {
    const char *path; /* of the file, as the user wrote it */
    char *error;
    size_t error_bytes;
    struct inputs *files;                      /* collects the files that are read; may be NULL */
    uint32_t faults;                           /* found so far; `error` has the first one */
    void (*say)(void *ctx, const char *fault); /* is told of each fault; NULL: only the first one matters */
    void *ctx;
};

/* Parses the reader's file. Initialises `parsed`, which the caller destroys in either case. */
bool setting_parse(struct setting_reader *r, config_t *parsed);

/* Writes "FILE:LINE: text" for a setting, or "FILE: text" for the file's top level. Always returns false. */
bool setting_fail(struct setting_reader *r, const config_setting_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the reader goes on to the next part of the file, after a part that was good or not. */
bool setting_goes_on(const struct setting_reader *r, bool good);

/* "FILE:LINE" of a setting. */
void setting_where(const struct setting_reader *r, const config_setting_t *at, char *text, size_t bytes);
uint32_t setting_line(const config_setting_t *at);

/* Checks that all keys of a group are in a NULL-terminated list. */
bool setting_check_keys(struct setting_reader *r, const config_setting_t *group, const char *const *keys);
/* Checks that the key is there; the error explains it by `what`. */
bool setting_require(struct setting_reader *r, const config_setting_t *group, const char *key, const char *what);

/* Reads an integer from low to high. */
bool setting_integer(struct setting_reader *r, const config_setting_t *group, const char *key, int64_t low,
                     int64_t high, int64_t *value);
/* Reads element i of an array or list of integers. */
bool setting_integer_at(struct setting_reader *r, const config_setting_t *array, uint32_t i, int64_t low, int64_t high,
                        int64_t *value);
/* Reads a string that is not empty; it belongs to the parsed file. */
bool setting_string(struct setting_reader *r, const config_setting_t *group, const char *key, const char **value);
/* Reads one of several words, which end with NULL, and stores its index. */
bool setting_choice(struct setting_reader *r, const config_setting_t *group, const char *key,
                    const char *const *choices, uint32_t *index);
/* Reads an array or list of at most `most` integers, without a look at their values. */
bool setting_integers(struct setting_reader *r, const config_setting_t *group, const char *key, uint32_t most,
                      const config_setting_t **array);
/* Reads a list of groups. */
bool setting_groups(struct setting_reader *r, const config_setting_t *group, const char *key,
                    const config_setting_t **list);
/* Reads a group. */
bool setting_group(struct setting_reader *r, const config_setting_t *group, const char *key,
                   const config_setting_t **child);
