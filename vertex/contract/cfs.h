/*
 * Requests to the servers of the Concurrent File System [P2 section 3.0]: a family of nsdisk (nsdisk/serve/family.h).
 * So far only their numbers stand: 0x8060 to 0x807f, replies 0x80e0 to 0x80ff. A request begins with struct
 * request_head, a reply with struct file_reply.
 */
#ifndef CONTRACT_CFS_H
#define CONTRACT_CFS_H

#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

#define N_IS_CFS(type) ((uint32_t)(type) >= TYPES_CFS && (uint32_t)(type) <= TYPES_CFS_LAST)
_Static_assert(N_IS_CFS(0x8060) && N_IS_CFS(0x807f) && N_IS_FAMILY_REQUEST(0x8060) && N_IS_FILE_REQUEST(0x807f) &&
                   N_IS_FILE_REPLY(N_REPLY(0x8060)) && N_IS_FILE_REPLY(N_REPLY(0x807f)),
               "programs make them, and all who look at messages know them as requests");

#endif
