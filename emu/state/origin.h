/*
 * Where the message was sent that a node has read last, for gdb's user (emu/debug/travel.h). Vertex notes when it was
 * sent (nmonitor); who has sent it is noted here, of each node's last arrivals.
 */
#pragma once

#include "emu/state/machine_data.h"

struct origins;

/* Notes arrivals from now on, if gdb may go back. */
void origin_open(struct machine *m);
void origin_close(struct machine *m);

/* struct ncu_ops: arrived. */
void origin_note(struct machine *m, uint32_t node, const struct ncu_cause *c);

/* struct target_ops: origin. */
bool origin_find(void *machine, uint32_t node, uint32_t *sender, uint64_t *cycles,
                 void (*say)(void *to, const char *line), void *to);
