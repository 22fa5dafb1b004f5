/*
 * A rack: a process that runs cabinets of this host for a machine that rank 0 models.
 */
#pragma once

/* Does what rank 0 commands, machine after machine, until it ends. lib: the folder of ncube's parts on this host. */
void rack_serve(const char *lib);
