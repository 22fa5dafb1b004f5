/*
 * The memory that nsdisk takes for concurrent service (nsdisk/serve/loop.h), by which ncube knows what is left of an
 * I/O node's memory for data caches.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/proto.h"

#define SERVICE_REPLY_AT    4096u        /* of a reply in its area: behind a request's header and names */
#define SERVICE_PARKED      32u          /* places for requests to volumes that are busy */
#define SERVICE_STACK_BYTES (48u << 10)  /* of a fiber, one for each drive */
#define SERVICE_ASIDE_BYTES (256u << 10) /* at most, of records for misses = "aside" */
#define SERVICE_HELD_BYTES  (128u << 10) /* for requests that other families hold */
#define SERVICE_STATE_BYTES (64u << 10)  /* at most, of the loop itself and of the families */
#define SERVICE_ROUND(n)    (((n) + 15) & ~(size_t)15)

/* Of an area, for the largest request, or the largest reply behind a short one. io_bytes: file_io_bytes. */
static inline size_t service_area_bytes(uint32_t io_bytes)
{
    return SERVICE_ROUND(SERVICE_REPLY_AT + sizeof(struct file_reply) + io_bytes);
}

/* Of a place for a request to a busy volume. */
static inline size_t service_parked_bytes(uint32_t io_bytes)
{
    size_t least = sizeof(struct file_request) + 2 * FILE_NAME_MAX_BYTES, share = io_bytes / SERVICE_PARKED;

    return SERVICE_ROUND(share > least ? share : least);
}

/* What concurrent service takes beyond what in-order service does: of its drives + 1 areas that has one, too. */
static inline uint64_t service_concurrent_bytes(uint64_t ram_bytes, uint32_t drives)
{
    uint32_t io_bytes = file_io_bytes(ram_bytes);

    return drives * (service_area_bytes(io_bytes) + SERVICE_STACK_BYTES) +
           SERVICE_PARKED * service_parked_bytes(io_bytes) + SERVICE_HELD_BYTES + SERVICE_STATE_BYTES;
}
