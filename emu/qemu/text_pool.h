/*
 * Program text that the nodes of a cabinet share.
 *
 * A node loads a program into its own memory and then asks the NCU where to execute it (NCU_TEXT, machine.h). Nodes of
 * one cabinet that ask for the same bytes execute one copy, which QEMU translates once for all of them. Only the bytes
 * of texts are compared; so damaged, different and repeated loads need no special care.
 *
 * QEMU does not see ncube's stores. So a copy is complete before any node learns its address, and never changes: room
 * is allocated upwards and never reused. When the pool is full, nodes execute new text in their own memory.
 *
 * A copy has the same offset in all cabinets' pools, and takes room in all. So whether there is room does not depend on
 * how nodes are divided into cabinets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct text_pool;

/* Makes the pools of so many cabinets, of `bytes` each. The caller frees them with text_pool_free. */
struct text_pool *text_pool_new(uint32_t cabinets, uint64_t bytes);
void text_pool_free(struct text_pool *p);

/* Gives a cabinet its memory for copies, which must be unused, belongs to the caller, and must outlive the pool. */
void text_pool_attach(struct text_pool *p, uint32_t cabinet, uint8_t *memory);

/* Returns the offset of the copy of this text in the cabinet's pool; makes the copy if there is none. -1: no room. */
int64_t text_pool_share(struct text_pool *p, uint32_t cabinet, const uint8_t *text, size_t bytes);
