/*
 * The frames of a program: from its registers, from the addresses to return to that were found on its stack, and from
 * the call frame information of the program's file. Of a program that has ended by a fault, Vertex has found these
 * (vertex/process/returns.h); while it is there, its memory can be read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/system.h"

struct frames;

/* The call frame information of a program, whose file is open for reading and stays the caller's. */
struct frames *frames_open(int fd);
void frames_close(struct frames *f);

struct frames_from {
    uint64_t pc, ra, sp, fp;           /* fp: x8 */
    const struct exit_return *returns; /* ascending by place; they may be left from older calls */
    uint32_t n;
    bool (*read)(void *ctx, uint64_t va, uint64_t *word); /* the program's memory; NULL: only `returns` is known */
    void *ctx;
};

struct frame_at {
    uint64_t pc; /* in the function: where it is, or in its call of the function below */
    uint64_t sp; /* when that call has returned */
};

/* Writes the frames from the innermost one outwards, as many as there are up to `most`. Returns how many, at least 1.
 * Without call frame information there are two, of which the second comes from a register and may be wrong. */
unsigned frames_walk(struct frames *f, const struct frames_from *from, struct frame_at *at, unsigned most);
