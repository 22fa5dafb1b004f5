/*
 * The commands of ncube's table but for `run` and `boot`. Each returns its exit status, 1 for a bad machine file or a
 * failure; a wrong command line ends the process with status 2.
 */
#pragma once

typedef int command_fn(int argc, char **argv);

/* They boot no machine: wiring, routes, choice of nodes, queueing network, images, what is wrong with a machine file,
 * patterns of mappings, parallel files of virtual processors, a page out of a trace. */
command_fn topo_command, route_command, place_command, model_command, disk_command, check_command, map_command,
    star_command, report_command;

/* They repeat a recorded run, and show what a recording contains. */
command_fn replay_command, record_command;

/* They ask machines that are up: which there are, what one does, gdb on one of its programs. */
command_fn ps_command, top_command, gdb_command;

/* Boots machines, and writes a report of what it measured on them. */
command_fn experiments_command;
