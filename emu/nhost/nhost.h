/*
 * Host programs: a program on the host opens a subcube of a machine that is up (ncube boot), loads programs on its
 * nodes, and exchanges messages with them, by the calls of nCUBE's host library as public sources use them.
 *
 *     int cube = nopen(3);                                   // 8 nodes
 *     int all = nodeset(cube, "all");
 *     if (rexecl(all, "./solve", "solve", "1000", NULL).np_pid == -1)
 *         puts(nfailed());
 *     nwrite(cube, &n, sizeof n, 0xffff, 1);                 // to all nodes
 *     nread(cube, &sum, sizeof sum, &node, &type);           // from any
 *     nclose(cube);
 *
 * For the nodes the host is the node that whoami(3n) calls `host`. Link with -lnhost. One thread.
 *
 * After an error of any call errno says which, and nfailed() says it in words. EPIPE: the machine has gone down, or a
 * fault on a node has ended all programs of the cube, which then is of no use but for nclose.
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NHOST_ALL_NODES 0xffff /* as a destination */

/* What rexecl returns: the program's number in its cube, 1 and up, or -1. */
struct nprogram {
    int np_pid;
};
typedef struct nprogram npid_t;

/* Opens a subcube of 2^dim nodes of the machine that $NCUBE_NAME names (default: "ncube"). The output of its programs
 * goes to this process's standard streams. Returns the cube, 0 to 63, to be given back by nclose; or -1:
 *   EINVAL   the machine has no such dimension
 *   EBUSY    no such subcube is free
 *   ENXIO    no machine of that name is up
 *   EMFILE   64 cubes are open;  ENOMEM */
int nopen(int dim);
/* Ends what runs on the cube's nodes, and gives them back. 0, or -1: EBADF no such cube. */
int nclose(int cube);

/* Names nodes of a cube: "all", one as "5", or several as "0-3". Returns the set, 0 and up, which lives as long as the
 * cube; or -1: EBADF, EINVAL, ENOMEM. */
int nodeset(int cube, const char *nodes);

/* Load a program made by ncc on a set of nodes, none of which may run one, and wait until it begins on all. A relative
 * path starts at the current folder. np_pid -1:
 *   EBADF    no such set
 *   EINVAL   the program cannot be loaded: nfailed() says why
 *   ENOMEM   a node has no memory for it;  E2BIG 128 KB of arguments;  EPIPE */
struct nprogram rexecl(int set, const char *path, const char *arg0, ... /* , NULL */);
struct nprogram rexecv(int set, const char *path, char *const argv[]);
/* The same without arguments, on one node, or on all for -1. 0, or -1. */
int nload(int cube, const char *path, int node);

/* Sends n bytes to process 0 of a node, or of all nodes for NHOST_ALL_NODES. Type: 0 to 0xffff. A node on which no
 * program runs gets nothing. Returns 0, or -1: EBADF; EINVAL no such node or type; EMSGSIZE more than 64 MB; EPIPE. */
int nwrite(int cube, const void *buf, int n, int node, int type);
/* Waits for a message. *node and *type say from which node and of which type, -1: any; then they are those of the
 * message. Returns its bytes, or -1: EBADF; EMSGSIZE: it has more than n bytes, and stays; ESRCH: none can come, as no
 * program runs on the cube; EPIPE. A signal does not end the wait. */
int nread(int cube, void *buf, int n, int *node, int *type);
/* Returns the bytes of the message that nread would take now, or -1: EAGAIN: there is none; ESRCH: none
 * can come, either; EBADF, EPIPE. */
int ntest(int cube, int *node, int *type);

/* Waits until no program runs on the cube. Returns the highest exit status so far, 0 to 255, or -1: EBADF, EPIPE. */
int nwait(int cube);

/* Says in one line why the last call failed. */
const char *nfailed(void);

#ifdef __cplusplus
}
#endif
