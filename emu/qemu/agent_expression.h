/*
 * gdb's agent expressions: the conditions of breakpoints, as programs for a small stack machine. Pure: registers and
 * memory are the caller's. "Debugging with GDB", appendix F, has the opcodes.
 *
 *   const8 N | const16 N | const32 N | const64 N      pushes; N is unsigned, its high byte first
 *   reg R (16 bits)                                   pushes a register, by gdb's number
 *   ref8, ref16, ref32, ref64                         address => value, with zeros in front
 *   ext B, zero_ext B                                 makes 64 bits of the lowest B
 *   add, sub, ..., less_unsigned, log_not, ...        a b => a OP b
 *   if_goto TO, goto TO (16 bits)                     TO counts from the begin of the expression
 *   dup, pop, swap, rot, pick N, end                  end: the value is on top
 *
 * Those that only traces have (trace, tracev, setv, printf), and those for floating point, which gdb never makes, are
 * no part of a condition. getv, a trace state variable, is known, but has no value here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_STACK 64u    /* values, at most */
#define AGENT_STEPS 10000u /* instructions that an evaluation executes, at most */

/* Of the place where an expression is evaluated. Each returns false if that cannot be read. */
struct agent_ops {
    bool (*read_register)(void *ctx, uint32_t number, uint64_t *value);
    bool (*read_memory)(void *ctx, uint64_t va, void *bytes, size_t n);
};

/* Returns true if it consists of whole instructions of a condition, and goes only to their begins. */
bool agent_expression_is_sound(const uint8_t *code, size_t n);

/* Stores its value. Returns false if it has none: something cannot be read, a division by 0, a stack that is too small
 * or empty, too many steps, no `end`. The code may be any bytes. */
bool agent_expression_evaluate(const uint8_t *code, size_t n, const struct agent_ops *ops, void *ctx, uint64_t *value);
