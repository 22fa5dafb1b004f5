/*
 * The functions trap_NAME, made from TRAP_LIST: the arguments of a C call lie in a0-a5 where the trap wants them.
 */
#include "images/lib/trap.h"

#define TRAP_FUNCTION(name, number)                        \
    __asm__(".section .text.trap_" #name ", \"ax\"\n"      \
            ".globl trap_" #name "\n"                      \
            ".type trap_" #name ", @function\n"            \
            "trap_" #name ":\n"                            \
            "    li a7, " #number "\n"                     \
            "    ecall\n"                                  \
            "    ret\n"                                    \
            ".size trap_" #name ", . - trap_" #name "\n"   \
            ".text\n");

TRAP_LIST(TRAP_FUNCTION)
