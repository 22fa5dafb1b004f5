/*
 * Stated costs: what the system's software takes for files, whatever the instructions take that a compiler has made of
 * it. One row for each request to a file server, by its kind, and a few more; the machine file can change each
 * (docs/timing.md).
 *
 *                     begin_cycles                     command_cycles             end_cycles
 *   a request         from its arrival, or the reply   before each of its drive   behind the last command, up to
 *                     before                           commands; change_cycles    its reply
 *                                                      before its first write
 *   ARRIVAL           -                                                         from the arrival of a request or
 *                                                                                 reply until its channel is armed
 *   CALL, TRANSFER    from the trap to the request's SEND                         from the reply's arrival to the
 *                     (TRANSFER: of N_FREAD and N_FWRITE)                         trap's end
 *   PIO_CALL          before the first block of a part of a PIO call              behind the last one
 *   PIO_READ, _WRITE  a block: from the acknowledgement before it to its SEND     behind the arrival of its own
 *
 * kb_cycles are added for each 1024 bytes of data that come or go. A row whose begin_cycles are 0 states nothing: its
 * work takes what its instructions take.
 *
 * Some work is done before the work that pays for it: messages are queued while another is worked on, and the ends of
 * sends are handled several at a time. So work may be late, by ARRIVAL's begin_cycles for each message that is queued
 * and by REAP's, without an excess: what follows makes up for it. A request does not compute all that it changes before
 * its first write, so that a later command may be late by its change_cycles besides.
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/proto.h"

#define STATED_OF(request) ((request)-N_FOPEN)
enum stated_row {
    STATED_REQUESTS = FILE_OPERATIONS,
    STATED_ARRIVAL = STATED_REQUESTS,
    STATED_REAP,
    STATED_CALL,
    STATED_TRANSFER,
    STATED_PIO_CALL,
    STATED_PIO_READ,
    STATED_PIO_WRITE,
    STATED_ROWS,
};

struct stated_cost {
    uint32_t begin_cycles, change_cycles, command_cycles, end_cycles;
    uint32_t kb_cycles;
};

struct stated_excess {    /* work that took more than its row states */
    uint32_t count;       /* how often, */
    uint32_t most_cycles; /* and by how much at most */
};
