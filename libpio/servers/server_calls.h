/* What the client of the CFS needs from a node, or from a test on the host, which has servers in its own memory. */
#ifndef LIBPIO_CFS_TRANSPORT_H
#define LIBPIO_CFS_TRANSPORT_H

#include <stddef.h>

struct cfs_transport {
    /* As trap_striped: the text whose first line may be the CFS's (vertex/contract/system.h). */
    long (*text)(char *buf, long bytes);
    /* As trap_requeststart, trap_requestend and trap_requesttest. */
    long (*start)(long node, long type, const void *head, long head_bytes, const void *data, long bytes);
    long (*end)(long number, void *head, long head_bytes, void *data, long bytes);
    long (*test)(long number);
};

extern const struct cfs_transport cfs_transport;

#endif
