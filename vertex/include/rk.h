/*
 * The calls of the Reactive Kernel [P1 section 2.4; C. Seitz, J. Seizovic, W. Su: The C Programmer's Abbreviated Guide
 * to Multicomputer Programming, Caltech-CS-TR-88-1, 1988], over the buffers of <nself.h>: no byte is copied.
 *
 * A message is a buffer, which belongs to the process that has it: xmalloc and the receives give it, xsend, xmsend and
 * xfree take it. A process receives messages in the order of their arrival, of one sender in the order of its sends.
 * They have the type RK_TYPE of <nself.h>'s calls; those of other types, and nread of others, are not concerned.
 *
 * The calls cannot return an error. One that cannot do its work prints a line that says why, and aborts.
 */
#ifndef _RK_H
#define _RK_H

#define RK_TYPE 32767

/* Returns a buffer of `length` zero bytes, or NULL if there is no memory. */
char *xmalloc(int length);
void xfree(char *msg);

/* Returns the length of a buffer of xmalloc, or of a received message, in bytes. */
int xlength(char *msg);

/* Sends the whole buffer to the process `pid` on that node. */
void xsend(char *msg, int node, int pid);

/* Sends it to `count` processes: dest is {node, pid, node, pid ...}. Each but the last gets a copy. */
void xmsend(char *msg, int count, int *dest);

/* Returns the next message; xrecv returns NULL if none has arrived, xrecvb waits. */
char *xrecv(void);
char *xrecvb(void);

/* The caller's node and its process number there; the number of nodes. */
int mynode(void);
int mypid(void);
int nnodes(void);

#endif
