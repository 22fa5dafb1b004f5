/*
 * Commands that reason about a machine file without booting it: `ncube topo`, `route`, `place`; and what they share.
 *
 * Nodes are written as in their output: a compute node by its number, I/O node i of board b as `b.i`, the front end
 * as `host`, and the I/O node of a volume as `//volume`.
 */
#ifndef NCUBE_TOOL_H
#define NCUBE_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/cmd/config.h"

/* Each a command of main.c's table: its exit status, 1 for a bad machine file. A wrong command line ends the process
 * with 2. */
int topo_command(int argc, char **argv);
int route_command(int argc, char **argv);
int place_command(int argc, char **argv);
/* Of machines that are up. */
int ps_command(int argc, char **argv);

#define TOOL_NAME_BYTES 24u
/* Writes a node's name; returns `name`. */
const char *tool_node_name(uint32_t node, char name[TOOL_NAME_BYTES]);

/* The node that a text names, or TOPO_NONE if the machine has none such. */
uint32_t tool_parse_node(const struct topo *t, const char *text);

/* Reads the machine file; if it is bad, says so and returns false. The caller frees it with config_free. */
bool tool_load(const char *command, const char *path, struct machine_config *config);

/* A name of the host, which may have any bytes but 0, as a JSON string: what is not UTF-8 is U+FFFD there. */
json_t *tool_json_name(const char *name);

/* Prints `json` and a new line, and drops it. Returns the exit status. */
int tool_print_json(json_t *json);

#endif
