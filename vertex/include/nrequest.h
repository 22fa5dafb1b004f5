/*
 * Requests of a program to the server of an I/O node, other than those of files: of the families that the server has
 * (Clusterfile, the Concurrent File System). Several may be under way, to any servers; they end in any order.
 *
 * A request is a message: a head, which begins with 4 bytes for its number that requeststart fills in, and data. The
 * reply has a status of the server's, perhaps a head, and data. What heads mean is between program and server.
 * Every call returns >= 0, or a negative error of <n_errno.h>, which errno has as well.
 */
#ifndef _NREQUEST_H
#define _NREQUEST_H

#include <stddef.h>

/* Sends a request of that type, 0x8050 to 0x807f, to the server of the I/O node with that address (ionode of <nio.h>).
 * The caller may reuse head and data at once. Returns its number, above 0. Errors: EINVAL: the type, the node, a head
 * not of 4 to 4096 bytes, more than 1 MB of data; ENOMEM: this node or the server's has no memory for so many bytes;
 * EAGAIN: 64 requests of this process are under way; EFAULT. */
long requeststart(int node, int type, const void *head, size_t head_bytes, const void *data, size_t bytes);

/* Waits for the reply to the request of that number, which is no longer under way then. Returns the server's status;
 * head gets the reply's first head_bytes, data the rest of it, at most `bytes`. Errors: EINVAL: no such request;
 * EFAULT: then the request is still under way; EPROTO: the reply is shorter than the head, or longer than both; ENOSYS:
 * the server has no such family; EHOSTDOWN, EHOSTUNREACH, EIO, ETIMEDOUT: the server or its node has failed; any error
 * of the server. head and data are unchanged after an error, but EFAULT. */
long requestend(long number, void *head, size_t head_bytes, void *data, size_t bytes);

/* Returns 1 if the reply has arrived, or the server has had the time limit of files (server_limit_s of the machine
 * file) without a reply: requestend then finds out whether it is dead. Else 0. Of number 0: how many more requests may
 * be under way. Errors: EINVAL: no such request. */
int requesttest(long number);

#endif
