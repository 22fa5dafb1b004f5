/*
 * The commands of ncube's table but for `run` and `boot`. Each returns its exit status, 1 for a bad machine file or a
 * failure; a wrong command line ends the process with status 2.
 */
#ifndef NCUBE_COMMANDS_H
#define NCUBE_COMMANDS_H

/* They boot no machine: wiring, routes, choice of nodes, queueing network, images, what is wrong with a machine file,
 * patterns of mappings, a page out of a trace. */
int topo_command(int argc, char **argv);
int route_command(int argc, char **argv);
int place_command(int argc, char **argv);
int model_command(int argc, char **argv);
int disk_command(int argc, char **argv);
int check_command(int argc, char **argv);
int map_command(int argc, char **argv);
int report_command(int argc, char **argv);

/* They ask machines that are up: which there are, what one does, gdb on one of its programs. */
int ps_command(int argc, char **argv);
int top_command(int argc, char **argv);
int gdb_command(int argc, char **argv);

/* Boots machines, and writes a report of what it measured on them. */
int experiments_command(int argc, char **argv);

#endif
