/*
 * Causes a fault on the node that the second argument names, while the other nodes wait for a message that never
 * arrives. Before that it prints the place and address of the fault, as the machine should report them:
 *
 *   faults NAME NODE    ->    pc 0x..., address 0x...
 */
#include <inttypes.h>

#include "check.h"

/* One function per fault: `fault_NAME`, whose first instruction is the one that faults. */
#define FAULT(name, instruction)                                                                    \
    __asm__(".text\n.balign 4\n.globl fault_" #name "\nfault_" #name ":\n" instruction "\n ret\n"); \
    void fault_##name(uint64_t address)

FAULT(load, "ld a0, 0(a0)");
FAULT(store, "sd a0, 0(a0)");
FAULT(amo, "amoadd.d a0, a0, (a0)");
FAULT(jump, "jr a0");
FAULT(zero_word, ".4byte 0");
FAULT(all_ones, ".4byte 0xffffffff");
FAULT(csr_kernel, "csrr a0, sstatus");
FAULT(csr_machine, "csrr a0, mhartid");
FAULT(csr_satp, "csrw satp, zero");
FAULT(time, "rdtime a0");
FAULT(cycle, "rdcycle a0");
FAULT(instret, "rdinstret a0");
FAULT(sret, "sret");
FAULT(mret, "mret");
FAULT(wfi, "wfi");
FAULT(sfence, "sfence.vma");
FAULT(breakpoint, "ebreak");

/* Sets each register i to 0xc0de00 + i, then causes a fault. */
void fault_with_registers(uint64_t unused);
void fault_registers(uint64_t unused);
__asm__(".text\n.balign 4\n.globl fault_with_registers\n.globl fault_registers\nfault_with_registers:\n"
        ".irp r, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16\n li x\\r, 0xc0de00 + \\r\n.endr\n"
        ".irp r, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n li x\\r, 0xc0de00 + \\r\n.endr\n"
        "fault_registers: .4byte 0\n");

static const char constant[] = "constant";
static char data[64];

static void overflow_stack(uint64_t depth)
{
    volatile char frame[1024];

    frame[0] = (char)depth;
    if (depth != UINT64_MAX)
        overflow_stack(depth + 1);
    frame[1] = frame[0];
}

/* Where a program can write code: li a0, 42; ret. */
enum place { DATA, HEAP, STACK, BUFFER };

static uint64_t write_code(enum place place, void *stack)
{
    static const uint32_t code[] = {0x02a00513, 0x00008067};
    void *to = place == DATA ? data : place == HEAP ? malloc(64) : place == STACK ? stack : ngetp(64);

    memcpy(to, code, sizeof code);
    __asm__ volatile("fence.i" : : : "memory");
    return (uint64_t)to;
}

#define WRITTEN     2 /* the argument is an enum place, and becomes the address of code there */
#define NO_ADDRESS  1 /* not said: the test does not look at it */
#define KERNEL_TEXT 0x80000000ul
#define KERNEL_DATA 0xc0002000ul
#define MAILBOX     0xc0001000ul
#define UART        0x10000000ul

static const struct fault {
    const char *name;
    void (*run)(uint64_t address);
    uint64_t argument; /* the address in question */
    uint64_t address;  /* as reported */
} faults[] = {
    {"null load", fault_load, 0, 0},
    {"null store", fault_store, 0, 0},
    {"null jump", fault_jump, 0, 0},
    {"load beyond the heap", fault_load, 0x60000000, 0x60000000},
    {"load of a non-canonical address", fault_load, 1ul << 63, 1ul << 63},
    {"load at the end of memory", fault_load, -8ul, -8ul},
    {"load of kernel text", fault_load, KERNEL_TEXT, KERNEL_TEXT},
    {"load of kernel data", fault_load, KERNEL_DATA, KERNEL_DATA},
    {"store to kernel data", fault_store, KERNEL_DATA, KERNEL_DATA},
    {"store to kernel text", fault_store, KERNEL_TEXT, KERNEL_TEXT},
    {"atomic on kernel data", fault_amo, KERNEL_DATA, KERNEL_DATA},
    {"store to the mailbox", fault_store, MAILBOX, MAILBOX},
    {"jump to kernel text", fault_jump, KERNEL_TEXT, KERNEL_TEXT},
    {"load from a device", fault_load, UART, UART},
    {"store to a constant", fault_store, (uint64_t)constant, (uint64_t)constant},
    {"store to text", fault_store, (uint64_t)fault_load, (uint64_t)fault_load},
    {"jump to data", fault_jump, (uint64_t)data, (uint64_t)data},
    {"jump to code in data", fault_jump, DATA, WRITTEN},
    {"jump to code in the heap", fault_jump, HEAP, WRITTEN},
    {"jump to code on the stack", fault_jump, STACK, WRITTEN},
    {"jump to code in a message buffer", fault_jump, BUFFER, WRITTEN},
    {"illegal instruction", fault_zero_word, 0, NO_ADDRESS},
    {"another illegal instruction", fault_all_ones, 0, NO_ADDRESS},
    {"read of a kernel register", fault_csr_kernel, 0, NO_ADDRESS},
    {"read of a machine register", fault_csr_machine, 0, NO_ADDRESS},
    {"write of the page table register", fault_csr_satp, 0, NO_ADDRESS},
    {"read of the host's time", fault_time, 0, NO_ADDRESS},
    {"read of the host's cycles", fault_cycle, 0, NO_ADDRESS},
    {"read of the host's instructions", fault_instret, 0, NO_ADDRESS},
    {"sret", fault_sret, 0, NO_ADDRESS},
    {"mret", fault_mret, 0, NO_ADDRESS},
    {"wfi", fault_wfi, 0, NO_ADDRESS},
    {"sfence", fault_sfence, 0, NO_ADDRESS},
    {"breakpoint", fault_breakpoint, 0, NO_ADDRESS},
    {"stack overflow", overflow_stack, 0, NO_ADDRESS},
    {"with registers", fault_registers, 0, NO_ADDRESS},
};

static const struct fault *find_fault(const char *name)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, name) == 0)
            return &faults[i];
    fprintf(stderr, "no fault '%s'\n", name);
    exit(2);
}

static void announce(const struct fault *f, uint64_t argument)
{
    if (f->run == overflow_stack)
        return;
    printf("pc 0x%" PRIx64, f->run == fault_jump ? argument : (uint64_t)f->run);
    if (f->address != NO_ADDRESS)
        printf(", address 0x%" PRIx64, f->address == WRITTEN ? argument : f->address);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    check(argc == 3, "usage: faults NAME NODE");
    const struct fault *f = find_fault(argv[1]);
    int faulty = atoi(argv[2]);
    char frame[64];

    check_equal(nsync(1), 0);
    if (own_node() == faulty) {
        uint64_t argument = f->address == WRITTEN ? write_code(f->argument, frame) : f->argument;

        announce(f, argument);
        (f->run == fault_registers ? fault_with_registers : f->run)(argument);
        printf("went on\n");
        return 0;
    }
    check(nread(data, sizeof data, &faulty, NULL, NULL) < 0, "a message");
    return 0;
}
