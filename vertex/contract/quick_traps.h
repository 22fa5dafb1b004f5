/*
 * The traps cwrite and cread, inline: for a library on whose way each cycle counts. The kernel changes registers as a
 * function call does, so what a caller keeps across them is its own matter. An error is the caller's to note
 * (trap_note).
 */
#pragma once

#include "vertex/contract/abi.h"

#define QUICK_TRAP_CHANGES "memory", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6"

/* As trap_cwrite. */
static inline long quick_cwrite(const void *buf, long bytes, long dest, long type, long context)
{
    register long a0 __asm__("a0") = (long)buf;
    register long a1 __asm__("a1") = bytes;
    register long a2 __asm__("a2") = dest;
    register long a3 __asm__("a3") = type;
    register long a4 __asm__("a4") = context;
    register long a7 __asm__("a7") = TRAP_cwrite;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a7) : : QUICK_TRAP_CHANGES);
    return a0;
}

/* As trap_read_context of any type: *src is in wanted, out received, as is *type. */
static inline long quick_cread_any(void *buf, long bytes, int *src, int *type, long context)
{
    register long a0 __asm__("a0") = (long)buf;
    register long a1 __asm__("a1") = bytes;
    register long a2 __asm__("a2") = *src;
    register long a3 __asm__("a3") = -1;
    register long a4 __asm__("a4") = context;
    register long a7 __asm__("a7") = TRAP_cread;

    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a7) : : QUICK_TRAP_CHANGES);
    *src = (int)a1;
    *type = (int)a2;
    return a0;
}
