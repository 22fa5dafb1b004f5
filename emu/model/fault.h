/*
 * Faults: the machine file lists what breaks, and when (docs/machine-file.md, `faults`), in the network and the drives.
 *
 * A dead node is one whose NCU is dead, and with it all its channels. Its processor goes on, but neither receives nor
 * sends; when the node recovers, its memory is as it was.
 *
 * Parity errors are drawn, not scheduled: whether message k on channel c is damaged follows from a hash of (seed, c, k)
 * and from its length. So runs are repeatable, and each channel draws independently of the others.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/network/topo.h"

#define FAULT_NEVER    UINT64_MAX
#define FAULT_RATE_ONE 1000000u /* a parity rate is in errors per so many bytes */

enum fault_kind { FAULT_NODE, FAULT_LINK, FAULT_DRIVE, FAULT_PARITY };

struct fault {
    enum fault_kind kind;
    uint32_t node;                      /* address; PARITY: TOPO_NONE means every channel of the machine */
    uint32_t channel;                   /* LINK, PARITY of one link: the node's channel number */
    uint32_t drive;                     /* DRIVE: its number on the I/O node */
    uint32_t rate;                      /* PARITY: errors per FAULT_RATE_ONE bytes, 1 to FAULT_RATE_ONE */
    uint64_t seed;                      /* PARITY */
    uint64_t from_cycles, until_cycles; /* in force from .. until - 1; FAULT_NEVER: for ever */
};

/* Upper bound of the directed channels of one fault: both directions of each of a node's channels. */
#define FAULT_CHANNELS_MAX (2 * NCU_CHANNELS)

/* Lists the directed channels that a fault of kind NODE or LINK disables. Returns their number. */
uint32_t fault_channels(const struct topo *t, const struct fault *f, uint32_t channel[FAULT_CHANNELS_MAX]);

/* Returns true if the fault is in force at that time. */
bool fault_is_active(const struct fault *f, uint64_t now_cycles);

/* Return true if one of the n faults makes that drive of an I/O node, or that node, dead at that time. */
bool fault_drive_is_dead(const struct fault *fault, uint32_t n, uint32_t node, uint32_t drive, uint64_t now_cycles);
bool fault_node_is_dead(const struct fault *fault, uint32_t n, uint32_t node, uint64_t now_cycles);

/* Describes a fault of kind NODE, LINK or DRIVE that has begun: "node 3 has been dead since 0.200000 s", or "node 3 was
 * dead from 0.200000 s to 0.300000 s". */
void fault_describe(const struct fault *f, const struct topo *t, uint64_t now_cycles, char *text, size_t bytes);

/* Returns true if the fault is of kind PARITY and applies to this directed channel. Takes constant time. */
bool fault_is_noise_of(const struct fault *f, const struct topo *t, uint32_t channel);

/* Returns true if a fault of kind PARITY damages message number `count` (from 0) of a channel. `bytes` is the message's
 * length on the wire. The fault must be in force and apply to the channel. */
bool fault_damages(const struct fault *f, uint32_t channel, uint64_t count, uint64_t bytes);
