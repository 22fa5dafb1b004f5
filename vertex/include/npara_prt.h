/*
 * Global operations: every node of the subcube calls the same one, and gets the same result. Where nodes have several
 * processes, those of one procid work together. Programs may call them without this header: it says what a call
 * without a prototype says, but for the types of the results.
 *
 * They send messages, which no nread or ntest of the program sees. A node that calls another operation, or none, makes
 * the others wait. If a message is lost for good, the node that wants it aborts, with a line that names the call and
 * both nodes.
 */
#ifndef _NPARA_PRT_H
#define _NPARA_PRT_H

/* The sum, the greatest and the least of the nodes' values. Sums of doubles are added in an order that depends on the
 * number of nodes only; sums of ints keep their low 32 bits. */
int isumn(int value);
int imaxn(int value);
int iminn(int value);
double dsumn(double value);
double dmaxn(double value);
double dminn(double value);

/* Copies the n bytes at buf on node 0 to buf on all others. n is the same everywhere. */
void nbrdcst(void *buf, int n);

#endif
