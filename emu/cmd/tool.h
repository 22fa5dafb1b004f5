/*
 * The commands that boot no machine, and functions for those that read a machine file: `ncube topo`, `route`, `place`.
 *
 * They read and print nodes in the same form: a compute node by its number, I/O node i of board b as `b.i`, the front
 * end as `host`, and the I/O node of a volume as `//volume`.
 */
#ifndef NCUBE_TOOL_H
#define NCUBE_TOOL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/cmd/config.h"
#include "emu/cmd/options.h"

/* Commands of ncube.c's table. Each returns its exit status, 1 for a bad machine file; a wrong command line ends the
 * process with status 2. */
int topo_command(int argc, char **argv);
int route_command(int argc, char **argv);
int place_command(int argc, char **argv);
/* Likewise; solves the queueing network of parallel file I/O, which needs no machine file. */
int model_command(int argc, char **argv);
/* Likewise; makes, checks and changes images. */
int disk_command(int argc, char **argv);
/* Likewise; says what is wrong with a machine file and its images, and what would be right. */
int check_command(int argc, char **argv);
/* Likewise; lists the machines that are up. */
int ps_command(int argc, char **argv);
/* Likewise; shows what a machine that is up does, again and again. */
int top_command(int argc, char **argv);
/* Likewise; lets gdb debug a program on a machine that is up. */
int gdb_command(int argc, char **argv);
/* Likewise, without a machine file: draws and compares patterns (pattern.h). */
int map_command(int argc, char **argv);

/* Likewise, without a machine file: makes a page out of a trace (emu/report). */
int report_command(int argc, char **argv);

/* Likewise; boots machines, and writes a report of what it measured on them (emu/study). */
int experiments_command(int argc, char **argv);

#define TOOL_NAME_BYTES 24u
/* Writes a node's name to `name` and returns it. */
const char *tool_node_name(uint32_t node, char name[TOOL_NAME_BYTES]);

/* Returns the node that a text names, or TOPO_NONE if the machine has no such node. */
uint32_t tool_parse_node(const struct topo *t, const char *text);

/* Reads the machine file. Returns true, and the caller frees the config with config_free; or prints the error and
 * returns false. */
bool tool_load(const char *command, const char *path, struct machine_config *config);

extern const struct option_line option_set;

/* Takes --set. Returns false if the option is another one; refuses a value that is not KEY=VALUE. */
bool tool_take_set(const struct options *o, int key, const char *value);

/* Makes a JSON string of a name of the host, which may hold any bytes but 0: those that are not UTF-8 become U+FFFD. */
json_t *tool_json_name(const char *name);

/* Prints `json` and a new line, and drops it. Returns the exit status. */
int tool_print_json(json_t *json);

#endif
