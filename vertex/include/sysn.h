/*
 * Numbers common to the calls of Vertex.
 */
#ifndef _SYSN_H
#define _SYSN_H

#define N_ANY (-1)         /* nread, ntest: any source, any type */
#define N_DEST_ALL 0xffff  /* nwrite: every node of the subcube, the sender included */
#define N_TYPE_MAX 0x7fff  /* the types of programs are 0 .. N_TYPE_MAX */

#endif
