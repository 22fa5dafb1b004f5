/*
 * Requests about a descriptor that are neither reads nor writes.
 */
#ifndef _SYS_IOCTL_H
#define _SYS_IOCTL_H

/* Maps a descriptor [P1 section 2.6]: from now on its bytes are those of this node's element of the file, by a pattern
 * of <pattern.h> with one element for each node of the program (arg: const struct pattern *, the same on all nodes).
 * Each node has an offset of its own, in its element, which is 0 now; no node waits for another. The pattern must live
 * until the descriptor is closed or unmapped. Descriptors that dup has made are mapped, too. EINVAL   the pattern has
 * not one element for each node, the process is not the node's first, or the file is open with O_APPEND ENOTSUP  the
 * driver cannot read and write at an offset ENOMEM, E2BIG, EOVERFLOW  as plan_make */
#define N_SETMAP 0x4e01
/* Stores the pattern of a mapped descriptor (arg: const struct pattern **). EINVAL: it is not mapped. */
#define N_GETMAP 0x4e02
/* Ends the mapping (no arg): the descriptor has the file's bytes, at the offset at which it was mapped. EINVAL: it is
 * not mapped. */
#define N_UNMAP 0x4e03

/* Requests of the ends of pipes [P1 section 2.4], for which N_SETMAP is the mapping of the end: node k of the program
 * writes or reads the bytes of element k; a pattern may have fewer elements, and the other nodes nothing. EBUSY: bytes
 * have been moved, or a mapping set, already. */

/* Stores how the bytes of this node go (arg: int *), an N_PLAN_. EAGAIN: nothing has been moved yet. */
#define N_GETPLAN 0x4e0a

#define N_PLAN_MATCHED 0 /* all to, or from, one node */
#define N_PLAN_COARSE  1 /* to several, in runs of at least N_PLAN_COARSE_BYTES */
#define N_PLAN_PACKED  2 /* shorter runs, which are packed together for each node */

#define N_PLAN_COARSE_BYTES 1024

/*
 * Of endpoints [P1 section 2.4]: nself of <nself.h>, and what ndomain of <stropts.h> returns. A descriptor that is none
 * gets ENOTTY. Ends of pipes know all of them; those that concern messages are EPROTO once the end carries bytes.
 */
/* Stores the number of PEs at the other end (arg: int *); waits while that is unknown. */
#define N_PES 0x4e04
/* Stores the endpoint's state (arg: int *); never waits. */
#define N_STATE 0x4e05
/* Stores what whoami tells, and the number of PEs (arg: struct ninfo *, <sysn.h>). */
#define N_INFO 0x4e06
/* As ntest (arg: struct ncaddr *, a template as of getmsg, which is replaced by the message's address). Returns the
 * length of the message that getmsg would receive. EAGAIN: there is none; EADDRNOTAVAIL, EINVAL, EIO. */
#define N_TEST 0x4e07
/* From now on write sends messages to that address, and read receives those of its pid and type (arg: const struct
 * ncaddr *; NULL ends it). EADDRNOTAVAIL: no such PE; EINVAL: a bad type. */
#define N_CONNECT 0x4e08
/* Gives the PEs of the own end addresses that are otherwise illegal: PE k is PE first + k (arg: int first, cast to void
 * *). EINVAL: first is the number of a PE at the other end, or too large for a pid. */
#define N_OWN 0x4e09

/* States of an endpoint. */
enum {
    N_UNBOUND, /* the number of PEs is not known yet */
    N_BOUND,   /* known, and nothing else has been done with it */
    N_MESSAGE, /* getmsg, putmsg or a write after N_CONNECT has been called: it is for messages. Others are EPROTO */
    N_MAPPED,  /* it carries bytes by a mapping */
    N_CLOSED   /* nobody is left at the other end */
};

/* Carries out a request. The others, and the type of their argument, are a matter of the descriptor's driver. Returns
 * >= 0, or -1 with errno: EBADF; ENOTTY: the driver knows no such request; or what the request or driver says. Files
 * know no request of their own. */
int ioctl(int fd, int request, ...);

#endif
