/*
 * Asynchronous file transfers: a start begins one, the program goes on, and an end waits for it.
 *
 * preadstart and pwritestart name the place in the file and leave its offset alone, also with O_APPEND.
 *
 * A descriptor may have several reads and several writes under way; an end waits for the most recent start of its kind
 * [P0 section 3].
 * Every call returns >= 0, or a negative error of <n_errno.h>. errno is not touched.
 */
#ifndef _NIO_H
#define _NIO_H

#include <stddef.h>
#include <sys/types.h>

/* Starts reading n bytes at the file offset, and advances the offset by n. Returns 0. Errors: EBADF, EINVAL, ENOMEM. */
int readstart(int fd, int n);

/* The same at `offset`. Also ESPIPE: the file has no positions, as a terminal. EINVAL: an offset below 0, too. */
int preadstart(int fd, int n, off_t offset);

/* Waits for the most recent readstart or preadstart and stores its data in buf. Returns the number of bytes, 0 at the
 * end of the file. Errors: EBADF; EINVAL when no readstart is under way; EFAULT; any error of the server. */
int readend(int fd, void *buf);

/* Starts writing n bytes from buf at the file offset, and advances the offset by n. The caller may reuse buf at once.
 * Returns 0. Errors: EBADF, EINVAL, EFAULT; ENOMEM: this node or the server's has no memory for n bytes. */
int writestart(int fd, const void *buf, int n);

/* The same at `offset`. Also ESPIPE; EINVAL: an offset below 0, too. */
int pwritestart(int fd, const void *buf, int n, off_t offset);

/* Waits for the most recent writestart or pwritestart. Returns the number of bytes written.
 * Errors: EBADF; EINVAL when no writestart is under way; any error of the server. */
int writeend(int fd);

/* Makes reads and writes of fd at an offset, readstart and writestart see one element of the file only, n bytes that
 * pattern_pack of <pattern.h> has written: offsets are the element's. n = 0: the file again. Returns 0. Errors: EBADF;
 * EINVAL: not an element, or it has no bytes; E2BIG, EOVERFLOW, ENOMEM; ENOTSUP: the front end serves fd. */
int setview(int fd, const void *packed, size_t n);

/* Returns the address of the I/O node that serves fd (N_k [P0 section 3]), or of the front end. Errors: EBADF. */
int ionode(int fd);

/* Routes this process's further requests to the I/O node that serves fd, through any descriptor, over that node's
 * channel 0-7; -1 selects the nearest channel again, which is the default. First waits until everything that the
 * process has sent has arrived. Replies always take the channel nearest to this node. Over a channel that is not
 * connected, requests fail with EHOSTUNREACH.
 * Returns 0. Errors: EBADF; EINVAL: the front end serves fd, or there is no such channel; ENFILE: the process has
 * already chosen channels of 16 I/O nodes. */
int iochannel(int fd, int channel);

/*
 * Returns one line, without a newline, about the last failure of a call of this header, of POSIX, of <nself.h> or of
 * libpio: the call, the file, its server and the reason. For instance:
 *
 *     open //df07/out: there is no volume df07 in this machine
 *     write //df00/out: volume df00 on I/O node 3 of board 1: no space left on volume
 *     open data.txt: front end: permission denied
 *     pio_open //df00/in: volume df00: no such file, directory or volume
 *     nwrite: invalid argument
 *
 * Returns "" if no call has failed. The text is valid until the next call of nfailed. A call that succeeds does not
 * clear the failure, so call nfailed at once. errno is not touched.
 */
const char *nfailed(void);

#endif
