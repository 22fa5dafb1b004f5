/*
 * The nodes of the shell's subcube on which programs may run: all but the shell's own, node 0.
 */
#pragma once

#include <stdbool.h>

/* Learns how many there are. False: no memory. */
bool nodes_begin(void);
/* The number of nodes of the job, the shell's own included. */
int nodes_all(void);
/* Takes `nodes` free nodes, the first one a multiple of the size of the smallest subcube with so many, and waits until
 * nothing runs there. Returns the first one, or -1: no subcube is free. */
int nodes_take(int nodes);
/* Gives them back. */
void nodes_release(int first, int nodes);
