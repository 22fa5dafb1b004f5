/* Messages that have come to a node and that its program has not read: what a wait for another one is often about. */
#ifndef NCUBE_UNREAD_H
#define NCUBE_UNREAD_H

#include "emu/cmd/machine_data.h"

/* Appends to the text what waits unread for the program of the job on that node, the one that ran last if there are
 * several processes: "; 2 messages are unread, the first of type 13 from node 5". Nothing if there is none. The node
 * must not be running. */
void unread_describe(struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes);

#endif
