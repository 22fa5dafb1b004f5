/*
 * Programs that a program loads on nodes of its own subcube, so that different nodes do different things.
 *
 * A node can be loaded when the program that ran there has ended; then nothing is left of that program. What ends later
 * counts for the exit status of the whole as every node's end does, and the whole ends when the last node has. A fault
 * or a signal that ends any program ends all.
 *
 * A program is a file that ncc has made, on a volume or at the front end, with the right to execute it. It is read by
 * the node that calls, once. Sizes of stack and heap and the number of processes are as ncc was told.
 * Every call but those of POSIX returns >= 0, or a negative error of <n_errno.h>.
 */
#ifndef _REXEC_H
#define _REXEC_H

/*
 * Loads the program `path` with these arguments (argv[0], too, is the caller's to choose; NULL at the end) on the nodes
 * first .. first + nodes - 1 of the subcube. Returns 0 when it has been loaded on all of them; messages may be sent to
 * it. Of the caller's own node alone (nodes = 1): the program takes the place of the caller, and the call returns only
 * on errors. Files are closed then; messages that the caller has not read are the new program's to read.
 * Errors: ENOENT; EACCES no regular file, or no right to execute it; ENOEXEC no program of a node; E2BIG the arguments
 * take more than half of the stack, or 64 KB; EINVAL no such nodes in the subcube, or no argv[0]; EBUSY the program of
 * some node has not ended (or, in the caller's place: its node has other processes); ENOMEM here, or on a node; EFAULT;
 * what reading the file may fail with. After an error no node runs the program, unless others of several had started
 * it.
 */
int rexecv(int first, int nodes, const char *path, char *const argv[]);
int rexecl(int first, int nodes, const char *path, const char *arg0, ...);

/*
 * Waits until the program on that node has ended, and returns its exit status, 0 to 255: of several processes the
 * highest. If it has ended already, returns at once. Any process may wait for any other node, and several for one.
 * Errors: EINVAL the own node, or no such node.
 */
int rwait(int node);

/* In the caller's place, as POSIX has them: -1 and errno. The environment is not passed on. */
int execv(const char *path, char *const argv[]);
int execve(const char *path, char *const argv[], char *const envp[]);
int execl(const char *path, const char *arg0, ...);

#endif
