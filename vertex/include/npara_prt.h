/*
 * Global operations: every node of the subcube calls the same one, and all get the same result. If nodes run several
 * processes, the processes of equal procid work together. Old programs may call those with int results without this
 * header; the double ones need their prototypes.
 *
 * The operations exchange messages that no nread or ntest of the program sees. If a node calls a different operation,
 * or none, the others wait. If a message is lost for good, its receiver aborts with a line that names the call and both
 * nodes.
 */
#ifndef _NPARA_PRT_H
#define _NPARA_PRT_H

/* Sum, maximum and minimum of the nodes' values. The order in which doubles are added depends only on the number of
 * nodes; a sum of ints wraps to its low 32 bits. */
int isumn(int value);
int imaxn(int value);
int iminn(int value);
double dsumn(double value);
double dmaxn(double value);
double dminn(double value);

/* Copies n bytes from buf on node 0 to buf on every other node. All nodes pass the same n. */
void nbrdcst(void *buf, int n);

#endif
