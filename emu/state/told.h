/* What a library's call on a node waits for, as it has told Vertex (the trap tell of vertex/contract/abi.h). */
#pragma once

#include "emu/state/machine_data.h"

/* Writes "waits in MPI_Recv from 2, tag 7, communicator 'row'", followed by ", as rank 3" if the node has another
 * number in the job; or "waits in setiomode, file '/cfs/a', in group_make for node 0". Returns false if the node does
 * not wait for messages, or has told nothing of this wait. It must not be running. */
bool told_describe(struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes);

/* For ncu_ops.waited: counts the wait, if there are to be statistics. */
bool told_waited(void *machine, uint32_t index, uint64_t cycles, struct trace_call *call);
