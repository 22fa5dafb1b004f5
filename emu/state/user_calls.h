/*
 * Which call of a program a node is in: the innermost frame that is the program's own and none of ncube's libraries,
 * and what it has called there.
 */
#pragma once

#include "emu/debug/target.h"
#include "emu/job/where.h"

struct user_calls;

/* Of `t` only the operations are used in functions with a `place`. The programs' files are open for reading, and stay
 * the caller's. */
struct user_calls *user_calls_new(const struct target *t, const int *fd, uint32_t programs);
void user_calls_free(struct user_calls *c);

/* Texts live as long as `struct user_calls`. */
struct user_call {
    uint64_t back;    /* the address in the program's own code to which the call returns; 0: there is none */
    uint64_t sp;      /* of the node then */
    const char *name; /* "fopen"; without `back` that of the outermost function of the libraries */
    const char *text; /* "fopen, called in main (x.c:20)", or the name alone */
};

/* Where the program's code is. */
struct user_place {
    uint64_t pc, ra, sp, fp, satp; /* fp: x8 */
};

/* The call in which a node is, whose registers are those of its program; without a debug area those of `place`. */
struct user_call user_calls_find(struct user_calls *c, uint32_t node, uint32_t program);
struct user_call user_calls_find_at(struct user_calls *c, uint32_t node, uint32_t program,
                                    const struct user_place *place);

/* Writes "main (x.c:20)", or "memcpy, in qsort called from main (x.c:20)", as far as that is known (WHERE_BYTES). */
void user_calls_describe(struct user_calls *c, uint32_t node, uint32_t program, const struct user_place *place,
                         char *text);

/* The line of the program where a node is: "main (x.c:20)", or the call there that it is in, as in struct user_call.
 * NULL: only code of ncube's libraries is there, or nothing is known. */
const char *user_calls_line(struct user_calls *c, uint32_t node, uint32_t program, const struct user_place *place);

/* The call of a function at whose beginning a node is. False: a library calls it. */
bool user_calls_begin(struct user_calls *c, uint32_t node, uint32_t program, const char *name, struct user_call *call);
