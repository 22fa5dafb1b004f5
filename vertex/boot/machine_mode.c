/*
 * The code that a hart runs in M-mode, with translation off: it walls itself in and builds the first page table; or,
 * if it is the injector, it serves the NCU's interrupt requests for ever.
 *
 * Entry points: start (from boot.S), machine_trap (from boot.S).
 *
 * Data symbols name virtual addresses here as everywhere; code in this file turns each into a physical one
 * with physical(). After start() nothing of this runs again.
 */
#include <stddef.h>
#include <stdint.h>

#include "vertex/base/asm.h"
#include "vertex/base/csr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/contract/machine.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/page.h"
#include "vertex/memory/vm.h"
#include "vertex/shared/text.h"

_Static_assert(ASM_BOOT_INFO == CABINET_BOOT_INFO, "boot.S");
_Static_assert(ASM_BOOT_INFO_RAM_BYTES == offsetof(struct boot_info, ram_bytes), "boot.S");
_Static_assert(ASM_WINDOWS == CABINET_RAM_BASE + CABINET_SHARED_BYTES, "boot.S");
_Static_assert(ASM_WINDOW_VA == VERTEX_WINDOW_VA, "boot.S");
_Static_assert(VERTEX_DATA_PA == 0x2000, "vertex.ld");

#define ACLINT_SSWI 0x2f00000ull /* of QEMU's virt machine: one word per hart raises its software interrupt */

extern char data_start[], data_end[], data_image[], bss_start[], bss_end[];
extern void machine_trap_entry(void);

uint64_t start(uint64_t hart, uint64_t window);
void machine_trap(uint64_t window);

static void *physical(void *kernel, uint64_t window)
{
    return (void *)((uint64_t)kernel - VERTEX_WINDOW_VA + window);
}

static struct ncu_mailbox *mailbox_physical(uint64_t window)
{
    return (struct ncu_mailbox *)(window + NCU_MAILBOX_PA);
}

_Noreturn static void halt(void)
{
    for (;;)
        asm volatile("wfi");
}

/* The injector: the NCU names harts, it raises their software interrupts. */
_Noreturn static void inject(uint64_t window)
{
    struct ncu_mailbox *box = mailbox_physical(window);
    volatile uint32_t *sswi = (volatile uint32_t *)ACLINT_SSWI;

    for (;;) {
        ncu_execute(NCU_INJECT);
        for (uint64_t i = 0; i < box->ans[0]; i++)
            sswi[box->inject[i]] = 1;
    }
}

static uint64_t napot(uint64_t base, uint64_t bytes)
{
    return base >> 2 | (bytes / 8 - 1);
}

/* S- and U-mode reach the hart's window and, without writing, the shared region. Nothing else: no device. */
static void protect(uint64_t window, uint64_t ram_bytes)
{
    csr_write(pmpaddr0, napot(window, ram_bytes));
    csr_write(pmpaddr1, napot(CABINET_RAM_BASE, CABINET_SHARED_BYTES));
    csr_write(pmpcfg0, (PMP_NAPOT | PMP_R | PMP_W | PMP_X) | (PMP_NAPOT | PMP_R | PMP_X) << 8);
}

static void copy_data(uint64_t window)
{
    copy_bytes(physical(data_start, window), data_image, data_end - data_start);
    copy_zero(physical(bss_start, window), bss_end - bss_start);
}

/* The root maps the shared region by one 1 GB page where it lies (PMP confines it) and the window by 2 MB
 * pages, or, if it is smaller than one, by 4 KB pages. Returns satp. */
static uint64_t build_page_table(uint64_t window, uint64_t ram_bytes)
{
    pte_t *root = physical(vm_kernel_root, window);
    pte_t *middle = physical(vm_kernel_middle, window);
    pte_t *leaf = physical(vm_kernel_leaf, window);
    const pte_t rx = PTE_V | PTE_R | PTE_X | PTE_A | PTE_G;
    const pte_t rw = PTE_V | PTE_R | PTE_W | PTE_A | PTE_D | PTE_G;

    root[VM_INDEX(VERTEX_TEXT_VA, 2)] = PTE_FROM_MACHINE(CABINET_RAM_BASE) | rx;
    root[VM_INDEX(VERTEX_WINDOW_VA, 2)] = PTE_FROM_MACHINE((uint64_t)middle) | PTE_V;
    if (ram_bytes >= VM_MIDDLE_BYTES) {
        for (uint64_t at = 0; at < ram_bytes; at += VM_MIDDLE_BYTES)
            middle[at / VM_MIDDLE_BYTES] = PTE_FROM_MACHINE(window + at) | rw;
    } else {
        middle[0] = PTE_FROM_MACHINE((uint64_t)leaf) | PTE_V;
        for (uint64_t at = 0; at < ram_bytes; at += PAGE_BYTES)
            leaf[at / PAGE_BYTES] = PTE_FROM_MACHINE(window + at) | rw;
    }
    return SATP_SV39 | (uint64_t)root / PAGE_BYTES;
}

/* All that user code can raise, and the NCU's interrupt, go to S-mode. No counter is readable: time comes
 * from the NCU only. */
static void delegate(void)
{
    csr_write(medeleg, MEDELEG_USER);
    csr_write(mideleg, INTERRUPT_SSI);
    csr_write(mie, INTERRUPT_SSI);
    csr_write(mcounteren, 0);
    csr_write(scounteren, 0);
    csr_clear(mstatus, MSTATUS_MPP_MASK);
    csr_set(mstatus, MSTATUS_MPP_S | STATUS_FS_DIRTY);
}

uint64_t start(uint64_t hart, uint64_t window)
{
    const struct boot_info *info = (const struct boot_info *)CABINET_BOOT_INFO;

    csr_write(mtvec, (uint64_t)machine_trap_entry);
    if (info->magic != BOOT_INFO_MAGIC || hart > info->nodes)
        halt();
    if (hart == info->nodes)
        inject(window);
    protect(window, info->ram_bytes);
    copy_data(window);
    delegate();
    return build_page_table(window, info->ram_bytes);
}

void machine_trap(uint64_t window)
{
    struct ncu_mailbox *box = mailbox_physical(window);
    char *text = (char *)(window + VERTEX_DATA_PA);

    box->arg[1] = text_print(text, 128, "trap in M-mode: cause %lx, pc 0x%lx, address 0x%lx", csr_read(mcause),
                             csr_read(mepc), csr_read(mtval));
    box->arg[0] = VERTEX_DATA_PA;
    ncu_execute(NCU_FAULT);
    halt();
}
