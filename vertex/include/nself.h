/*
 * Messages between the nodes of a program.
 *
 * Nodes are logical: 0 .. 2^dim - 1. A message has a type, 0 .. N_TYPE_MAX, and any length from 0 that memory allows.
 * Messages of one source and type come in the order in which they were sent; none is dropped. One that a broken network
 * does not bring is told to both ends: to its sender by the next nwrite to that node, to its receiver by the nread that
 * would have taken it.
 * Where a node has several processes (ncc -Nprocs), each has its own space and inbox; a destination or source names one
 * by N_PROCESS(node, procid), which for process 0 is the node's number.
 * Every call returns >= 0, or a negative error of <n_errno.h>. errno is not touched.
 */
#ifndef _NSELF_H
#define _NSELF_H

#include <sysn.h>

/* Own node, process on the node, the front end (usable as a destination), and the subcube's dimension.
 * Any of them may be NULL. */
void whoami(int *node, int *proc, int *host, int *dim);

/* How many nodes the subcube has: 2^dim. */
int ncubesize(void);

/* Names this process within the program: N_PROCESS(node, procid). */
int npid(void);

/*
 * Sends n bytes to the node dest, or to all with N_DEST_ALL. The buffer may be used again at once.
 * flag is there for the programs of the time, and is not looked at.
 * Returns 0. Errors: EINVAL dest, type or n; EFAULT; ENOMEM. EHOSTUNREACH (no way), EIO (damaged too often): earlier
 * messages to this node did not arrive; this one was not sent, and the next will be. N_DEST_ALL is told of any node.
 */
int nwrite(const void *buf, int n, int dest, int type, int *flag);

/*
 * Waits for a message from *src of type *type, where N_ANY stands for any that nrange lets through, and takes it;
 * *src and *type are then the message's own. NULL is as N_ANY.
 * Returns its length. Errors: EMSGSIZE when it has more than n bytes, and it then stays; EIO when the message from
 * *src of *type, both set, is lost, and so are perhaps more of that type after it; EINVAL; EFAULT.
 */
int nread(void *buf, int n, int *src, int *type, int *flag);

/* As nread, but neither waits nor takes. Returns the length. Errors: EAGAIN when there is none; EIO; EINVAL; EFAULT. */
int ntest(int *src, int *type);

/* Sets the types that N_ANY sees, low .. high; at start 0 .. N_TYPE_MAX. Returns 0. Errors: EINVAL. */
int nrange(int low, int high);

/*
 * Messages without a copy. A buffer belongs to the program from ngetp or nreadp until nwritep or nrelp; then its memory
 * is not the program's any more, and a touch is a fault.
 */

/* A buffer of n bytes, all zero. NULL when there is no memory, or n is negative. */
char *ngetp(int n);

/* As nwrite, of the first n bytes of a buffer, which is given away. On an error it is still the program's.
 * Errors: EFAULT buf is no such buffer; EINVAL; EHOSTUNREACH; EIO. */
int nwritep(char *buf, int n, int dest, int type, int *flag);

/* As nread, but *buf is where the message is, in a buffer that is the program's from then on. n is the most that is
 * wanted. */
int nreadp(char **buf, int n, int *src, int *type, int *flag);

/* Gives a buffer back. Returns 0. Errors: EFAULT. */
int nrelp(char *buf);

/*
 * A barrier: returns when every node of the subcube has called it with this type. Its messages are none of the
 * program's: no nread or ntest sees them, whatever the type.
 * Where nodes have several processes, it is among those of the same procid.
 * Returns 0. Errors: as nwrite and nread.
 */
int nsync(int type);

/* Global and local mode of input and output. What the mode does comes with nDEVICES; until then it is only remembered.
 * Both return the mode before: 1 global, 0 local, as at the start. */
int nglobal(void);
int nlocal(void);

#endif
