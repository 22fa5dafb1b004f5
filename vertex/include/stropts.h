/*
 * Messages through descriptors, as in System V Release 4 [P1 sections 2.2 and 2.4]. An endpoint is a descriptor for
 * messages to and from the PEs 0 .. n-1 at its other end: `nself` of <nself.h> is that of the own program, ndomain
 * makes others. The control part of a message is its address, a struct ncaddr of <sysn.h>.
 */
#ifndef _STROPTS_H
#define _STROPTS_H

#include <sysn.h>

struct strbuf {
    int maxlen; /* getmsg: the room at buf, in bytes; -1: none */
    int len;    /* bytes at buf: putmsg takes them, getmsg sets it; -1: none */
    char *buf;
};

#define MOREDATA 2 /* getmsg: the message has more bytes */

/*
 * Sends data->len bytes to the address at ctl->buf: pid is a PE at the other end, or -1: all of them; type is 0 ..
 * 32767. Without ctl the message goes where N_CONNECT has said. Without data it is empty. The buffer may be reused at
 * once. flags must be 0. Returns 0, or -1 with errno. EBADF; ENOSTR: no endpoint; EADDRNOTAVAIL: no such PE or procid;
 * EDESTADDRREQ: no address; EINVAL: a bad type, length or flags; and as nwrite: ENOMEM, EFAULT, EHOSTUNREACH, EIO.
 */
int putmsg(int fd, const struct strbuf *ctl, const struct strbuf *data, int flags);

/*
 * Waits for the oldest message that matches the address at ctl->buf, in which pid and type may be -1: any. Receives it
 * to data->buf, sets both lens, and replaces the address by the actual one. Without ctl, or with a ctl->maxlen of 0 or
 * -1, any message matches. procid counts only with a pid; -1 is process 0. *flags must be 0, and is set to 0.
 * If the message has more than data->maxlen bytes, the first of them are received and the rest is that address's next
 * message; without data, all of it is.
 * Returns 0, or MOREDATA, or -1 with errno: EBADF, ENOSTR, EADDRNOTAVAIL, EINVAL, EFAULT, ENOMEM; EIO: the message,
 * whose address is stored, is lost.
 */
int getmsg(int fd, struct strbuf *ctl, struct strbuf *data, int *flags);

/*
 * Makes an endpoint for some of the PEs of another one: PE k of the new one is PE pid[k] of fd, 0 <= k < n. All these
 * PEs call it, with the same list. Messages of different endpoints never match. `nself = ndomain(...)` makes the
 * routines of <nself.h>, <npara_prt.h> and <group.h> work within these PEs. close gives it back; all of them call
 * that, too. Returns the descriptor, or -1 with errno. EBADF; ENOSTR: fd is not an endpoint; EINVAL: n < 1, a PE that
 * is twice in the list, or lists that differ; EADDRNOTAVAIL: a number that is not a PE of fd; ESRCH: the caller is not
 * in the list; ENFILE: a PE is in 27 domains and groups; EMFILE, ENOMEM.
 */
int ndomain(int fd, int n, const int *pid);

#endif
