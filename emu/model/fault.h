/*
 * What is broken, and when: the `faults` of the machine file (docs/machine-file.md), applied to network and drives.
 *
 * A dead node is one whose NCU is dead: all its channels are. Its processor goes on, hears nothing and reaches nobody;
 * when it recovers, its memory is as it was.
 *
 * Parity errors are drawn, not scheduled: message k that takes channel c is damaged according to a hash of (seed, c, k)
 * and to its length. So a run is repeated exactly, and what one channel draws does not depend on the others.
 */
#ifndef NCUBE_FAULT_H
#define NCUBE_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/topo.h"

#define FAULT_NEVER    UINT64_MAX
#define FAULT_RATE_ONE 1000000u /* a parity rate is in errors per so many bytes */

enum fault_kind { FAULT_NODE, FAULT_LINK, FAULT_DRIVE, FAULT_PARITY };

struct fault {
    enum fault_kind kind;
    uint32_t node;                      /* address; PARITY: TOPO_NONE for every channel of the machine */
    uint32_t channel;                   /* LINK, PARITY of one link: that node's channel */
    uint32_t drive;                     /* DRIVE: its number on the I/O node */
    uint32_t rate;                      /* PARITY: errors per FAULT_RATE_ONE bytes, 1 to FAULT_RATE_ONE */
    uint64_t seed;                      /* PARITY */
    uint64_t from_cycles, until_cycles; /* dead, or noisy, from .. until - 1; FAULT_NEVER: it stays so */
};

/* Most directed channels that one fault concerns: both directions of each of a node's channels. */
#define FAULT_CHANNELS_MAX (2 * NCU_CHANNELS)

/* The directed channels that a fault of kind NODE or LINK concerns; returns their number. */
uint32_t fault_channels(const struct topo *t, const struct fault *f, uint32_t channel[FAULT_CHANNELS_MAX]);

bool fault_is_active(const struct fault *f, uint64_t now_cycles);

/* Whether that drive of an I/O node, or the node itself, is dead. */
bool fault_drive_is_dead(const struct fault *fault, uint32_t n, uint32_t node, uint32_t drive, uint64_t now_cycles);
bool fault_node_is_dead(const struct fault *fault, uint32_t n, uint32_t node, uint64_t now_cycles);

/* In words, for a fault of kind NODE, LINK or DRIVE that has begun: "node 3 has been dead since 0.200000 s", "... was
 * dead from ... to ...". */
void fault_describe(const struct fault *f, const struct topo *t, uint64_t now_cycles, char *text, size_t bytes);

/* Whether a fault is of kind PARITY and concerns this directed channel. Costs the same on every machine. */
bool fault_is_noise_of(const struct fault *f, const struct topo *t, uint32_t channel);

/* Is message number `count` (from 0) of a channel, of so many bytes on the wire, damaged by a fault of kind PARITY that
 * is active and concerns the channel? */
bool fault_damages(const struct fault *f, uint32_t channel, uint64_t count, uint64_t bytes);

#endif
