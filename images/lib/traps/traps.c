/*
 * The functions trap_NAME, made from TRAP_LIST: the arguments of a C call lie in a0-a5 where the trap wants them. Those
 * of reading have results in a1-a3 as well: trap_read_message and so on. trap_failed keeps the error that is in a0;
 * those of the program's own messages pass it on to failure_of_message.
 */
#include "vertex/contract/traps.h"

#include "images/lib/traps/failure.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

/* Those whose failures nfailed and errno know. */
#define TELLING_TRAPS \
    ".Ltells_nwrite = 1; .Ltells_nrange = 1; .Ltells_ngetp = 1; .Ltells_nwritep = 1; .Ltells_nrelp = 1\n"

#define TRAP_FUNCTION(name, number)              \
    ".section .text.trap_" #name ", \"ax\"\n"    \
    ".globl trap_" #name "\n"                    \
    ".type trap_" #name ", @function\n"          \
    "trap_" #name ":\n"                          \
    "    li a7, " #number "\n"                   \
    "    ecall\n"                                \
    ".ifdef .Ltells_" #name "\n"                 \
    "    bltz a0, 1f\n"                          \
    "    ret\n"                                  \
    "1:  lla a1, 2f\n"                           \
    "    tail failure_of_message\n"              \
    ".size trap_" #name ", . - trap_" #name "\n" \
    ".section .rodata.trap_" #name ", \"a\"\n"   \
    "2:  .string \"" #name "\"\n"                \
    ".else\n"                                    \
    "    bltz a0, trap_failed\n"                 \
    "    ret\n"                                  \
    ".size trap_" #name ", . - trap_" #name "\n" \
    ".endif\n"

int trap_last_error;

__asm__(".section .text.trap_failed, \"ax\"\n"
        ".globl trap_failed\n"
        "trap_failed:\n"
        "    lla t0, trap_last_error\n"
        "    sw a0, 0(t0)\n"
        "    ret\n"
        ".text\n");

__asm__(TELLING_TRAPS TRAP_LIST(TRAP_FUNCTION) ".text\n");

/* a4 is an argument of some of these traps, and all of them change it. */
#define A4_GIVEN , "+r"(a4)
#define A4_LOST  , "a4"
#define NO_A4

#define NOTE_ERROR(call)   trap_last_error = (int)a0
#define TELL_FAILURE(call) return failure_of_message(a0, call)

#define SELECTING_TRAP(name, fail, buf, bytes, outputs, clobbers, store_buf)                     \
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
        fail(#name);                                                                             \
    }                                                                                            \
    return a0

long trap_read_message(void *buf, long bytes, int *src, int *type)
{
    SELECTING_TRAP(nread, TELL_FAILURE, buf, bytes, NO_A4, A4_LOST, );
}

long trap_read_context(void *buf, long bytes, int *src, int *type, long context)
{
    register long a4 __asm__("a4") = context;

    SELECTING_TRAP(cread, NOTE_ERROR, buf, bytes, A4_GIVEN, NO_A4, );
}

/* *others: how many messages of any kind are queued then. */
long trap_read_pipe(void *buf, long bytes, int *src, int *type, long *others)
{
    register long a4 __asm__("a4") = CONTEXT_PIPE;

    SELECTING_TRAP(cread, NOTE_ERROR, buf, bytes, A4_GIVEN, NO_A4, *others = a3);
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
    SELECTING_TRAP(disk_or_read, NOTE_ERROR, buf, bytes, NO_A4, A4_LOST, );
}

long trap_test_message(int *src, int *type)
{
    SELECTING_TRAP(ntest, TELL_FAILURE, 0, 0, NO_A4, A4_LOST, );
}

long trap_test_context(int *src, int *type, long context)
{
    register long a4 __asm__("a4") = context;

    SELECTING_TRAP(ctest, NOTE_ERROR, 0, 0, A4_GIVEN, NO_A4, );
}

long trap_read_buffer(void **buf, long bytes, int *src, int *type, long context)
{
    register long a4 __asm__("a4") = context;

    SELECTING_TRAP(nreadp, TELL_FAILURE, 0, bytes, A4_GIVEN, NO_A4, *buf = (void *)a3);
}
