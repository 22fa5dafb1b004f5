/* Typed reading of a libconfig file with errors that name file and line. */
#include "emu/cmd/setting.h"

#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Errors ------------------------------------------------------------------------------- */

uint32_t setting_line(const config_setting_t *at)
{
    return config_setting_source_line(at);
}

void setting_where(const struct setting_reader *r, const config_setting_t *at, char *text, size_t bytes)
{
    const char *included = config_setting_source_file(at);
    const char *file = included ? included : r->path;

    if (config_setting_is_root(at))
        snprintf(text, bytes, "%s", file);
    else
        snprintf(text, bytes, "%s:%u", file, setting_line(at));
}

bool setting_fail(struct setting_reader *r, const config_setting_t *at, const char *format, ...)
{
    char where[512], text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    setting_where(r, at, where, sizeof where);
    snprintf(r->error, r->error_bytes, "%s: %s", where, text);
    return false;
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

static FILE *open_file(struct setting_reader *r)
{
    struct stat st;
    FILE *file = fopen(r->path, "re");

    if (file && (fstat(fileno(file), &st) < 0 || S_ISDIR(st.st_mode))) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    if (!file)
        snprintf(r->error, r->error_bytes, "%s: %s", r->path, strerror(errno));
    return file;
}

bool setting_parse(struct setting_reader *r, config_t *parsed)
{
    config_init(parsed);
    FILE *file = open_file(r);
    if (!file)
        return false;
    char folder[strlen(r->path) + 1];
    strcpy(folder, r->path);
    config_set_include_dir(parsed, dirname(folder));
    bool good = config_read(parsed, file);
    fclose(file);
    if (!good) {
        const char *included = config_error_file(parsed);

        snprintf(r->error, r->error_bytes, "%s:%d: %s", included ? included : r->path, config_error_line(parsed),
                 config_error_text(parsed));
    }
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

    for (int i = 0; i < n; i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        char known[256];

        if (is_among(config_setting_name(s), keys))
            continue;
        join(known, sizeof known, keys);
        return setting_fail(r, s, "unknown key '%s'; known here: %s", config_setting_name(s), known);
    }
    return true;
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
