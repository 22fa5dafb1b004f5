/*
 * File transfers that go on while the program does.
 *
 * A descriptor may have several of each kind under way; an end takes the most recent start of its kind [P0 section 3].
 * Every call returns >= 0, or a negative error of <n_errno.h>. errno is not touched.
 */
#ifndef _NIO_H
#define _NIO_H

/* Asks for n bytes at the file offset, and moves the offset by n. Returns 0. Errors: EBADF, EINVAL, ENOMEM. */
int readstart(int fd, int n);

/* Waits for the most recent readstart and stores its data. Returns the bytes, 0 at the end of the file.
 * Errors: EBADF; EINVAL when none is under way; EFAULT; what the server reports. */
int readend(int fd, void *buf);

/* Sends n bytes to be written at the file offset, and moves the offset by n; buf may be used again at once.
 * Returns 0. Errors: EBADF, EINVAL, EFAULT. */
int writestart(int fd, const void *buf, int n);

/* Waits for the most recent writestart. Returns the bytes written. Errors: EBADF; EINVAL when none is under way;
 * what the server reports. */
int writeend(int fd);

/* The address of the I/O node that serves fd (N_k [P0 section 3]), or of the front end. Errors: EBADF. */
int ionode(int fd);

/* From now on this process's requests to the I/O node that serves fd, by whatever descriptor, go by that one of its
 * channels, 0-7; -1: by the nearest again, which is how they go at the start. Waits until all that the process has sent
 * has arrived. Replies come by the channel that is nearest to this node in any case. A channel that is not connected
 * makes the requests fail with EHOSTUNREACH.
 * Returns 0. Errors: EBADF; EINVAL fd is the front end's, or no such channel; ENFILE chosen for 16 I/O nodes
 * already. */
int iochannel(int fd, int channel);

/*
 * What failed last: the call of this header or of POSIX, the file, its server, and why, as one line without a new line:
 *
 *     open //df07/out: there is no volume df07 in this machine
 *     write //df00/out: volume df00 on I/O node 3 of board 1: no space left on volume
 *     open data.txt: front end: permission denied
 *
 * "" when nothing has failed. Stays until the next call of nfailed. Calls that succeed change nothing, so ask at once.
 * errno is not touched. Files of libpio are named by pio_failed_path.
 */
const char *nfailed(void);

#endif
