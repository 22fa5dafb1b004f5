/*
 * What cache managers have of each other's blocks [P3 section 3.1.3, replacement policy].
 *
 *   home    a block has to go: KEEP to the manager with the most room, or that is least in demand
 *   home    it is needed again: GIVE; the holder answers with its bytes, which it has no longer, or with none, if it
 *           has evicted them
 *   holder  KEEP: among its own blocks, by age; one that has to go for it is dropped
 *
 * So a block is in one manager's memory at most, but for copies that nobody asks for any more. All are clean, so any
 * of these messages may be in vain. Each tells the sender's load.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nsdisk/ext2/data_cache.h"

#define PEER_PARTS  4u /* parts of a block of the data cache */
#define PEERS_MOST  32u
#define GUEST_SLOTS 32u /* parts of the data cache from GUEST_FIRST on: those of other managers, by their place */

/* Hears from then on which blocks have to go. Counts those that had to go, and have gone to others and come back. */
void peers_begin(struct data_cache *d, uint32_t slot_shift, struct manager_counts *counts);
/* The managers, this one among them, from then on. A second list is that of another file, and changes nothing. */
void peers_set(const int *node, uint32_t n, uint32_t own);
/* Brings parts of a block from the manager that has them: bit i of the result is parts_of_block + i, which is in
 * buf + i parts. 0: nobody has it. */
uint32_t peers_fetch(uint32_t first_part, uint8_t *buf);
/* The parts have changed or are no more: what others have of them is not asked for. */
void peers_forget(uint32_t first, uint32_t count);
/* Takes a message from another manager. */
void peers_take(const uint8_t *message, size_t n, int from);
/* A client has asked for something. */
void peers_note_request(void);

/* Types of messages in CONTEXT_GROUP, behind those of clusterfile.h. */
#define PEER_TYPE       0x1100
#define PEER_TYPE_REPLY 0x1101
