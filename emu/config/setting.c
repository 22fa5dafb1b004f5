/*
 * Typed reading of a libconfig file, with errors that name file and line. Files are read here and given to libconfig
 * as text, and those that are included are checked beforehand, because libconfig ends the process at a folder and
 * waits at a pipe.
 */
#include "emu/config/setting.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/config/machine_file.h"

/* ---- Errors ------------------------------------------------------------------------------- */

uint32_t setting_line(const config_setting_t *at)
{
    return config_setting_source_line(at);
}

void setting_where(const struct setting_reader *r, const config_setting_t *at, char *text, size_t bytes)
{
    const char *included = config_setting_source_file(at);
    const char *set = config_setting_get_hook(at); /* overrides.c */
    const char *file = included ? included : r->path;

    if (set)
        snprintf(text, bytes, "--set %s", set);
    else if (config_setting_is_root(at))
        snprintf(text, bytes, "%s", file);
    else
        snprintf(text, bytes, "%s:%u", file, setting_line(at));
}

bool setting_fail(struct setting_reader *r, const config_setting_t *at, const char *format, ...)
{
    char where[PATH_MAX + 32], text[PATH_MAX + 256]; /* the error may hold a part of it only: names can be long */
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    setting_where(r, at, where, sizeof where);
    if (r->faults++ == 0)
        snprintf(r->error, r->error_bytes, "%s: %s", where, text);
    if (r->say) {
        char fault[sizeof where + sizeof text + 2];

        snprintf(fault, sizeof fault, "%s: %s", where, text);
        r->say(r->ctx, fault);
    }
    return false;
}

bool setting_goes_on(const struct setting_reader *r, bool good)
{
    return good || r->say;
}

static const char *type_name(const config_setting_t *s)
{
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return "an integer";
    case CONFIG_TYPE_FLOAT:
        return "a floating-point number";
    case CONFIG_TYPE_STRING:
        return "a string";
    case CONFIG_TYPE_BOOL:
        return "a boolean";
    case CONFIG_TYPE_ARRAY:
        return "an array";
    case CONFIG_TYPE_LIST:
        return "a list";
    default:
        return "a group";
    }
}

static bool fail_type(struct setting_reader *r, const config_setting_t *s, const char *right)
{
    const char *name = config_setting_name(s);

    return setting_fail(r, s, "%s%s%s is %s; it must be %s", name ? "'" : "", name ? name : "this element",
                        name ? "'" : "", type_name(s), right);
}

/* ---- Parsing ------------------------------------------------------------------------------ */

#define FILE_MAX_BYTES (16u << 20)
#define SILENCE_MS     2000
#define INCLUDE_DEPTH  10 /* as libconfig */

static bool fail_file(struct setting_reader *r, const char *path, const char *why)
{
    snprintf(r->error, r->error_bytes, "%s: %s", path, why);
    return false;
}

/* A pipe may be a shell's <(...), whose writer needs some time, or one that has no writer. */
static bool read_some(struct setting_reader *r, int fd, char *to, size_t room, ssize_t *got)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (poll(&p, 1, SILENCE_MS) == 0)
        return fail_file(r, r->path, "nothing was written to this pipe for 2 s; give a file");
    *got = read(fd, to, room);
    return *got >= 0 || fail_file(r, r->path, strerror(errno));
}

static bool read_all(struct setting_reader *r, int fd, char *text)
{
    size_t bytes = 0;
    ssize_t got = 1;

    while (got > 0 && bytes < FILE_MAX_BYTES) {
        if (!read_some(r, fd, text + bytes, FILE_MAX_BYTES - bytes, &got))
            return false;
        bytes += (size_t)got;
    }
    text[bytes] = '\0';
    if (got > 0)
        return fail_file(r, r->path, "has more than 16 MB and cannot be a machine file; give another file");
    return strlen(text) == bytes || fail_file(r, r->path, "has a NUL byte; a machine file is text");
}

static void fail_to_open(struct setting_reader *r, int reason)
{
    char *meant = reason == ENOENT ? machine_file_meant(r->path) : NULL, text[160];

    snprintf(text, sizeof text, meant ? "%s; did you mean '%s'?" : "%s", strerror(reason), meant);
    fail_file(r, r->path, text);
    free(meant);
}

/* Returns the content of the reader's file, which the caller frees, or NULL with the reader's error. */
static char *read_file(struct setting_reader *r)
{
    struct stat st;
    char *text = memory_new(FILE_MAX_BYTES + 1, 1);
    int fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool good = false;

    if (fd < 0 || fstat(fd, &st) < 0)
        fail_to_open(r, errno);
    else if (S_ISDIR(st.st_mode))
        fail_file(r, r->path, strerror(EISDIR));
    else
        good = read_all(r, fd, text);
    if (fd >= 0)
        close(fd);
    if (!good) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- Included files ---- */

static bool check_included(struct setting_reader *r, const char *folder, const char *name, uint32_t depth);

/* Copies the name from a line `@include "name"`. Returns false if the line is another. `name` has room for the line. */
static bool take_include(const char *line, char *name)
{
    line += strspn(line, " \t");
    if (strncmp(line, "@include", 8) != 0)
        return false;
    line += 8;
    line += strspn(line, " \t");
    if (*line++ != '"')
        return false;
    for (; *line && *line != '"' && *line != '\n'; line++) {
        if (*line == '\\' && line[1])
            line++;
        *name++ = *line;
    }
    *name = '\0';
    return *line == '"';
}

static bool check_includes(struct setting_reader *r, const char *folder, const char *text, uint32_t depth)
{
    bool good = true;

    for (const char *line = text; good && *line;) {
        size_t n = strcspn(line, "\n");
        char *name = memory_new(n + 1, 1);

        if (take_include(line, name))
            good = check_included(r, folder, name, depth);
        free(name);
        line += n + (line[n] == '\n');
    }
    return good;
}

/* libconfig itself reports a file that is missing. */
static bool check_included(struct setting_reader *r, const char *folder, const char *name, uint32_t depth)
{
    char path[PATH_MAX];
    struct stat st;
    struct setting_reader included = {
        .path = path, .error = r->error, .error_bytes = r->error_bytes, .files = r->files};

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return fail_file(r, name, "the name of this included file is too long");
    if (stat(path, &st) < 0 || depth == INCLUDE_DEPTH)
        return true;
    if (!S_ISREG(st.st_mode))
        return fail_file(r, path, "is included but is not a regular file; give a file");
    char *text = read_file(&included);
    if (text && r->files)
        inputs_add(r->files, path, "a part of the machine file");
    bool good = text && check_includes(r, folder, text, depth + 1);
    free(text);
    return good;
}

static bool parse_text(struct setting_reader *r, config_t *parsed, const char *text)
{
    char folder_of[strlen(r->path) + 1];

    strcpy(folder_of, r->path);
    const char *folder = dirname(folder_of);
    if (!check_includes(r, folder, text, 0))
        return false;
    config_set_include_dir(parsed, folder);
    if (config_read_string(parsed, text))
        return true;
    const char *included = config_error_file(parsed);
    snprintf(r->error, r->error_bytes, "%s:%d: %s", included ? included : r->path, config_error_line(parsed),
             config_error_text(parsed));
    return false;
}

bool setting_parse(struct setting_reader *r, config_t *parsed)
{
    config_init(parsed);
    char *text = read_file(r);
    if (text && r->files)
        inputs_add(r->files, r->path, "the machine file");
    bool good = text && parse_text(r, parsed, text);

    free(text);
    return good;
}

/* ---- Keys --------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(name, *keys) == 0)
            return true;
    return false;
}

static void join(char *text, size_t bytes, const char *const *keys)
{
    size_t n = 0;

    text[0] = 0;
    for (; *keys && n < bytes; keys++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "", *keys);
}

bool setting_check_keys(struct setting_reader *r, const config_setting_t *group, const char *const *keys)
{
    int n = config_setting_length(group);
    bool good = true;

    for (int i = 0; i < n && setting_goes_on(r, good); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        char known[400];

        if (is_among(config_setting_name(s), keys))
            continue;
        join(known, sizeof known, keys);
        good = setting_fail(r, s, "unknown key '%s'; known here: %s", config_setting_name(s), known);
    }
    return good;
}

bool setting_require(struct setting_reader *r, const config_setting_t *group, const char *key, const char *what)
{
    if (config_setting_get_member(group, key))
        return true;
    return setting_fail(r, group, "'%s' is missing: %s", key, what);
}

/* ---- Values ------------------------------------------------------------------------------- */

static bool read_integer(struct setting_reader *r, const config_setting_t *s, int64_t low, int64_t high, int64_t *value)
{
    char right[64];

    snprintf(right, sizeof right, "an integer from %lld to %lld", (long long)low, (long long)high);
    int type = config_setting_type(s);
    if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64)
        return fail_type(r, s, right);
    int64_t v = config_setting_get_int64(s);
    if (v < low || v > high) {
        const char *name = config_setting_name(s);

        return setting_fail(r, s, "%s%s%lld is out of range; it must be %s", name ? name : "", name ? " = " : "",
                            (long long)v, right);
    }
    *value = v;
    return true;
}

bool setting_integer(struct setting_reader *r, const config_setting_t *group, const char *key, int64_t low,
                     int64_t high, int64_t *value)
{
    const config_setting_t *s = config_setting_get_member(group, key);

    return !s || read_integer(r, s, low, high, value);
}

bool setting_integer_at(struct setting_reader *r, const config_setting_t *array, uint32_t i, int64_t low, int64_t high,
                        int64_t *value)
{
    return read_integer(r, config_setting_get_elem(array, i), low, high, value);
}

bool setting_string(struct setting_reader *r, const config_setting_t *group, const char *key, const char **value)
{
    const config_setting_t *s = config_setting_get_member(group, key);

    if (!s)
        return true;
    if (config_setting_type(s) != CONFIG_TYPE_STRING)
        return fail_type(r, s, "a string");
    if (!*config_setting_get_string(s))
        return setting_fail(r, s, "'%s' is an empty string", key);
    *value = config_setting_get_string(s);
    return true;
}

bool setting_choice(struct setting_reader *r, const config_setting_t *group, const char *key,
                    const char *const *choices, uint32_t *index)
{
    const char *text = NULL;
    char known[256];

    if (!setting_string(r, group, key, &text))
        return false;
    for (uint32_t i = 0; text && choices[i]; i++)
        if (strcmp(text, choices[i]) == 0) {
            *index = i;
            return true;
        }
    join(known, sizeof known, choices);
    return !text || setting_fail(r, config_setting_get_member(group, key), "%s = '%s'; known: %s", key, text, known);
}

bool setting_integers(struct setting_reader *r, const config_setting_t *group, const char *key, uint32_t most,
                      const config_setting_t **array)
{
    const config_setting_t *s = config_setting_get_member(group, key);

    if (!s)
        return true;
    if (!config_setting_is_array(s) && !config_setting_is_list(s))
        return fail_type(r, s, "an array of integers, [0, 1]");
    if ((uint32_t)config_setting_length(s) > most)
        return setting_fail(r, s, "'%s' has %d elements; at most %u are possible", key, config_setting_length(s), most);
    *array = s;
    return true;
}

bool setting_groups(struct setting_reader *r, const config_setting_t *group, const char *key,
                    const config_setting_t **list)
{
    const config_setting_t *s = config_setting_get_member(group, key);

    if (!s)
        return true;
    if (!config_setting_is_list(s))
        return fail_type(r, s, "a list of groups, ( { ... }, { ... } )");
    for (int i = 0; i < config_setting_length(s); i++) {
        const config_setting_t *element = config_setting_get_elem(s, (unsigned)i);

        if (!config_setting_is_group(element))
            return fail_type(r, element, "a group, { ... }");
    }
    *list = s;
    return true;
}

bool setting_group(struct setting_reader *r, const config_setting_t *group, const char *key,
                   const config_setting_t **child)
{
    const config_setting_t *s = config_setting_get_member(group, key);

    if (!s)
        return true;
    if (!config_setting_is_group(s))
        return fail_type(r, s, "a group, { ... }");
    *child = s;
    return true;
}
