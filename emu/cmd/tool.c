#define _GNU_SOURCE /* mempcpy */
#include "emu/cmd/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/cmd/overrides.h"

#define IO_NODES_PER_BOARD 16u
#define TOOL_ERROR_BYTES   4608u

const char *tool_node_name(uint32_t node, char name[TOOL_NAME_BYTES])
{
    if (node == NODE_HOST)
        snprintf(name, TOOL_NAME_BYTES, "host");
    else if (NODE_IS_IO(node))
        snprintf(name, TOOL_NAME_BYTES, "%u.%u", (node - NODE_IO_BASE) / IO_NODES_PER_BOARD,
                 (node - NODE_IO_BASE) % IO_NODES_PER_BOARD);
    else
        snprintf(name, TOOL_NAME_BYTES, "%u", node);
    return name;
}

static uint32_t find_volume(const struct topo *t, const char *volume)
{
    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives; d++)
            if (strcmp(t->io[j].drive[d].volume, volume) == 0)
                return t->io[j].node;
    return TOPO_NONE;
}

/* "b.i" */
static uint32_t parse_io_node(const char *text)
{
    char board_text[8];
    const char *point = strchr(text, '.');
    uint64_t board, index;
    size_t length = point ? (size_t)(point - text) : sizeof board_text;

    if (length >= sizeof board_text)
        return TOPO_NONE;
    memcpy(board_text, text, length);
    board_text[length] = '\0';
    if (!options_read_number(board_text, 0, (NODE_HOST - NODE_IO_BASE) / IO_NODES_PER_BOARD - 1, &board) ||
        !options_read_number(point + 1, 0, IO_NODES_PER_BOARD - 1, &index))
        return TOPO_NONE;
    return NODE_IO((uint32_t)board, (uint32_t)index);
}

uint32_t tool_parse_node(const struct topo *t, const char *text)
{
    uint64_t number;
    uint32_t node = TOPO_NONE;

    if (strcmp(text, "host") == 0)
        return NODE_HOST;
    if (strncmp(text, "//", 2) == 0)
        return find_volume(t, text + 2);
    if (options_read_number(text, 0, NODE_IO_BASE - 1, &number))
        node = (uint32_t)number;
    else
        node = parse_io_node(text);
    return node != TOPO_NONE && topo_has_node(t, node) ? node : TOPO_NONE;
}

const struct option_line option_set = {KEY_SET, "set", "KEY=VALUE",
                                       "instead of the machine file's setting, as dim=6, drives.rpm=5400"};

bool tool_take_set(const struct options *o, int key, const char *value)
{
    if (key != KEY_SET)
        return false;
    if (!overrides_add(value))
        options_refuse(o, "set '%s': give KEY=VALUE, such as dim=6, front_end.si=3 or drives.rpm=5400", value);
    return true;
}

bool tool_load(const char *command, const char *path, struct machine_config *config)
{
    char error[TOOL_ERROR_BYTES];

    if (config_load(config, path, NULL, error, sizeof error) == 0)
        return true;
    fprintf(stderr, "%s: %s\n", command, one_line(error));
    return false;
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Returns the bytes of the UTF-8 character with which `text` begins; 0 if it begins with none. */
static size_t character_bytes(const char *text)
{
    size_t left = strnlen(text, 4);

    for (size_t n = 1; n <= left; n++) {
        json_t *s = json_stringn(text, n);

        json_decref(s);
        if (s)
            return n;
    }
    return 0;
}

json_t *tool_json_name(const char *name)
{
    char *text = memory_new(strlen(name) * (sizeof REPLACEMENT - 1) + 1, 1), *end = text;

    while (*name) {
        size_t n = character_bytes(name);

        end = n ? mempcpy(end, name, n) : stpcpy(end, REPLACEMENT);
        name += n ? n : 1;
    }
    *end = '\0';
    json_t *string = json_string(text);
    free(text);
    return string;
}

int tool_print_json(json_t *json)
{
    int status = json_dumpf(json, stdout, JSON_INDENT(2)) == 0 ? 0 : 1;

    putchar('\n');
    json_decref(json);
    return status;
}
