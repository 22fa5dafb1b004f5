/*
 * A second model of the network, as simple as possible: cycle by cycle, flit by flit. emu/network/net.c is compared
 * with it.
 *
 * A flit is one bit, a channel a pipe of 45 of them, and a message a train of 9 * (8 + payload) flits that moves one
 * place per cycle or stands; another machine has other numbers (reference_times). Places along its way:
 *
 *     0            45           90          45 h      45 h + 72          45 h + 9 N
 *     |  channel 1 |  channel 2 | ... h     | header  | payload          |
 *     +------------+------------+-----------+---------+------------------+
 *
 * `head` is the place that the first flit has reached; the flit i behind it is at head - i. The train stands while the
 * head is at the entrance of a channel that it does not own, and at 45 h + 72 while no receive has taken it.
 *
 * Shares no code with emu/: it has its own routes and its own numbers of channels.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REFERENCE_DIM_MAX      8
#define REFERENCE_MESSAGES_MAX 512

struct reference_message {
    uint32_t from, to;
    uint64_t payload_bytes;
    uint64_t start_cycles;
    uint64_t accept_after_cycles; /* its header is readable so long before a receive takes it */
    uint64_t done_cycles;         /* result: last flit at its place */
};

struct reference_times {
    uint32_t channel_flits, byte_flits, header_bytes;
};

/* The event that frees a channel. */
enum reference_release {
    RELEASE_WHEN_ACCEPTED, /* the last flit has passed, and the destination has taken the header: the machine's rule */
    RELEASE_WHEN_PASSED,   /* the last flit has passed: a train shorter than its way frees channels on the way */
};

/* Fills in done_cycles of n messages in a cube of dimension dim. Of messages from one node in one cycle, the first in
 * the list asks first. Returns false if they have not all arrived after limit_cycles. */
bool reference_run(const struct reference_times *times, uint32_t dim, struct reference_message *message, uint32_t n,
                   enum reference_release release, uint64_t limit_cycles);
