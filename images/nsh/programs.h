/* Runs what a line says. */
#pragma once

#include <stdbool.h>

struct pipeline;

/* Runs a pipeline and waits for its end. Returns the exit status of its last program; 127: it was not found, 126: it
 * could not be run, and a line on the standard error says why. */
int run_pipeline(struct pipeline *p, int status);

/* True once "exit" was run, with that status. */
extern bool run_exits;
