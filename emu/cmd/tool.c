#include "emu/cmd/tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IO_NODES_PER_BOARD 16u

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

bool tool_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *value >= low && *value <= high;
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
    if (!tool_parse_number(board_text, 0, (NODE_HOST - NODE_IO_BASE) / IO_NODES_PER_BOARD - 1, &board) ||
        !tool_parse_number(point + 1, 0, IO_NODES_PER_BOARD - 1, &index))
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
    if (tool_parse_number(text, 0, NODE_IO_BASE - 1, &number))
        node = (uint32_t)number;
    else
        node = parse_io_node(text);
    return node != TOPO_NONE && topo_has_node(t, node) ? node : TOPO_NONE;
}

int tool_usage_error(const char *command, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "%s: ", command);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see %s --help\n", command);
    return 2;
}

int tool_option_error(char **argv, int key)
{
    if (key == ':')
        return tool_usage_error(argv[0], "option '%s' needs a value", argv[optind - 1]);
    if (optopt > 0 && optopt < TOOL_OPTION) /* a letter, which need not be the last of its word */
        return tool_usage_error(argv[0], "unknown option '-%c'", optopt);
    return tool_usage_error(argv[0], "unknown option '%s'", argv[optind - 1]);
}

bool tool_load(const char *command, const char *path, struct machine_config *config)
{
    char error[4608];

    if (config_load(config, path, NULL, error, sizeof error) == 0)
        return true;
    fprintf(stderr, "%s: %s\n", command, error);
    return false;
}

int tool_print_json(json_t *json)
{
    int status = json_dumpf(json, stdout, JSON_INDENT(2)) == 0 ? 0 : 1;

    putchar('\n');
    json_decref(json);
    return status;
}
