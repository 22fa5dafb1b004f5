/* Included by each file, definitions and all: the linker was to make one of them. */
#define WORK 10
#define ANSWER 11
#define STOP (-1)
int me, nodes, dim, host, process;
int given, answers;
char where[32];
