#include "nsdisk/serve/fiber.h"

#include <string.h>

#define UNUSED_BYTE 0xa5

#ifdef __riscv

/* Saves what a called function must preserve on the stack and its address in *from; takes it from the stack `to`, and
 * returns there. */
void fiber_swap(void **from, void *to);
void fiber_first(void);

#define SAVED_BYTES 208 /* ra, s0-s11, fs0-fs11, a multiple of 16 */

__asm__(".macro fiber_each integer, floating\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n"
        "    \\integer s\\n, 8 + 8 * \\n(sp)\n"
        "    \\floating fs\\n, 104 + 8 * \\n(sp)\n"
        ".endr\n"
        ".endm\n"
        ".text\n"
        ".globl fiber_swap\n"
        "fiber_swap:\n"
        "    addi sp, sp, -208\n"
        "    sd ra, 0(sp)\n"
        "    fiber_each sd, fsd\n"
        "    sd sp, 0(a0)\n"
        "    mv sp, a1\n"
        "    ld ra, 0(sp)\n"
        "    fiber_each ld, fld\n"
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
