/*
 * The parts of a file request (vertex/contract/proto.h), for both servers: nsdisk and the front end.
 *
 *   message   struct file_request | name | name2 | data
 *             40 bytes            | name_bytes | name2_bytes | bytes, with PART_DATA
 *
 * One table says which parts each type has, and one function checks that a message has just these. Each server checks
 * the values itself: drives, open files, offsets, and the length of names.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/proto.h"

enum {
    PART_DRIVE = 1,
    PART_FILE = 2, /* an open file's sfid */
    PART_NAME = 4,
    PART_NAME2 = 8,
    PART_DATA = 16, /* `bytes` bytes */
    PART_OFFSET = 32,
    PART_COUNT = 64, /* `bytes` to be returned */
};

struct file_parts { /* pointers into the message */
    const char *name, *name2;
    const uint8_t *data;
};

/* True if the type is a file request; then its parts. */
bool file_parts_of(uint32_t type, uint32_t *parts);

/* Carries out N_FADD on a counter of its owner, which k names; k is the reply then. 0; -N_EINVAL or -N_EOVERFLOW:
 * nothing has changed. */
int32_t file_counter_add(int64_t *counter, struct file_counter *k);

/* Splits a message of n bytes, at least a header's, whose header is *r. 0; or -N_EPROTO: the message is not as long as
 * its header says, a part is missing or not of that type, a name has a NUL inside, or there are more than
 * FILE_IO_MAX_BYTES of data or to be returned. */
int32_t file_parts_split(const struct file_request *r, uint32_t parts, const void *message, size_t n,
                         struct file_parts *out);
