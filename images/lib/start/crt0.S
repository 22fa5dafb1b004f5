/*
 * Where a program starts: a0 = argc, a1 = argv, a2 = pipes, a3 and a4 = inherited descriptors, sp 16-byte aligned
 * (vertex/contract/abi.h).
 */
    .section .text._start, "ax"
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    li fp, 0
    li ra, 0
    j start_program
    .size _start, . - _start

    .section .note.GNU-stack, "", @progbits
