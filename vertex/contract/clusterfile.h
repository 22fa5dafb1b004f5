/*
 * Requests to the servers of Clusterfile's files [P3 chapter 3]: a family of nsdisk (nsdisk/serve/family.h). So far
 * only their numbers stand: 0x8050 to 0x805f, replies 0x80d0 to 0x80df. A request begins with struct request_head, a
 * reply with struct file_reply.
 */
#ifndef CONTRACT_CLUSTERFILE_H
#define CONTRACT_CLUSTERFILE_H

#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

#define N_IS_CLUSTERFILE(type) ((uint32_t)(type) >= TYPES_CLUSTERFILE && (uint32_t)(type) <= TYPES_CLUSTERFILE_LAST)
_Static_assert(N_IS_CLUSTERFILE(0x8050) && N_IS_CLUSTERFILE(0x805f) && N_IS_FAMILY_REQUEST(0x8050) &&
                   N_IS_FILE_REQUEST(0x805f) && N_IS_FILE_REPLY(N_REPLY(0x8050)) && N_IS_FILE_REPLY(N_REPLY(0x805f)),
               "programs make them, and all who look at messages know them as requests");

#endif
