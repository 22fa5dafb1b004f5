/*
 * The functions trap_NAME, made from TRAP_LIST: the arguments of a C call lie in a0-a5 where the trap wants them. Those
 * of reading have results in a1-a3 as well: trap_read_message and so on. trap_failed keeps the error that is in a0.
 */
#include "vertex/contract/traps.h"

#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

#define TRAP_FUNCTION(name, number)                      \
    __asm__(".section .text.trap_" #name ", \"ax\"\n"    \
            ".globl trap_" #name "\n"                    \
            ".type trap_" #name ", @function\n"          \
            "trap_" #name ":\n"                          \
            "    li a7, " #number "\n"                   \
            "    ecall\n"                                \
            "    bltz a0, trap_failed\n"                 \
            "    ret\n"                                  \
            ".size trap_" #name ", . - trap_" #name "\n" \
            ".text\n");

int trap_last_error;

__asm__(".section .text.trap_failed, \"ax\"\n"
        ".globl trap_failed\n"
        "trap_failed:\n"
        "    lla t0, trap_last_error\n"
        "    sw a0, 0(t0)\n"
        "    ret\n"
        ".text\n");

TRAP_LIST(TRAP_FUNCTION)

/* a4 is an argument of some of these traps, and all of them change it. */
#define A4_GIVEN , "+r"(a4)
#define A4_LOST  , "a4"
#define NO_A4

#define SELECTING_TRAP(name, buf, bytes, outputs, clobbers, store_buf)                           \
    register long a0 __asm__("a0") = (long)(buf);                                                \
    register long a1 __asm__("a1") = (bytes);                                                    \
    register long a2 __asm__("a2") = *src;                                                       \
    register long a3 __asm__("a3") = *type;                                                      \
    register long a7 __asm__("a7") = TRAP_##name;                                                \
    __asm__ volatile("ecall"                                                                     \
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a7)outputs                   \
                     :                                                                           \
                     : "memory", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6" clobbers); \
    if (a0 >= 0 || a0 == -N_EIO) { /* EIO: those of the lost message */                          \
        *src = (int)a1;                                                                          \
        *type = (int)a2;                                                                         \
    }                                                                                            \
    if (a0 >= 0) {                                                                               \
        store_buf;                                                                               \
    } else {                                                                                     \
        trap_last_error = (int)a0;                                                               \
    }                                                                                            \
    return a0

long trap_read_message(void *buf, long bytes, int *src, int *type)
{
    SELECTING_TRAP(nread, buf, bytes, NO_A4, A4_LOST, );
}

long trap_read_context(void *buf, long bytes, int *src, int *type, long context)
{
    register long a4 __asm__("a4") = context;

    SELECTING_TRAP(cread, buf, bytes, A4_GIVEN, NO_A4, );
}

/* *others: how many messages of any kind are queued then. */
long trap_read_pipe(void *buf, long bytes, int *src, int *type, long *others)
{
    register long a4 __asm__("a4") = CONTEXT_PIPE;

    SELECTING_TRAP(cread, buf, bytes, A4_GIVEN, NO_A4, *others = a3);
}

/* Traps with six arguments, most of which they change: a0 to a3 have the results. */
#define SIX_ARGUMENT_TRAP(name, first, second, third, fourth, fifth, sixth)                 \
    register long a0 __asm__("a0") = (long)(first);                                         \
    register long a1 __asm__("a1") = (second);                                              \
    register long a2 __asm__("a2") = (third);                                               \
    register long a3 __asm__("a3") = (fourth);                                              \
    register long a4 __asm__("a4") = (fifth);                                               \
    register long a5 __asm__("a5") = (sixth);                                               \
    register long a7 __asm__("a7") = TRAP_##name;                                           \
    __asm__ volatile("ecall"                                                                \
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a7) \
                     :                                                                      \
                     : "memory", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6")

/* *written: whether the write has succeeded; an error is the read's then. */
long trap_write_and_read(void *buf, long bytes, long dest, int src, long type, long context, bool *written)
{
    SIX_ARGUMENT_TRAP(cwrite_read, buf, bytes, dest, type, context, src);
    *written = a3 >= 0;
    return trap_note((int)a0);
}

long trap_context_sync(struct trap_sync *s, int src, long type, long context)
{
    SIX_ARGUMENT_TRAP(csync, s->from, s->n, s->dest, type, context, src);
    s->n = a1;
    s->dest = a2;
    return trap_note((int)a0);
}

long trap_message_or_disk(void *buf, long bytes, int *src, int *type)
{
    SELECTING_TRAP(disk_or_read, buf, bytes, NO_A4, A4_LOST, );
}

long trap_test_message(int *src, int *type)
{
    SELECTING_TRAP(ntest, 0, 0, NO_A4, A4_LOST, );
}

long trap_test_context(int *src, int *type, long context)
{
    register long a4 __asm__("a4") = context;

    SELECTING_TRAP(ctest, 0, 0, A4_GIVEN, NO_A4, );
}

long trap_read_buffer(void **buf, long bytes, int *src, int *type, long context)
{
    register long a4 __asm__("a4") = context;

    SELECTING_TRAP(nreadp, 0, bytes, A4_GIVEN, NO_A4, *buf = (void *)a3);
}
