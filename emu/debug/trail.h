/*
 * The last stretch of a node's user code in front of a place, instruction by instruction: its registers, and what its
 * stores have overwritten. A view moves over it, with the memory as it was there, while the node stays at the end.
 *
 *   instruction   0      1      2      3      end
 *                 |------|------|------|------|   the node is here
 *                        ^ view: registers of 1; memory of the node, with the stores of 3, 2 and 1 undone
 *
 * It holds no kernel code: what the kernel changes is not undone. So a trail begins anew behind each trap.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/qemu/debug_area.h"

#define TRAIL_STORE_BYTES 8u /* the longest store */

struct trail_point {
    struct debug_registers registers;
    uint64_t cycles, before;               /* its place, and that of the instruction before it (debug_area.h) */
    uint64_t va;                           /* of its store, */
    uint8_t old[TRAIL_STORE_BYTES], bytes; /* and what was there */
};

struct trail {
    uint32_t node;
    uint32_t traps; /* of the node when the last point was added */
    struct trail_point *point;
    size_t n, room;
    size_t view; /* n - 1: the end; the trail of none is empty */
};

void trail_clear(struct trail *t);
void trail_free(struct trail *t);
/* Adds a point, which becomes the end and the view. */
void trail_add(struct trail *t, const struct trail_point *p);

/* Returns the point where the view is, if it shows this node and is not at the end; else NULL. */
const struct trail_point *trail_viewed(const struct trail *t, uint32_t node);
/* Makes of bytes of the node's memory those that the view has. */
void trail_undo(const struct trail *t, uint64_t va, uint8_t *bytes, size_t n);

/* Finds the store of an instruction. Returns how many bytes it writes, and stores their address; 0: it is none. */
uint8_t trail_find_store(uint32_t instruction, const struct debug_registers *r, uint64_t *va);
