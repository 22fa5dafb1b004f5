/*
 * Loading further programs on nodes of the caller's subcube, so that different nodes run different programs.
 *
 * A node can be loaded once the program that ran there has ended; nothing of that program remains. The exit status of
 * the job counts the later programs as well, and the job ends when the last node's program has. A fault or a fatal
 * signal in any program ends them all.
 *
 * A program is an executable file made by ncc, on a volume or at the front end. The calling node reads it once. Its
 * stack and heap sizes and its number of processes are those given to ncc.
 * Calls return >= 0 or a negative error of <n_errno.h>, except those of POSIX.
 */
#ifndef _REXEC_H
#define _REXEC_H

/*
 * Loads the program `path` on nodes first .. first + nodes - 1 of the subcube, with a NULL-terminated argument list
 * that includes argv[0]. Returns 0 when all of them have loaded it; the caller may then send messages to it. If the
 * caller's node is the only one (nodes = 1), the program replaces the caller, and the call returns only on an error;
 * the caller's files are closed, and the new program receives the messages that the caller has not read.
 * Errors: ENOENT; EACCES: not a regular file, or without execute permission; ENOEXEC: not a program for a node; E2BIG:
 * the arguments take more than half of the stack, or more than 64 KB; EINVAL: no such nodes in the subcube, or no
 * argv[0]; EBUSY: the program of some node has not ended, or, when the program would replace the caller, its node runs
 * other processes; ENOMEM: on this node or on one of those; EFAULT; any error of reading the file. After an error no
 * node runs the program, except that after a failure on one of several nodes the others may have started it.
 */
int rexecv(int first, int nodes, const char *path, char *const argv[]);
int rexecl(int first, int nodes, const char *path, const char *arg0, ...);

/*
 * Waits until the program on that node has ended, and returns its exit status, 0 to 255; if it had several processes,
 * the highest status. Returns at once if it has already ended. Any process may wait for any other node, and several
 * processes for the same one. Errors: EINVAL: the caller's own node, or no such node.
 */
int rwait(int node);

/* Replace the caller, as in POSIX; on an error return -1 with errno. The environment is not passed on. */
int execv(const char *path, char *const argv[]);
int execve(const char *path, char *const argv[], char *const envp[]);
int execl(const char *path, const char *arg0, ...);

#endif
