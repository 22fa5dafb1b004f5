#include "nsdisk/serve/fiber.h"

#include <string.h>

#define UNUSED_BYTE 0xa5

#ifdef __riscv

/* Saves what a called function must preserve on the stack and its address in *from; takes it from the stack `to`, and
 * returns there. */
void fiber_swap(void **from, void *to);
void fiber_first(void);

#define SAVED_BYTES 208 /* ra, s0-s11, fs0-fs11, a multiple of 16 */

__asm__(".text\n"
        ".globl fiber_swap\n"
        "fiber_swap:\n"
        "    addi sp, sp, -208\n"
        "    sd ra, 0(sp)\n"
        "    sd s0, 8(sp)\n    sd s1, 16(sp)\n    sd s2, 24(sp)\n    sd s3, 32(sp)\n"
        "    sd s4, 40(sp)\n    sd s5, 48(sp)\n    sd s6, 56(sp)\n    sd s7, 64(sp)\n"
        "    sd s8, 72(sp)\n    sd s9, 80(sp)\n    sd s10, 88(sp)\n    sd s11, 96(sp)\n"
        "    fsd fs0, 104(sp)\n    fsd fs1, 112(sp)\n    fsd fs2, 120(sp)\n    fsd fs3, 128(sp)\n"
        "    fsd fs4, 136(sp)\n    fsd fs5, 144(sp)\n    fsd fs6, 152(sp)\n    fsd fs7, 160(sp)\n"
        "    fsd fs8, 168(sp)\n    fsd fs9, 176(sp)\n    fsd fs10, 184(sp)\n    fsd fs11, 192(sp)\n"
        "    sd sp, 0(a0)\n"
        "    mv sp, a1\n"
        "    ld ra, 0(sp)\n"
        "    ld s0, 8(sp)\n    ld s1, 16(sp)\n    ld s2, 24(sp)\n    ld s3, 32(sp)\n"
        "    ld s4, 40(sp)\n    ld s5, 48(sp)\n    ld s6, 56(sp)\n    ld s7, 64(sp)\n"
        "    ld s8, 72(sp)\n    ld s9, 80(sp)\n    ld s10, 88(sp)\n    ld s11, 96(sp)\n"
        "    fld fs0, 104(sp)\n    fld fs1, 112(sp)\n    fld fs2, 120(sp)\n    fld fs3, 128(sp)\n"
        "    fld fs4, 136(sp)\n    fld fs5, 144(sp)\n    fld fs6, 152(sp)\n    fld fs7, 160(sp)\n"
        "    fld fs8, 168(sp)\n    fld fs9, 176(sp)\n    fld fs10, 184(sp)\n    fld fs11, 192(sp)\n"
        "    addi sp, sp, 208\n"
        "    ret\n"
        /* A fiber's first return goes here, with fn in s0 and arg in s1. */
        ".globl fiber_first\n"
        "fiber_first:\n"
        "    mv a0, s1\n"
        "    jalr s0\n"
        "    unimp\n");

static void prepare(struct fiber *f)
{
    uint64_t *saved = (uint64_t *)(f->stack + FIBER_STACK_BYTES - SAVED_BYTES);

    memset(saved, 0, SAVED_BYTES);
    saved[0] = (uint64_t)fiber_first;
    saved[1] = (uint64_t)f->fn;
    saved[2] = (uint64_t)f->arg;
    f->sp = saved;
}

void fiber_enter(struct fiber *f)
{
    fiber_swap(&f->outside, f->sp);
}

void fiber_leave(struct fiber *f)
{
    fiber_swap(&f->sp, f->outside);
}

#else

/* makecontext passes integers only. */
static void begin(unsigned low, unsigned high)
{
    struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);

    f->fn(f->arg);
}

static void prepare(struct fiber *f)
{
    uintptr_t at = (uintptr_t)f;

    getcontext(&f->inside);
    f->inside.uc_stack.ss_sp = f->stack;
    f->inside.uc_stack.ss_size = FIBER_STACK_BYTES;
    f->inside.uc_link = NULL;
    makecontext(&f->inside, (void (*)(void))begin, 2, (unsigned)at, (unsigned)(at >> 32));
}

void fiber_enter(struct fiber *f)
{
    swapcontext(&f->outside, &f->inside);
}

void fiber_leave(struct fiber *f)
{
    swapcontext(&f->inside, &f->outside);
}

#endif

void fiber_make(struct fiber *f, void *stack, void (*fn)(void *arg), void *arg)
{
    memset(stack, UNUSED_BYTE, FIBER_STACK_BYTES);
    f->fn = fn;
    f->arg = arg;
    f->stack = stack;
    prepare(f);
}

size_t fiber_deepest(const struct fiber *f)
{
    size_t unused = 0;

    while (unused < FIBER_STACK_BYTES && f->stack[unused] == UNUSED_BYTE)
        unused++;
    return FIBER_STACK_BYTES - unused;
}
