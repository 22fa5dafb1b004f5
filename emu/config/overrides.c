/*
 * --set: KEY=VALUE is read by libconfig itself, and put into the parsed file, where each setting has its text as a hook
 * so that an error can name it.
 */
#include "emu/config/overrides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

#define KEY_BYTES 64u

static struct {
    const char **text;
    uint32_t n;
} overrides;

struct override {
    char group[KEY_BYTES], key[KEY_BYTES]; /* group "": the machine itself */
    const char *value;
};

/* ---- Reading ---- */

/* Reads a word of a key. Returns what follows it, or NULL. */
static const char *read_word(const char *text, char word[KEY_BYTES])
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    if (n == 0 || n >= KEY_BYTES)
        return NULL;
    memcpy(word, text, n);
    word[n] = '\0';
    return text + n;
}

static bool read_override(const char *text, struct override *o)
{
    const char *rest = read_word(text, o->key);

    o->group[0] = '\0';
    if (rest && *rest == '.') {
        strcpy(o->group, o->key);
        rest = read_word(rest + 1, o->key);
    }
    if (!rest || *rest != '=' || rest[1] == '\0')
        return false;
    o->value = rest + 1;
    return true;
}

bool overrides_add(const char *text)
{
    struct override override;

    if (!read_override(text, &override))
        return false;
    overrides.text = memory_resize(overrides.text, overrides.n + 1, sizeof *overrides.text);
    overrides.text[overrides.n++] = text;
    return true;
}

const char *overrides_at(uint32_t i)
{
    return i < overrides.n ? overrides.text[i] : NULL;
}

/* ---- Replacing ---- */

static void copy_scalar(config_setting_t *to, const config_setting_t *from)
{
    switch (config_setting_type(from)) {
    case CONFIG_TYPE_INT:
        config_setting_set_int(to, config_setting_get_int(from));
        break;
    case CONFIG_TYPE_INT64:
        config_setting_set_int64(to, config_setting_get_int64(from));
        break;
    case CONFIG_TYPE_FLOAT:
        config_setting_set_float(to, config_setting_get_float(from));
        break;
    case CONFIG_TYPE_STRING:
        config_setting_set_string(to, config_setting_get_string(from));
        break;
    case CONFIG_TYPE_BOOL:
        config_setting_set_bool(to, config_setting_get_bool(from));
        break;
    }
}

/* Adds a copy of `from`, with all that is in it, to a group, array or list; `text` is where it comes from. */
static void add_copy(config_setting_t *parent, const char *key, const config_setting_t *from, const char *text)
{
    config_setting_t *to = config_setting_add(parent, key, config_setting_type(from));

    config_setting_set_hook(to, (void *)text);
    copy_scalar(to, from);
    for (int i = 0; config_setting_is_aggregate(from) && i < config_setting_length(from); i++) {
        const config_setting_t *child = config_setting_get_elem(from, (unsigned)i);

        add_copy(to, config_setting_name(child), child, text);
    }
}

/* Parses "v = VALUE;", or VALUE as a string if it is nothing else. */
static bool parse_value(config_t *parsed, const char *value)
{
    char *line = memory_print("v = %s;", value);
    bool good = false;

    config_init(parsed);
    if (!strchr(value, '@')) /* the file that an @include names would be read */
        good =
            config_read_string(parsed, line) == CONFIG_TRUE && config_setting_length(config_root_setting(parsed)) == 1;
    if (!good) {
        config_destroy(parsed);
        config_init(parsed);
        config_setting_t *v = config_setting_add(config_root_setting(parsed), "v", CONFIG_TYPE_STRING);
        good = config_setting_set_string(v, value) == CONFIG_TRUE;
    }
    free(line);
    return good;
}

static void replace(config_setting_t *group, const struct override *o, const config_setting_t *value, const char *text)
{
    config_setting_remove(group, o->key);
    add_copy(group, o->key, value, text);
}

/* Replaces the setting in every group of the lists with that name, in `at` and below. Returns how many there are. */
static uint32_t replace_in_lists(config_setting_t *at, const struct override *o, const config_setting_t *value,
                                 const char *text)
{
    uint32_t n = 0;

    for (int i = 0; config_setting_is_aggregate(at) && i < config_setting_length(at); i++) {
        config_setting_t *child = config_setting_get_elem(at, (unsigned)i);
        const char *name = config_setting_name(at);

        if (config_setting_is_list(at) && name && strcmp(name, o->group) == 0 && config_setting_is_group(child)) {
            replace(child, o, value, text);
            n++;
        } else {
            n += replace_in_lists(child, o, value, text);
        }
    }
    return n;
}

static bool is_of_lists(const char *group)
{
    static const char *const lists[] = {"boards", "io_nodes", "drives", "faults"};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(group, lists[i]) == 0)
            return true;
    return false;
}

/* Returns the machine's group of that name, which may be new; NULL: the machine has no such group. */
static config_setting_t *find_group(config_setting_t *root, const char *name, const char *text)
{
    config_setting_t *group = config_setting_get_member(root, name);

    if (name[0] == '\0')
        return root;
    if (!group && (group = config_setting_add(root, name, CONFIG_TYPE_GROUP)))
        config_setting_set_hook(group, (void *)text);
    return group && config_setting_is_group(group) ? group : NULL;
}

static bool apply(struct setting_reader *r, config_setting_t *root, const char *text)
{
    struct override o;
    config_t parsed;
    bool good = read_override(text, &o) && parse_value(&parsed, o.value);

    if (!good)
        return setting_fail(r, root, "--set %s cannot be read", text);
    const config_setting_t *value = config_lookup(&parsed, "v");
    if (is_of_lists(o.group)) {
        good = replace_in_lists(root, &o, value, text) > 0;
    } else {
        config_setting_t *group = find_group(root, o.group, text);

        good = group != NULL;
        if (good)
            replace(group, &o, value, text);
    }
    config_destroy(&parsed);
    return good || setting_fail(r, root, "--set %s: this machine has no %s", text, o.group);
}

bool overrides_apply(struct setting_reader *r, config_setting_t *root)
{
    for (uint32_t i = 0; i < overrides.n; i++)
        if (!apply(r, root, overrides.text[i]))
            return false;
    return true;
}
