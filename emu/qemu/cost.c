/*
 * Instruction classes and their cycles.
 *
 * Sources: an nCUBE 2 node executes about 7 MIPS and 2.7 double-precision MFLOPS at 20 MHz [P0 section 1]: about 2.9
 * cycles for an instruction, and 7.4 for a floating-point operation with its loads and loop. The defaults are chosen so
 * that RISC-V code compiled with -O2 reaches these rates; docs/timing.md has the measurements.
 */
#include "emu/qemu/cost.h"

#include <string.h>

#define COST_NAME(id, name, cycles) [id] = name,
const char *const cost_class_name[COST_CLASS_COUNT] = {COST_CLASSES(COST_NAME)};
#undef COST_NAME

#define COST_CYCLES(id, name, cycles) [id] = cycles,
const uint32_t cost_class_cycles[COST_CLASS_COUNT] = {COST_CLASSES(COST_CYCLES)};
#undef COST_CYCLES

int cost_class_find(const char *name)
{
    for (int i = 0; i < COST_CLASS_COUNT; i++)
        if (strcmp(cost_class_name[i], name) == 0)
            return i;
    return -1;
}

uint64_t cost_least(const uint32_t cycles_of_class[COST_CLASS_COUNT], uint64_t cycles)
{
    uint64_t least = cycles;

    for (int i = 0; i < COST_CLASS_COUNT; i++)
        if (cycles * cycles_of_class[i] / cost_class_cycles[i] < least)
            least = cycles * cycles_of_class[i] / cost_class_cycles[i];
    return least;
}

/* Classifies 16-bit loads and stores (quadrants 0 and 2) of both register files by their funct3. */
static enum cost_class class_of_compressed_memory(uint32_t funct3)
{
    switch (funct3) {
    case 1:
        return COST_FP_LOAD;
    case 2:
    case 3:
        return COST_LOAD;
    case 5:
        return COST_FP_STORE;
    case 6:
    case 7:
        return COST_STORE;
    default:
        return COST_ALU;
    }
}

static enum cost_class class_of_compressed(uint32_t insn)
{
    uint32_t funct3 = (insn >> 13) & 7, quadrant = insn & 3;

    if (quadrant == 1)
        return funct3 == 5 ? COST_JUMP : funct3 >= 6 ? COST_BRANCH : COST_ALU;
    if (quadrant == 0 || funct3 != 4)
        return funct3 == 0 ? COST_ALU : class_of_compressed_memory(funct3);
    if ((insn & 0x0ffc) == 0 && insn & 0x1000) /* c.ebreak */
        return COST_TRAP;
    return (insn & 0x7c) == 0 ? COST_JUMP : COST_ALU; /* c.jr, c.jalr; c.mv, c.add */
}

/* Classifies OP-FP by its funct7 without the two format bits. */
static enum cost_class class_of_fp(uint32_t funct5)
{
    switch (funct5) {
    case 0x00: /* fadd */
    case 0x01: /* fsub */
    case 0x05: /* fmin, fmax */
    case 0x14: /* comparisons */
        return COST_FP_ADD;
    case 0x02:
        return COST_FP_MULTIPLY;
    case 0x03: /* fdiv */
    case 0x0b: /* fsqrt */
        return COST_FP_DIVIDE;
    case 0x08: /* between formats */
    case 0x18: /* to integer */
    case 0x1a: /* from integer */
        return COST_FP_CONVERT;
    default: /* sign injection, moves, fclass */
        return COST_FP_MOVE;
    }
}

static enum cost_class class_of_integer(uint32_t insn)
{
    if (insn >> 25 != 1) /* not the M extension */
        return COST_ALU;
    return (insn >> 12 & 7) < 4 ? COST_MULTIPLY : COST_DIVIDE;
}

static enum cost_class class_of_system(uint32_t insn)
{
    return (insn >> 12 & 7) != 0 ? COST_CSR : COST_TRAP;
}

enum cost_class cost_class_of(uint32_t insn)
{
    if ((insn & 3) != 3)
        return class_of_compressed(insn & 0xffff);
    switch (insn & 0x7f) {
    case 0x03:
        return COST_LOAD;
    case 0x07:
        return COST_FP_LOAD;
    case 0x0f:
        return COST_FENCE;
    case 0x23:
        return COST_STORE;
    case 0x27:
        return COST_FP_STORE;
    case 0x2f:
        return COST_ATOMIC;
    case 0x33:
    case 0x3b:
        return class_of_integer(insn);
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
        return COST_FP_FUSED;
    case 0x53:
        return class_of_fp(insn >> 27);
    case 0x63:
        return COST_BRANCH;
    case 0x67:
    case 0x6f:
        return COST_JUMP;
    case 0x73:
        return class_of_system(insn);
    default:
        return COST_ALU;
    }
}
