/*
 * What gdb debugs, without a machine: three nodes in this process's memory, of which node 2 has ended. Page 0x10000 is
 * text, 0x11000 data, 0x12000 promised, 0x13000 text that can be written; the root is page 1. A loop in the table lies
 * at 1 GB.
 */
#pragma once

#include "emu/debug/commands.h"

#define GDB_TARGET_NODES 3u

struct gdb_target {
    uint8_t *ram; /* all nodes see the same */
    struct target target;
    struct session session;
    struct travel travel;
    struct rsp packets;
};

/* Makes it, with a session that has just begun; g stays where it is. Frees it. */
void gdb_target_make(struct gdb_target *g);
void gdb_target_free(struct gdb_target *g);
