/*
 * Ends of the pipes that pipe() makes, between processes of a node (vertex/file/node_pipe.h). Part of libvertex, for
 * those that make something else of an end that nobody has used: an end of a parallel pipe.
 */
#pragma once

#include "images/lib/devices/ndevice_switch.h"

enum { LOCAL_PIPE_READS, LOCAL_PIPE_WRITES };

/* These return a negative errno: -EBADF: the descriptor is not open; -ENOSTR: it is no such end. */

int local_pipe_end(int fd); /* LOCAL_PIPE_READS or LOCAL_PIPE_WRITES */
/* 1: no process has read or written at either end of the pipe, or waits to; else 0. */
int local_pipe_is_unused(int fd);
/* A number above 0, the same for both ends, and no other pipe's of this node. */
int local_pipe_number(int fd);
/* Closes an unused end: its descriptor is free then. -EBUSY: the pipe has been used. */
int local_pipe_take(int fd);
/* Gives an unused end, and all descriptors that dup has made of it, to another driver. -EBUSY. */
int local_pipe_replace(int fd, const struct ndevice *device, void *state);
