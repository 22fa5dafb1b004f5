/*
 * What a rack is; and its reports: harts that have stopped are reported when rank 0 can do something about them.
 */
#pragma once

#include "emu/machine/assemble.h"
#include "emu/rack/rack_wire.h"

struct rack {
    struct machine machine;
    struct machine_options options;
    const char *lib;
    bool up;                           /* the machine's cabinets run */
    bool failed;                       /* rank 0 knows */
    uint8_t (*known)[NODE_PAGE_BYTES]; /* by slot: its mailbox, as rank 0 knows it */
    uint8_t *runs;                     /* by slot: granted, and not found stopped since */
    uint64_t *told;                    /* by slot: how far rank 0 knows a running hart to be, a sum that grows */
    uint32_t first_slot, end_slot;
    uint32_t *stopped; /* harts that are to be reported */
    uint32_t n_stopped;
    uint64_t first_stop;  /* the time of the first of them; UINT64_MAX: there is none */
    bool urgent;          /* rank 0 has called one of them */
    uint64_t told_lowest; /* clock of a hart that runs, as rank 0 knows; UINT64_MAX: none runs */
    uint64_t wanted;      /* the time that rank 0 waits for; UINT64_MAX: it knows that it has passed */
    uint64_t rank0_wants; /* that time, in any case */
    bool looks;           /* at the harts, whether or not one has rung */
    uint64_t reported_ms;
    uint64_t looked_ms; /* when it last looked whether rank 0 asks if it is there */
    uint32_t bell;      /* the doorbell's count at the last look */
    int wake_fd;        /* an eventfd: control.wake_fd */
    struct wire in, out;
};

struct slot *rack_slot(const struct rack *r, uint32_t slot);
/* The memory of the node with that slot, from that address on. */
uint8_t *rack_memory(const struct rack *r, uint32_t slot, uint64_t addr);

/* Looks at the harts if one has rung, and reports. Returns whether it is to be called again at once. */
bool rack_report(struct rack *r);
/* Says that a QEMU has ended, once. */
void rack_report_end(struct rack *r);
