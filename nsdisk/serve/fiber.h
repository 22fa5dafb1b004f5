/*
 * Fibers: stacks on which synchronous code runs in turn. The loop switches to a fiber; the fiber goes on until it
 * leaves, which switches back. Nothing else switches, so a fiber needs no locks against the others.
 *
 *   loop                               fiber
 *   fiber_enter  ------------------>   fn(arg), or where it left
 *                <------------------   fiber_leave
 *
 * fn never returns.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/service.h"
#ifndef __riscv
#include <ucontext.h>
#endif

/* On a node readlink takes 12 KB and the plan of a view with the most levels 35 KB; code under the host's sanitizers
 * takes much more. */
#ifdef __riscv
#define FIBER_STACK_BYTES SERVICE_STACK_BYTES
#else
#define FIBER_STACK_BYTES (512u << 10)
#endif

struct fiber {
    void (*fn)(void *arg);
    void *arg;
    uint8_t *stack;
#ifdef __riscv
    void *sp, *outside; /* stack pointers: the fiber's while it is left, its caller's while it runs */
#else
    ucontext_t inside, outside;
#endif
};

/* Makes a fiber that begins with fn(arg). stack has FIBER_STACK_BYTES, aligned to 16, and is the caller's. */
void fiber_make(struct fiber *f, void *stack, void (*fn)(void *arg), void *arg);

/* Runs the fiber until it leaves; not to be called on a fiber. */
void fiber_enter(struct fiber *f);

/* Leaves the fiber, which must be the running one, until fiber_enter is called again. */
void fiber_leave(struct fiber *f);

/* The most bytes of its stack that it has used. FIBER_STACK_BYTES: it may have overflowed. */
size_t fiber_deepest(const struct fiber *f);
