/*
 * Numbers and types common to the calls of Vertex.
 */
#ifndef _SYSN_H
#define _SYSN_H

#define N_ANY      (-1)   /* nread, ntest: any source, any type */
#define N_DEST_ALL 0xffff /* nwrite: every node of the subcube, the sender included */
#define N_TYPE_MAX 0xffff /* the types of programs are 0 .. N_TYPE_MAX */

#define SIGMSGS 23 /* the signal of a message that arrives while no nread waits for it; as SIGIO of <signal.h> */

/* A process of the program: a node, and one of its processes. What nwrite takes as a destination, nread gives as a
 * source and npid returns. Process 0 is the node's number itself. */
#define N_PROCESS(node, procid) ((procid) << 16 | (node))
#define N_NODE_OF(process)      ((process)&0xffff)
#define N_PROCID_OF(process)    ((process) >> 16)

/* The address of a message [P1 section 2.4]. */
struct ncaddr {
    short pid;    /* node, 0 .. n-1 */
    short procid; /* of the processes on the node */
    short type;   /* of the message */
};

#endif
