/*
 * The NCU's time stamps, for programs that measure the network.
 */
#ifndef _NMON_H
#define _NMON_H

#include <stdint.h>

#define NMON_CYCLES_PER_US 20 /* the NCU's clock is 20 MHz */

/* The last message that this process sent, and the last that it took; its own and those of file calls. */
struct nmonitor {
    uint64_t sent_start_cycles; /* handed to the NCU */
    uint64_t sent_done_cycles;  /* last byte delivered; 0 while it is under way */
    uint64_t recv_start_cycles; /* handed to the sender's NCU */
    uint64_t recv_done_cycles;  /* last byte delivered here */
    uint64_t sent_bytes;        /* on the wire, the 8-byte header included */
    uint64_t recv_bytes;
    uint64_t landed;  /* messages that came straight into the program's memory, while it waited in nread; */
    uint64_t copied;  /* those that were copied to it */
    uint64_t mapped;  /* and those whose pages nreadp gave it */
    uint64_t resent;  /* by this node since boot: messages sent again after damage */
    uint64_t damaged; /* messages that came here damaged */
    uint64_t missed;  /* messages to this process that were given up; nread and ntest tell of them, too */
};

/* Returns 0, or a negative error of <n_errno.h>: EFAULT. */
int nmonitor(struct nmonitor *monitor);

#endif
