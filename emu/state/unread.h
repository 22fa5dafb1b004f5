/* Messages that have come to a node and that its program has not read: what a wait for another one is often about. */
#pragma once

#include "emu/state/machine_data.h"

/* Appends to the text what waits unread for the program of the job on that node, the one that ran last if there are
 * several processes: "; 2 messages are unread, the first of type 13 from node 5". Nothing if there is none. The node
 * must not be running. */
void unread_describe(struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes);

struct unread_kind {
    uint32_t type, node, messages; /* of that type from the node with that address */
    uint32_t bytes;                /* of the first one */
};

/* Lists what waits unread for a process of the job's program on that node, in the order in which the first of each kind
 * has come; `process`: Vertex's address of it, 0: the one that ran last, if the node has not exited. Returns how many
 * there are, at most `most`. The node must not be running. */
uint32_t unread_list(struct machine *m, const struct job *j, uint32_t index, uint64_t process, struct unread_kind *kind,
                     uint32_t most);
/* Reads from Vertex's memory on a node. False: there is none at that address. */
bool unread_read(const struct machine *m, uint32_t index, uint64_t va, void *to, size_t bytes);
/* Vertex's address of the process that ran last on a node; 0: there is none. */
uint64_t unread_process(struct machine *m, uint32_t index);
/* Writes "node 5", as the job numbers it, or "the host". */
void unread_sender(const struct job *j, uint32_t address, char *text, size_t bytes);
