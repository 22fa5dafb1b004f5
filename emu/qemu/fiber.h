/*
 * Fibers: execution contexts that change places without the host's kernel. A thread becomes a fiber with all that the
 * C library and QEMU keep for it, its thread-local storage included: code that runs in it cannot tell on which thread
 * of the host it goes on.
 *
 * A change takes a few nanoseconds where a program may set the base of its thread-local storage by an instruction
 * (x86-64 with FSGSBASE, and Linux 5.9 or later), and a system call (arch_prctl) elsewhere: 0.3 to 4 us.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#define NO_FIBERS "harts cannot take turns here: that takes an x86-64 processor, and a host that permits arch_prctl"

struct fiber {
    void *stack;      /* where its registers are */
    uint64_t storage; /* base of its thread-local storage */
};

/* Returns true if the base is set by an instruction. */
static inline bool fiber_has_instruction(void)
{
#ifdef __x86_64__
    return (getauxval(AT_HWCAP2) & 2) != 0; /* HWCAP2_FSGSBASE */
#else
    return false;
#endif
}

/* Sets the base of the caller's storage to what it is, by a system call. Returns false if the host refuses. */
static inline bool fiber_call(void)
{
#ifdef __x86_64__
    return syscall(SYS_arch_prctl, ARCH_SET_FS, __builtin_thread_pointer()) == 0;
#else
    return false;
#endif
}

/* Returns true if this host has fibers. */
static inline bool fiber_possible(void)
{
    return fiber_has_instruction() || fiber_call();
}

/* Returns true if fibers are faster here than threads. Measures that, in 0.2 ms, where the base is set by a system
 * call. For ncube only (fiber_host.c). */
bool fiber_pays(void);

/* To be called by the plugin before its first change. */
void fiber_init(void);

/* Goes on in `to`, whose place is taken from then on. Returns when another goes on in `from`, maybe on another thread
 * of the host. */
void fiber_switch(struct fiber *from, const struct fiber *to);

/* Leaves the fiber for good, as far as this thread of the host is concerned: executes leave(argument) on the stack
 * that ends at stack_end (16-byte aligned); it must not return. `from` may go on elsewhere as soon as it has begun,
 * and then shares its thread-local storage with it. */
void fiber_leave(struct fiber *from, void *stack_end, void (*leave)(uintptr_t), uintptr_t argument);
