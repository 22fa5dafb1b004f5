/*
 * The cost model: which class an instruction belongs to, and how many cycles a class takes.
 * One table (cost.c) for plugin, machine file and documentation.
 */
#pragma once

#include <stdint.h>

/* class, name in the machine file, default cycles */
#define COST_CLASSES(X)                   \
    X(COST_ALU, "alu", 2)                 \
    X(COST_MULTIPLY, "multiply", 6)       \
    X(COST_DIVIDE, "divide", 40)          \
    X(COST_LOAD, "load", 4)               \
    X(COST_STORE, "store", 3)             \
    X(COST_BRANCH, "branch", 3)           \
    X(COST_JUMP, "jump", 3)               \
    X(COST_ATOMIC, "atomic", 8)           \
    X(COST_FP_LOAD, "fp_load", 2)         \
    X(COST_FP_STORE, "fp_store", 4)       \
    X(COST_FP_ADD, "fp_add", 4)           \
    X(COST_FP_MULTIPLY, "fp_multiply", 4) \
    X(COST_FP_FUSED, "fp_fused", 7)       \
    X(COST_FP_DIVIDE, "fp_divide", 30)    \
    X(COST_FP_CONVERT, "fp_convert", 4)   \
    X(COST_FP_MOVE, "fp_move", 2)         \
    X(COST_CSR, "csr", 4)                 \
    X(COST_TRAP, "trap", 20)              \
    X(COST_FENCE, "fence", 4)

#define COST_ENUM(id, name, cycles) id,
enum cost_class { COST_CLASSES(COST_ENUM) COST_CLASS_COUNT };
#undef COST_ENUM

extern const char *const cost_class_name[COST_CLASS_COUNT];
extern const uint32_t cost_class_cycles[COST_CLASS_COUNT]; /* the defaults */

/* Returns the class of that name, or -1. */
int cost_class_find(const char *name);

/* Returns the least time that code takes with these costs of classes if it takes `cycles` with the default ones. */
uint64_t cost_least(const uint32_t cycles_of_class[COST_CLASS_COUNT], uint64_t cycles);

/* Returns the class of an instruction from its bits; a 16-bit form is in the low half. A compressed form has the class
 * of the instruction that it stands for. Bits that are no instruction count as COST_ALU, and trap when executed. */
enum cost_class cost_class_of(uint32_t insn);
