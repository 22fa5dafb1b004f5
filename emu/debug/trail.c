/* A node's way to a place, and views of it (trail.h). */
#include "emu/debug/trail.h"

#include <stdlib.h>

#include "emu/base/memory.h"

void trail_clear(struct trail *t)
{
    t->n = t->view = 0;
}

void trail_free(struct trail *t)
{
    free(t->point);
    *t = (struct trail){.node = 0};
}

void trail_add(struct trail *t, const struct trail_point *p)
{
    t->point = memory_grow(t->point, &t->room, t->n + 1, sizeof *t->point);
    t->point[t->n] = *p;
    t->view = t->n++;
}

const struct trail_point *trail_viewed(const struct trail *t, uint32_t node)
{
    return t && t->n > 0 && t->node == node && t->view + 1 < t->n ? &t->point[t->view] : NULL;
}

static void undo_store(const struct trail_point *p, uint64_t va, uint8_t *bytes, size_t n)
{
    for (uint64_t i = 0; i < p->bytes; i++)
        if (p->va + i >= va && p->va + i - va < n)
            bytes[p->va + i - va] = p->old[i];
}

void trail_undo(const struct trail *t, uint64_t va, uint8_t *bytes, size_t n)
{
    for (size_t i = t->n - 1; i-- > t->view;)
        undo_store(&t->point[i], va, bytes, n);
}

/* ---- Stores: The RISC-V Instruction Set Manual, volume I, "RV32/64G Instruction Set Listings" and "C" ---- */

#define OP_STORE    0x23u
#define OP_STORE_FP 0x27u
#define OP_AMO      0x2fu
#define AMO_LR      2u

static uint32_t field(uint32_t instruction, unsigned low, unsigned bits)
{
    return instruction >> low & ((1u << bits) - 1);
}

static uint64_t base(const struct debug_registers *r, uint32_t x)
{
    return x ? r->x[x] : 0;
}

/* Bits of an offset in a compressed instruction: `bits` of them from `low` on are those from `at` on. */
static uint32_t part(uint32_t instruction, unsigned low, unsigned bits, unsigned at)
{
    return field(instruction, low, bits) << at;
}

/* Compressed stores of 4 and 8 bytes, integer or double: the kind is 5 (C.FSD), 6 (C.SW), 7 (C.SD). */
static uint8_t find_compressed(uint32_t c, const struct debug_registers *r, uint64_t *va)
{
    uint32_t kind = field(c, 13, 3), quadrant = c & 3;
    bool word = kind == 6;

    if (kind < 5 || quadrant == 1)
        return 0;
    if (quadrant == 0)
        *va = base(r, 8 + field(c, 7, 3)) + part(c, 10, 3, 3) +
              (word ? part(c, 6, 1, 2) + part(c, 5, 1, 6) : part(c, 5, 2, 6));
    else
        *va = base(r, 2) + (word ? part(c, 9, 4, 2) + part(c, 7, 2, 6) : part(c, 10, 3, 3) + part(c, 7, 3, 6));
    return word ? 4 : 8;
}

uint8_t trail_find_store(uint32_t i, const struct debug_registers *r, uint64_t *va)
{
    uint32_t op = i & 0x7f;

    if ((i & 3) != 3)
        return find_compressed(i & 0xffff, r, va);
    if (op != OP_STORE && op != OP_STORE_FP && (op != OP_AMO || field(i, 27, 5) == AMO_LR))
        return 0;
    int64_t offset = op == OP_AMO ? 0 : (int64_t)((int32_t)i >> 25) * 32 + field(i, 7, 5);
    *va = base(r, field(i, 15, 5)) + (uint64_t)offset;
    return (uint8_t)(1u << field(i, 12, 2));
}
