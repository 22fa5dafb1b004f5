#include "emu/plugin/plugin_pages.h"

#include "vertex/contract/machine.h"

/* QEMU's, as of version 10.0. Addresses are those of its list of RAM blocks, not of the machine. */
#define DIRTY_MEMORY_CODE 1u
#define RAM_ADDR_INVALID  UINT64_MAX
__attribute__((weak)) uint64_t qemu_ram_addr_from_host(void *at);
__attribute__((weak)) bool cpu_physical_memory_test_and_clear_dirty(uint64_t start, uint64_t bytes, unsigned client);

/* Harts translate in parallel; one of them acts. */
static bool is_first(void)
{
    static bool taken;

    return !__atomic_load_n(&taken, __ATOMIC_RELAXED) && !__atomic_exchange_n(&taken, true, __ATOMIC_RELAXED);
}

/* The caller holds the lock of the block's page, as QEMU does where it clears the bit of one page. */
void plugin_pages_expect_code(const struct qemu_plugin_tb *tb)
{
    if (!cpu_physical_memory_test_and_clear_dirty || !qemu_ram_addr_from_host || !is_first())
        return;
    void *at = qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
    uint64_t address = at ? qemu_ram_addr_from_host(at) : RAM_ADDR_INVALID;
    uint64_t offset = qemu_plugin_tb_vaddr(tb) - CABINET_RAM_BASE; /* the kernel is where it lies */

    if (address != RAM_ADDR_INVALID && address >= offset)
        cpu_physical_memory_test_and_clear_dirty(address - offset, CABINET_SHARED_BYTES, DIRTY_MEMORY_CODE);
}
