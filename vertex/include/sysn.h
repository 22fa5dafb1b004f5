/*
 * Numbers and types common to the calls of Vertex.
 */
#ifndef _SYSN_H
#define _SYSN_H

#define N_ANY      (-1)   /* nread, ntest: any source, any type */
#define N_DEST_ALL 0xffff /* nwrite: every node of the subcube, the sender included */
#define N_TYPE_MAX 0xffff /* the types of programs are 0 .. N_TYPE_MAX */

#define SIGMSGS 23 /* raised when a message arrives that no nread waits for; equals SIGIO of <signal.h> */

/* Names a process of the program by node and procid: a destination of nwrite, a source from nread, the result of npid.
 * For process 0 it is the node's number itself. */
#define N_PROCESS(node, procid) ((procid) << 16 | (node))
#define N_NODE_OF(process)      ((process)&0xffff)
#define N_PROCID_OF(process)    ((process) >> 16)

/* The address of a message [P1 section 2.4]. <stropts.h> says where a field may be -1. */
struct ncaddr {
    short pid;    /* PE, 0 .. n-1 */
    short procid; /* of the processes on the PE */
    short type;   /* of the message */
};

/* What N_INFO of <sys/ioctl.h> tells of an endpoint. */
struct ninfo {
    int pid, procid; /* of the caller, at its own end */
    int pes;         /* at the other end */
    int dim;         /* of the smallest cube with so many nodes */
    int host;        /* the front end's address, for nwrite */
};

#endif
