/*
 * A family of requests for tests: it echoes, holds and answers late, and reads a file on the volume's fiber. Its
 * numbers are Clusterfile's. The upper half of the CFS's are those of a family that finds no memory when it begins, the
 * lower half no family's.
 *
 *   request  struct echo_request, data     reply  struct echo_reply, data
 *
 *   N_ECHO     data; answered at once
 *   N_HOLD     key, data; answered when N_RELEASE or N_SHUTDOWN comes
 *   N_RELEASE  key; answers all that are held for it, in a random order, then itself: how many there were
 *   N_MEET     key, arg, data; answered when `arg` of them have come, all in a random order
 *   N_READ     arg (drive), key (offset), data (path): at most ECHO_READ_BYTES of the file
 *   N_KNOWN    how many are held; `place`: how many clients have ended
 *   N_NO_ROOM  there is never room for it
 *   N_END      ends nsdisk, with status `arg`
 *
 * The status is the number of data bytes, but for N_RELEASE and N_KNOWN.
 */
#pragma once

#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

enum {
    N_ECHO = TYPES_CLUSTERFILE,
    N_HOLD,
    N_RELEASE,
    N_MEET,
    N_READ,
    N_KNOWN,
    N_NO_ROOM,
    N_END,
    ECHO_NONE, /* the family's, but no request */
};

#define NO_FAMILY TYPES_CFS
#define NO_MEMORY (TYPES_CFS + 16u) /* and those above */

#define ECHO_DATA_BYTES 40000u /* in a message, at most: -N_EMSGSIZE */
#define ECHO_READ_BYTES 5000u
#define ECHO_READS      3u /* at once; there is no room for more */

struct echo_request {
    uint32_t seq;
    uint32_t arg;
    uint64_t key;
};
_Static_assert(sizeof(struct echo_request) == 16, "echo_request layout");

struct echo_reply {
    struct file_reply head;
    uint64_t place; /* in the order in which what was held is answered */
};
_Static_assert(sizeof(struct echo_reply) == sizeof(struct echo_request), "a reply takes its request's place");
