/*
 * Messages between the nodes of a program.
 *
 * Nodes are logical: 0 .. 2^dim - 1. A message has a type, 0 .. N_TYPE_MAX, and any length from 0 that memory allows.
 * Messages of one source and type arrive in the order in which they were sent, and none is dropped. If a broken network
 * loses one, both ends learn of it: the sender from its next nwrite to that node, the receiver from the nread that
 * would have received it.
 * If a node runs several processes (ncc -Nprocs), each has its own memory and inbox. N_PROCESS(node, procid) names one
 * as a destination or source; for process 0 it is the node's number.
 * Every call returns >= 0, or a negative error of <n_errno.h>, which errno and nfailed of <nio.h> then know, too; but
 * an ntest that finds nothing has not failed.
 */
#ifndef _NSELF_H
#define _NSELF_H

#include <sysn.h>

/* The descriptor of the own program's messages [P1 section 2.4], which is open before main: getmsg and putmsg of
 * <stropts.h> take it. The routines of this header, <npara_prt.h>, and <group.h> refer to it, so that `nself =
 * ndomain(...)` makes them work within that domain. In a domain types are 0 .. 32767, and nrange has no effect. */
extern int nself;

/* Stores the caller's node, its procid on that node, the front end (usable as a destination) and the subcube's
 * dimension. Any pointer may be NULL. */
void whoami(int *node, int *proc, int *host, int *dim);

/* Returns the number of nodes: 2^dim, or fewer if `ncube run -n` asked for a number that is not a power of two. */
int ncubesize(void);

/* Returns the caller's own number within the program: N_PROCESS(node, procid). */
int npid(void);

/*
 * Sends n bytes to the process dest, or to process 0 of every node with N_DEST_ALL. The caller may reuse buf at once.
 * flag is ignored; it keeps the original's argument list.
 * Returns 0. Errors: EINVAL: bad dest, type or n; EFAULT; ENOMEM. EHOSTUNREACH (no path) and EIO (damaged too often)
 * mean that earlier messages to dest did not arrive: this message was not sent, and the next call sends again. A call
 * with N_DEST_ALL reports such a loss to any node.
 */
int nwrite(const void *buf, int n, int dest, int type, int *flag);

/*
 * Waits for a message from *src of type *type, receives it into buf, and stores its source and type in *src and *type.
 * N_ANY, or a NULL pointer, matches any source, or any type within nrange. flag is ignored.
 * Returns the message's length in bytes. Errors: EMSGSIZE: it has more than n bytes, and stays in the inbox; EIO: the
 * message from *src of *type, both stored, is lost, perhaps with later ones of that type; EINVAL; EFAULT.
 */
int nread(void *buf, int n, int *src, int *type, int *flag);

/* As nread, but neither waits nor receives. Returns the length of the message that nread would receive. Errors:
 * EAGAIN when there is none; EIO; EINVAL; EFAULT. */
int ntest(int *src, int *type);

/* Sets the types that N_ANY sees, low .. high; at start 0 .. N_TYPE_MAX. Returns 0. Errors: EINVAL. */
int nrange(int low, int high);

/*
 * Messages without a copy. A buffer belongs to the program from ngetp or nreadp until nwritep or nrelp. After that its
 * memory is unmapped, and an access faults.
 */

/* Returns a buffer of n zero bytes, or NULL if there is no memory or n is negative. */
char *ngetp(int n);

/* As nwrite, with the first n bytes of a buffer, which the call takes from the program. After an error the program
 * still has it. Errors: EFAULT: buf is not a buffer of ngetp or nreadp; EINVAL; EHOSTUNREACH; EIO. */
int nwritep(char *buf, int n, int dest, int type, int *flag);

/* As nread, but stores in *buf the address of a buffer with the message, which then belongs to the program. n is the
 * greatest length accepted. */
int nreadp(char **buf, int n, int *src, int *type, int *flag);

/* Frees a buffer. Returns 0. Errors: EFAULT: buf is not a buffer of ngetp or nreadp. */
int nrelp(char *buf);

/*
 * A barrier: returns when every node of the subcube has called it with this type. No nread or ntest sees its messages,
 * whatever the type. If nodes run several processes, those of the same procid synchronize.
 * Returns 0. Errors: as nwrite and nread.
 */
int nsync(int type);

struct pattern; /* <pattern.h> */

/*
 * Passes an array of `bytes` bytes from one distribution over the nodes to another: before, node k has element k of
 * map_out at `out`; after, element k of map_in at `in`, which may not overlap. All nodes call it, with the same
 * patterns, which have one element for each node, and the same length. Each byte goes straight to its place's node.
 * Returns 0. Errors, at all nodes: EINVAL: other numbers of elements, or arguments that differ; ENOMEM: a node has no
 * memory for a second copy of its parts; E2BIG: a node has more than 2 GB; EOVERFLOW.
 */
int nredist(const void *out, const struct pattern *map_out, void *in, const struct pattern *map_in, long bytes);

/*
 * Select global or local mode of input and output [P1 section 2.5]. In global mode the standard input and output, calls
 * with a path, and descriptors that are opened meanwhile belong to the whole program: all nodes make each call, node 0
 * carries it out once, and result, errno and data reach all. A descriptor stays global until it is closed. A write
 * takes node 0's bytes; a read reads the least count of all nodes. EINVAL: the nodes do not mean the same file.
 * Both return the previous mode: 1 global, 0 local (the mode at the start).
 */
int nglobal(void);
int nlocal(void);

#endif
