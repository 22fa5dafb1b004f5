/* The memory of a message that has come and that no process has received yet: what a sender may run ahead by. */
#pragma once

#include <stdint.h>

#define HELD_SMALL_BYTES  1024u  /* up to this, Vertex keeps a copy; */
#define HELD_HEAD_BYTES   256u   /* with its head, and what the pages of copies lose, no more than this beside it. */
#define HELD_BUFFER_BYTES 20480u /* A longer one keeps the channel's buffer, and one that does not fit has its own */

/* Of so many messages that are equally long. */
static inline int64_t held_memory_bytes(int64_t bytes, int messages)
{
    const int64_t buffers = (int64_t)messages * HELD_BUFFER_BYTES;

    return bytes > (int64_t)messages * HELD_SMALL_BYTES && bytes < buffers
               ? buffers
               : bytes + (int64_t)messages * HELD_HEAD_BYTES;
}
