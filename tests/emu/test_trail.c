/* Trails: which instructions store where, and the memory of a view. */
#include "emu/debug/trail.h"

#include <criterion/criterion.h>
#include <string.h>

Test(trail, finds_the_stores_of_riscv)
{
    static const struct {
        const char *name; /* x[n] is 1000 n; encoded by GNU as */
        uint32_t instruction;
        uint8_t bytes;
        uint64_t va;
    } cases[] = {
        {"sb a1, -1(a0)", 0xfeb50fa3, 1, 9999},
        {"sh a1, 2046(a0)", 0x7eb51f23, 2, 12046},
        {"sw a1, -2048(a0)", 0x80b52023, 4, 7952},
        {"sd a0, 8(zero)", 0x00a03423, 8, 8},
        {"fsw fa0, 4(a0)", 0x00a52227, 4, 10004},
        {"sc.w a0, a1, (a2)", 0x18b6252f, 4, 12000},
        {"sc.d a0, a1, (a2)", 0x18b6352f, 8, 12000},
        {"amoadd.w a0, a1, (a2)", 0x00b6252f, 4, 12000},
        {"amoswap.d a0, a1, (a2)", 0x08b6352f, 8, 12000},
        {"c.sdsp a1, 16(sp)", 0xe82e, 8, 2016},
        {"c.fsd fa0, 8(a5)", 0xa788, 8, 15008},
        {"c.sw a5, 68(a4)", 0xc37c, 4, 14068},
        {"c.sd s0, 248(a5)", 0xffe0, 8, 15248},
        {"c.swsp a0, 252(sp)", 0xdfaa, 4, 2252},
        {"c.sdsp ra, 504(sp)", 0xff86, 8, 2504},
        {"c.fsd fa5, 128(s1)", 0xa0dc, 8, 9128},
        {"c.fsdsp fa0, 264(sp)", 0xa62a, 8, 2264},
        {"c.sd s0, 248(a5), behind it another one", 0x1234ffe0, 8, 15248},
        {"lr.w a0, (a2)", 0x1006252f, 0, 0},
        {"ld a0, 0(a1)", 0x6188, 0, 0},
        {"c.lw a5, 4(a4)", 0x435c, 0, 0},
        {"c.ldsp a0, 8(sp)", 0x6522, 0, 0},
        {"c.fld fa5, 8(a4)", 0x271c, 0, 0},
        {"c.j", 0xa001, 0, 0},
        {"c.addi4spn a0, sp, 16", 0x0808, 0, 0},
        {"c.addi a0, 1", 0x0505, 0, 0},
    };
    struct debug_registers r = {.x[0] = 0x10000}; /* the pc */

    for (uint64_t i = 1; i < 32; i++)
        r.x[i] = 1000 * i;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t va = 0;
        uint8_t bytes = trail_find_store(cases[i].instruction, &r, &va);

        cr_expect_eq(bytes, cases[i].bytes, "%s: %u bytes", cases[i].name, bytes);
        cr_expect(bytes == 0 || va == cases[i].va, "%s: at %llu", cases[i].name, (unsigned long long)va);
    }
}

/* Stores of random sizes to a small memory, some of them over others or beyond the part that is read: each view has the
 * memory as it was. */
Test(trail, shows_the_memory_of_each_view)
{
    enum { BYTES = 64, POINTS = 200, BASE = 0x4000 };
    static uint8_t was[POINTS][BYTES];
    uint8_t memory[BYTES] = {0};
    struct trail t = {.node = 3};

    srandom(5);
    for (size_t i = 0; i < POINTS; i++) {
        struct trail_point p = {.cycles = 100 + i, .bytes = (uint8_t)(1u << random() % 4)};
        size_t at = (size_t)random() % (BYTES - TRAIL_STORE_BYTES);

        memcpy(was[i], memory, BYTES);
        p.va = BASE + at;
        memcpy(p.old, memory + at, p.bytes);
        trail_add(&t, &p);
        for (size_t k = 0; i + 1 < POINTS && k < p.bytes; k++)
            memory[at + k] = (uint8_t)random();
    }
    cr_assert_null(trail_viewed(&t, 3), "the end is no view");
    while (t.view-- > 0) {
        size_t low = (size_t)random() % BYTES, n = (size_t)random() % (BYTES - low + 1);
        uint8_t now[BYTES];

        cr_assert_eq(trail_viewed(&t, 3)->cycles, 100 + t.view);
        cr_assert_null(trail_viewed(&t, 2), "of another node");
        memcpy(now, memory + low, n);
        trail_undo(&t, BASE + low, now, n);
        cr_assert_arr_eq(now, was[t.view] + low, n, "view %zu", t.view);
        if (t.view == 0)
            break;
    }
    trail_free(&t);
}
