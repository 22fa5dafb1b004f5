/*
 * Fibers for x86-64 (fiber.h): the registers that a function must preserve, and fs, go to the stack and come back.
 *
 * The first word of the thread-local storage holds its address (the x86-64 ABI for thread-local storage, variant II),
 * so that reading the base of fs takes neither an instruction that a host may lack nor a system call.
 */
#include "emu/qemu/fiber.h"

#ifdef __x86_64__

/* Set before the first switch. */
__attribute__((visibility("hidden"))) uint8_t fiber_by_call;

void fiber_init(void)
{
    fiber_by_call = !fiber_has_instruction();
}

/* rdi: from; rsi: to, or the end of the other stack. */
__asm__(".text\n"
        ".set SYS_arch_prctl, 158\n"
        ".set ARCH_SET_FS, 0x1002\n"
        ".macro fiber_save\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    sub $8, %rsp\n"
        "    stmxcsr (%rsp)\n"
        "    fnstcw 4(%rsp)\n"
        "    mov %fs:0, %rax\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rax, 8(%rdi)\n"
        ".endm\n"

        ".globl fiber_switch\n"
        ".hidden fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "    fiber_save\n"
        "    mov 8(%rsi), %rax\n"
        "    mov (%rsi), %rsp\n"
        "    cmpb $0, fiber_by_call(%rip)\n"
        "    jne 2f\n"
        "    wrfsbase %rax\n"
        "1:  ldmxcsr (%rsp)\n"
        "    fldcw 4(%rsp)\n"
        "    add $8, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "2:  mov %rax, %rsi\n"
        "    mov $ARCH_SET_FS, %edi\n"
        "    mov $SYS_arch_prctl, %eax\n"
        "    syscall\n"
        "    jmp 1b\n"
        ".size fiber_switch, . - fiber_switch\n"

        ".globl fiber_leave\n"
        ".hidden fiber_leave\n"
        ".type fiber_leave, @function\n"
        "fiber_leave:\n"
        "    fiber_save\n"
        "    mov %rsi, %rsp\n"
        "    mov %rcx, %rdi\n"
        "    call *%rdx\n"
        "    ud2\n"
        ".size fiber_leave, . - fiber_leave\n");

#else

void fiber_init(void)
{
}

void fiber_switch(struct fiber *from, const struct fiber *to)
{
    (void)from;
    (void)to;
    __builtin_trap();
}

void fiber_leave(struct fiber *from, void *stack_end, void (*leave)(uintptr_t), uintptr_t argument)
{
    (void)from;
    (void)stack_end;
    (void)leave;
    (void)argument;
    __builtin_trap();
}

#endif
