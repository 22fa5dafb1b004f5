/*
 * Program text that the nodes of a cabinet execute in common.
 *
 * A node loads a program into its own memory and then asks the NCU where to execute it (NCU_TEXT, machine.h). Nodes of
 * one cabinet that ask for the same bytes are sent to one copy, which QEMU translates once for all of them. Texts are
 * equal when their bytes are, wherever they came from: so damaged, different and repeated loads need no care.
 *
 * QEMU does not see ncube's stores. So a copy is complete before anyone knows of it, and never changes again: room is
 * given out once, upwards, as long as the machine is there. When it has been given out, nodes execute what is new where
 * they have it.
 *
 * Every copy has the same offset in all pools that have it, and takes room in all. So whether there is room
 * does not depend on how nodes are divided into cabinets.
 */
#ifndef NCUBE_TEXT_POOL_H
#define NCUBE_TEXT_POOL_H

#include <stddef.h>
#include <stdint.h>

struct text_pool;

/* For so many cabinets; `bytes` of each. */
struct text_pool *text_pool_new(uint32_t cabinets, uint64_t bytes);
void text_pool_free(struct text_pool *p);

/* A cabinet's memory for copies, all of it unused. It stays the caller's and outlives the pool. */
void text_pool_attach(struct text_pool *p, uint32_t cabinet, uint8_t *memory);

/* Where the cabinet's pool has a copy of this text, made if need be: its offset. -1: no room is left. */
int64_t text_pool_share(struct text_pool *p, uint32_t cabinet, const uint8_t *text, size_t bytes);

#endif
