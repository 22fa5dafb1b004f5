/*
 * What rank 0 knows of the racks; sending to them, and waiting for their answers.
 */
#pragma once

#include "emu/rack/rack_wire.h"
#include "emu/state/machine_data.h"
#include "vertex/contract/machine.h"

struct rack {
    uint32_t first_cabinet, end_cabinet;
    struct wire out;
    uint64_t wanted;  /* as the rack knows it */
    uint64_t work_ns; /* processor time of its QEMUs at the last silence */
    uint32_t silences;
    uint8_t constants[WIRE_CONSTANTS_BYTES]; /* likewise */
};

struct racks {
    struct machine *m;
    uint32_t n;
    struct rack *rack;
    uint8_t (*known)[NODE_PAGE_BYTES]; /* by slot: its mailbox, as its rack knows it */
    struct wire in, answer;
    uint64_t busy_ms; /* when the last commands went to a rack, or a report came, or all racks answered */
    bool failed;
    char why[512];
};

/* A rack that has not reported for so long is asked whether it is there, and lost if it does not answer for so long. A
 * rack answers while its harts compute. */
#define QUIET_MS   4000u
#define SILENCE_MS 4500u

/* Sends all racks what has been collected for them. */
void racks_send_all(struct racks *r);

/* Notes that a rack is lost, and how: words behind its name. */
void racks_lose(struct racks *r, uint32_t rack, const char *how);
/* Likewise: it does not answer, or its process has ended. */
void racks_lose_silent(struct racks *r, uint32_t rack);
/* Whether one has been lost, of any machine: it will not end by itself. */
bool racks_any_lost(void);

/* Sends everything, and waits for the answer of the rack to the last command (r->answer). False: it does not come. The
 * rack that keeps it from coming is lost then. */
bool racks_ask(struct racks *r, uint32_t rack);
/* The same, for an answer that is a number; 0: there is none. */
uint64_t racks_ask_number(struct racks *r, uint32_t rack);

/* Asks a rack whether it is there: a rack answers at once, whatever it waits for. Returns the processor time of its
 * QEMUs, or 0 if it is lost. */
uint64_t racks_look_at(struct racks *r, uint32_t rack);
