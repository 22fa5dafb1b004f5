/*
 * The NCU's time stamps, for programs that measure the network; marks for the trace of a run.
 */
#ifndef _NMON_H
#define _NMON_H

#include <stdint.h>

#define NMON_CYCLES_PER_US 20 /* the NCU's clock is 20 MHz */

/* Times of the last message that this process sent and of the last that it received, by message or file calls; counts
 * of messages. The kernel fills it (vertex/contract/abi.h). */
struct nmonitor {
    uint64_t sent_start_cycles; /* handed to the NCU */
    uint64_t sent_done_cycles;  /* last byte delivered; 0 while it is under way */
    uint64_t recv_start_cycles; /* handed to the sender's NCU */
    uint64_t recv_done_cycles;  /* last byte delivered here */
    uint64_t sent_bytes;        /* on the wire, the 8-byte header included */
    uint64_t recv_bytes;
    uint64_t landed;  /* messages that the NCU wrote straight into this process's memory while it waited in nread */
    uint64_t copied;  /* messages that the kernel copied to it */
    uint64_t mapped;  /* messages whose pages nreadp mapped */
    uint64_t resent;  /* messages that this node has sent again after damage, since boot */
    uint64_t damaged; /* messages that reached this node damaged, since boot */
    uint64_t missed;  /* messages to this process that were given up; nread and ntest report them with EIO */
};

/* Fills *monitor. Returns 0, or a negative error of <n_errno.h>: EFAULT. */
int nmonitor(struct nmonitor *monitor);

#define NMARK_BYTES 48 /* longest name of a phase */

/* Begins a phase of this node: until its next nmark, a trace of the run (ncube run --trace) shows its name. NULL or ""
 * ends the last one. Without a trace the call takes the same time. Returns 0, or a negative error of <n_errno.h>:
 * EINVAL, the name is longer than NMARK_BYTES; EFAULT. */
int nmark(const char *name);

#endif
