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

#include <sys/types.h>

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

/* A descriptor of a program that rexecvf loads. */
struct rexec_fd {
    int fd;           /* its number in the program */
    int end;          /* an end of a pipe of this process (pipe of <unistd.h>), which becomes the program's; -1: none */
    const char *path; /* without an end: the file, opened as by open(path, flags, mode) */
    int flags;
    mode_t mode;
};

/*
 * As rexecv, but the program is one of its own [P1 2.4]: its nodes are numbered from 0 and know no others, and n of its
 * descriptors are what `fds` says; others among 0, 1 and 2 are the job's standard streams. `first` is a multiple of the
 * size of the smallest subcube with so many nodes, and none of them is the caller's.
 *
 * An end of a pipe that was not used before becomes the program's, and is closed here. When two programs have the two
 * ends, they have a parallel pipe (<sys/ioctl.h>). Either may be loaded first; it then waits at its first transfer, or
 * at its end, until the other end is given away, used or closed here: who uses it is a program of one node. A file is
 * created and truncated here, before the load; then each node of the program opens it. The exit status does not count
 * for the job: rwait returns it.
 * Errors: as rexecv; EINVAL: also two descriptors with one number, both ends of a pipe, or neither end nor path; EBADF,
 * ENOSTR: `end` is not an end of a pipe; EBUSY: also an end that was used; E2BIG: paths of more than 64
 * KB; any error of opening a file. After an error the ends are still the caller's.
 */
int rexecvf(int first, int nodes, const char *path, char *const argv[], const struct rexec_fd *fds, int n);

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
