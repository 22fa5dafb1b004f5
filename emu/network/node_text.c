#include "emu/network/node_text.h"

#include <string.h>

#include "emu/base/options.h"

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
    if (!options_read_number(board_text, 0, NODE_BOARDS - 1, &board) ||
        !options_read_number(point + 1, 0, NODE_BOARD_NODES - 1, &index))
        return TOPO_NONE;
    return NODE_IO((uint32_t)board, (uint32_t)index);
}

uint32_t node_parse(const struct topo *t, const char *text)
{
    uint64_t number;
    uint32_t node = TOPO_NONE, drive;

    if (strcmp(text, "host") == 0)
        return NODE_HOST;
    if (strncmp(text, "//", 2) == 0)
        return topo_find_volume(t, text + 2, &drive);
    if (options_read_number(text, 0, NODE_IO_BASE - 1, &number))
        node = (uint32_t)number;
    else
        node = parse_io_node(text);
    return node != TOPO_NONE && topo_has_node(t, node) ? node : TOPO_NONE;
}
