/* Instruction classes, from the encodings of real instructions. */
#include "emu/qemu/cost.h"

#include <criterion/criterion.h>

static const struct {
    const char *insn;
    uint32_t bits;
    enum cost_class class;
} cases[] = {
    {"addi a0,a0,1", 0x00150513, COST_ALU},
    {"lui a0,1", 0x00001537, COST_ALU},
    {"slti x0,x0,1 (an NCU instruction)", 0x00102013, COST_ALU},
    {"add a0,a0,a1", 0x00b50533, COST_ALU},
    {"mul a0,a0,a1", 0x02b50533, COST_MULTIPLY},
    {"mulw a0,a0,a1", 0x02b5053b, COST_MULTIPLY},
    {"div a0,a0,a1", 0x02b54533, COST_DIVIDE},
    {"remuw a0,a0,a1", 0x02b5753b, COST_DIVIDE},
    {"ld a0,0(a1)", 0x0005b503, COST_LOAD},
    {"sd a0,0(a1)", 0x00a5b023, COST_STORE},
    {"fld fa0,0(a1)", 0x0005b507, COST_FP_LOAD},
    {"fsd fa0,0(a1)", 0x00a5b027, COST_FP_STORE},
    {"beq a0,a1,.", 0x00b50063, COST_BRANCH},
    {"jal ra,.", 0x000000ef, COST_JUMP},
    {"jalr ra,a0", 0x000500e7, COST_JUMP},
    {"amoadd.d a0,a1,(a2)", 0x00b6352f, COST_ATOMIC},
    {"fadd.d fa0,fa1,fa2", 0x02c5f553, COST_FP_ADD},
    {"fsub.d fa0,fa1,fa2", 0x0ac5f553, COST_FP_ADD},
    {"fmul.d fa0,fa1,fa2", 0x12c5f553, COST_FP_MULTIPLY},
    {"fdiv.d fa0,fa1,fa2", 0x1ac5f553, COST_FP_DIVIDE},
    {"fsqrt.d fa0,fa1", 0x5a05f553, COST_FP_DIVIDE},
    {"fmadd.d fa0,fa1,fa2,fa3", 0x6ac5f543, COST_FP_FUSED},
    {"fmsub.d fa0,fa1,fa2,fa3", 0x6ac5f547, COST_FP_FUSED},
    {"fnmsub.d fa0,fa1,fa2,fa3", 0x6ac5f54b, COST_FP_FUSED},
    {"fnmadd.d fa0,fa1,fa2,fa3", 0x6ac5f54f, COST_FP_FUSED},
    {"feq.d a0,fa1,fa2", 0xa2c5a553, COST_FP_ADD},
    {"fmin.d fa0,fa1,fa2", 0x2ac58553, COST_FP_ADD},
    {"fcvt.d.l fa0,a0", 0xd2257553, COST_FP_CONVERT},
    {"fcvt.w.d a0,fa1", 0xc2059553, COST_FP_CONVERT},
    {"fcvt.s.d fa0,fa1", 0x4015f553, COST_FP_CONVERT},
    {"fclass.d a0,fa1", 0xe2059553, COST_FP_MOVE},
    {"fmv.d.x fa0,a0", 0xf2050553, COST_FP_MOVE},
    {"csrrw x0,sscratch,a0", 0x14051073, COST_CSR},
    {"ecall", 0x00000073, COST_TRAP},
    {"sret", 0x10200073, COST_TRAP},
    {"fence.i", 0x0000100f, COST_FENCE},
    {"c.addi a0,1", 0x0505, COST_ALU},
    {"c.addi4spn a0,sp,16", 0x0808, COST_ALU},
    {"c.ld a0,0(a1)", 0x6188, COST_LOAD},
    {"c.lw a0,0(a1)", 0x4188, COST_LOAD},
    {"c.fld fa0,0(a1)", 0x2188, COST_FP_LOAD},
    {"c.sd a0,0(a1)", 0xe188, COST_STORE},
    {"c.fsd fa0,0(a1)", 0xa188, COST_FP_STORE},
    {"c.ldsp a0,0(sp)", 0x6502, COST_LOAD},
    {"c.sdsp a0,0(sp)", 0xe02a, COST_STORE},
    {"c.slli a0,1", 0x0506, COST_ALU},
    {"c.j .", 0xa001, COST_JUMP},
    {"c.beqz a0,.", 0xc101, COST_BRANCH},
    {"c.bnez a0,.", 0xe101, COST_BRANCH},
    {"c.jr ra (ret)", 0x8082, COST_JUMP},
    {"c.jalr a0", 0x9502, COST_JUMP},
    {"c.mv a0,a1", 0x852e, COST_ALU},
    {"c.add a0,a1", 0x952e, COST_ALU},
    {"c.ebreak", 0x9002, COST_TRAP},
};

Test(cost, instructions_have_their_class)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(cost_class_of(cases[i].bits), cases[i].class, "%s: %s", cases[i].insn,
                     cost_class_name[cost_class_of(cases[i].bits)]);
}

Test(cost, classes_are_found_by_name)
{
    for (int class = 0; class < COST_CLASS_COUNT; class ++)
        cr_expect_eq(cost_class_find(cost_class_name[class]), class);
    cr_expect_eq(cost_class_find("nonsense"), -1);
}
