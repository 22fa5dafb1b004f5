/*
 * What the client of a family of requests needs from a node, or from a test on the host, which has servers in its own
 * memory.
 */
#pragma once

#include <stdint.h>

struct server_calls {
    /* As trap_striped: the text of which some lines may be those of families (vertex/contract/system.h). */
    long (*text)(char *buf, long bytes);
    /* As trap_requeststart, trap_requestend and trap_requesttest; test(0): how many more may be started. */
    long (*start)(long node, long type, const void *head, long head_bytes, const void *data, long bytes);
    long (*end)(long number, void *head, long head_bytes, void *data, long bytes);
    long (*test)(long number);
    /* Receives a message in a context, as trap_read_context, if it is there within so many cycles (UINT64_MAX: waits
     * for ever); else -N_EAGAIN. */
    long (*take)(void *buf, long bytes, int process, int type, int context, uint64_t cycles);
    /* As trap_cwrite. */
    long (*send)(const void *buf, long bytes, long dest, long type, long context);
    /* How many nodes the job has. */
    int (*nodes)(void);
    /* The node's clock, in cycles; NULL: there is none. */
    uint64_t (*cycles)(void);
    /* The node's number in the job. */
    int (*node)(void);
};

extern const struct server_calls server_calls;
