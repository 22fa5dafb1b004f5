/*
 * The functions trap_NAME, made from TRAP_LIST: the arguments of a C call lie in a0-a5 where the trap wants them. Those
 * of reading have results in a1-a3 as well: trap_read_message and so on.
 */
#include "vertex/contract/traps.h"

#include "vertex/contract/errors.h"

#define TRAP_FUNCTION(name, number)                      \
    __asm__(".section .text.trap_" #name ", \"ax\"\n"    \
            ".globl trap_" #name "\n"                    \
            ".type trap_" #name ", @function\n"          \
            "trap_" #name ":\n"                          \
            "    li a7, " #number "\n"                   \
            "    ecall\n"                                \
            "    ret\n"                                  \
            ".size trap_" #name ", . - trap_" #name "\n" \
            ".text\n");

TRAP_LIST(TRAP_FUNCTION)

#define SELECTING_TRAP(name, buf, bytes, store_buf)                                           \
    register long a0 __asm__("a0") = (long)(buf);                                             \
    register long a1 __asm__("a1") = (bytes);                                                 \
    register long a2 __asm__("a2") = *src;                                                    \
    register long a3 __asm__("a3") = *type;                                                   \
    register long a7 __asm__("a7") = TRAP_##name;                                             \
    __asm__ volatile("ecall"                                                                  \
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a7)                       \
                     :                                                                        \
                     : "memory", "a4", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6"); \
    if (a0 >= 0 || a0 == -N_EIO) { /* EIO: of the message that is lost */                     \
        *src = (int)a1;                                                                       \
        *type = (int)a2;                                                                      \
    }                                                                                         \
    if (a0 >= 0) {                                                                            \
        store_buf;                                                                            \
    }                                                                                         \
    return a0

long trap_read_message(void *buf, long bytes, int *src, int *type)
{
    SELECTING_TRAP(nread, buf, bytes, );
}

long trap_test_message(int *src, int *type)
{
    SELECTING_TRAP(ntest, 0, 0, );
}

long trap_read_buffer(void **buf, long bytes, int *src, int *type)
{
    SELECTING_TRAP(nreadp, 0, bytes, *buf = (void *)a3);
}
