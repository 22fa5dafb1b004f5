/*
 * A job's description as the content of one message from xnc to a machine (link.h).
 *
 *   struct launch_head, struct launch_program[programs], strings, each with its NUL:
 *   the folder to serve ("" for none), then for each program its path and its arguments
 *
 * Paths are absolute, because the machine works in another folder.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/job/job.h"

struct launch_head {
    uint64_t stack_bytes, heap_bytes, comm_bytes;
    uint32_t dim, programs, status_rule;
    uint8_t label, registers, waits, pad;
};

struct launch_program {
    uint32_t nodes, argc, dim;
    uint8_t piped, pad[3];
};

/* Packs a job; relative paths start at `folder`. Returns the bytes, which the caller frees, and their number in *n; or
 * NULL if they would be more than LINK_MESSAGE_MAX_BYTES, or there is no memory. */
uint8_t *launch_pack(const struct job_options *o, const char *folder, size_t *n);

struct launch {             /* unpacked; the strings lie in the content that was given */
    struct job_options job; /* the caller sets its streams */
    struct job_program program[JOB_PROGRAMS_MAX];
    char **argv; /* of all programs, each list with its NULL */
};

/* Unpacks content, in which nothing is trusted. Returns 0, and the caller calls launch_free before it frees the
 * content; or -1 if the content is malformed or there is no memory. */
int launch_unpack(struct launch *l, uint8_t *content, size_t n);
void launch_free(struct launch *l);
