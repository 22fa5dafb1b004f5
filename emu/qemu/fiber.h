/*
 * Fibers: execution contexts that change places without the host's kernel. A thread becomes a fiber with all that the
 * C library and QEMU keep for it, its thread-local storage included: code that runs in it cannot tell on which thread
 * of the host it goes on.
 *
 * That takes a processor on which a program may set the base of its thread-local storage (x86-64 with FSGSBASE, and
 * Linux 5.9 or later).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>

#define NO_FIBERS "harts cannot take turns here: that takes an x86-64 processor with FSGSBASE, and Linux 5.9 or later"

struct fiber {
    void *stack;      /* where its registers are */
    uint64_t storage; /* base of its thread-local storage */
};

/* Returns true if this host has fibers. */
static inline bool fiber_possible(void)
{
#ifdef __x86_64__
    return (getauxval(AT_HWCAP2) & 2) != 0; /* HWCAP2_FSGSBASE */
#else
    return false;
#endif
}

/* Goes on in `to`, whose place is taken from then on. Returns when another goes on in `from`, maybe on another thread
 * of the host. */
void fiber_switch(struct fiber *from, const struct fiber *to);

/* Leaves the fiber for good, as far as this thread of the host is concerned: executes leave(argument) on the stack
 * that ends at stack_end (16-byte aligned); it must not return. `from` may go on elsewhere as soon as it has begun,
 * and then shares its thread-local storage with it. */
void fiber_leave(struct fiber *from, void *stack_end, void (*leave)(uintptr_t), uintptr_t argument);
