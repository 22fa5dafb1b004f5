/*
 * The node of a process whose file calls are tested on the host: its memory, whose gaps may not be touched, and which
 * runs out when a test says so; the network, a list; and a server that answers correctly or in one of several wrong
 * ways.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/proto.h"
#include "vertex/process/proc.h"

#define REQUESTS_MAX 80
#define IO_NODE      0x4030u
#define BYTES        3000u
#define NEVER        1000
#define SLOW_PROBES  5u

enum answer {
    GOOD,
    FAILED,        /* with an error */
    CUT,           /* shorter than a reply's header */
    EMPTY,         /* promises data and has none */
    TOO_LONG,      /* more than was asked for */
    SILENT,        /* none, and none to probes: the limit passes */
    HUNG,          /* none, and the same count to each probe */
    SLOW,          /* a good one when SLOW_PROBES probes have been answered, with different counts */
    DYING,         /* none, and to probes only as many answers */
    UNDELIVERABLE, /* the network fails the request */
    KILLED,        /* the process is to die, no answer */
    KILLED_AFTER,  /* the process is to die, and the answer has arrived */
    ANSWERS
};

extern struct proc p; /* the process */
extern enum answer answer;
extern int allocations_left, copies_left; /* until one fails, once; NEVER */
extern int live;                          /* allocations of a process */

extern struct request {
    struct file_request head;
    uint32_t node, type;
    struct message *sending; /* NULL: its send has ended */
    bool answered;
} requests[REQUESTS_MAX];
extern int request_count;

extern uint64_t now_cycles;
extern uint32_t probes; /* that have reached the server */
extern void *kept;      /* the record of an end that is owed; NULL: there is none */
