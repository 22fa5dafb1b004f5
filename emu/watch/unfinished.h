/*
 * Calls of programs that have failed somewhere in the libraries, or are to open a file, and have not returned yet: only
 * when they return is it known whether they have failed. A node stops where such a call returns (debug_area.h).
 */
#pragma once

#include "emu/debug/target.h"
#include "emu/state/user_calls.h"
#include "vertex/contract/system.h"

struct unfinished_calls;

struct unfinished {
    uint64_t process; /* its address in Vertex */
    struct user_call call;
    int32_t error;   /* the last one, < 0; 0: none */
    bool sets_errno; /* the library has set errno to it */
    enum {
        REFUSAL_NONE,
        REFUSAL_IF_ERRNO, /* the library may refuse it by itself, and then sets errno, */
        REFUSAL_SURE      /* or refuses it if it fails */
    } refusal;
    int32_t errno_before;     /* of a refusal */
    char *path;               /* of the file that it is to open; NULL: it opens none */
    bool is_open[PROC_FILES]; /* when it began */
};

struct unfinished_calls *unfinished_new(const struct target *t, uint32_t nodes);
void unfinished_free(struct unfinished_calls *u);

/* Finds the call, or adds it. The result is valid until the next call here. The node must be stopped. */
struct unfinished *unfinished_at(struct unfinished_calls *u, uint32_t node, uint64_t process,
                                 const struct user_call *call);
/* The call that returns to pc is taken off the list; those that were left in its midst (longjmp) are forgotten. False:
 * there is none. The caller frees done->path. */
bool unfinished_take(struct unfinished_calls *u, uint32_t node, uint64_t process, uint64_t pc, uint64_t sp,
                     struct unfinished *done);
/* A process ends; `tell`, which may be NULL, gets each of its calls. */
void unfinished_end(struct unfinished_calls *u, uint32_t node, uint64_t process,
                    void (*tell)(void *ctx, uint32_t node, const struct unfinished *call), void *ctx);
bool unfinished_any(const struct unfinished_calls *u, uint32_t node);

/* Whether a call that an error or a refusal concerns has failed, which has returned `a0`. */
bool unfinished_has_failed(const struct unfinished *call, int64_t a0);
/* Whether that is known from what it returns alone: not of those that return how much they have moved. */
bool unfinished_result_tells(const struct unfinished *call);
