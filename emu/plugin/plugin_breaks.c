/* Breakpoints that hold (plugin_breaks.h). */
#include "emu/plugin/plugin_breaks.h"

#include "emu/qemu/breaks.h"
#include "emu/qemu/page_table.h"
#include "emu/plugin/plugin_registers.h"
#include "vertex/contract/machine.h"

struct here {
    uint64_t pc;
    bool rough;
};

static struct {
    uint8_t *ram; /* of the cabinet */
    uint64_t bytes;
} memory;

void plugin_breaks_init(uint8_t *ram, uint64_t bytes)
{
    memory.ram = ram;
    memory.bytes = bytes;
}

static uint8_t *ram_at(const void *ctx, uint64_t pa, size_t *bytes)
{
    uint64_t at = pa - CABINET_RAM_BASE;
    (void)ctx;

    if (pa < CABINET_RAM_BASE || at >= memory.bytes)
        return NULL;
    *bytes = memory.bytes - at;
    return memory.ram + at;
}

static bool read_memory(void *ctx, uint64_t va, void *bytes, size_t n)
{
    static const struct page_memory cabinet = {ram_at, NULL};

    if (((const struct here *)ctx)->rough && va + n > CABINET_RAM_BASE)
        return false;
    return page_table_read(&cabinet, registers_satp(), va, bytes, n) == n;
}

static bool read_register(void *ctx, uint32_t number, uint64_t *value)
{
    return registers_read_number(number, ((const struct here *)ctx)->pc, value);
}

bool plugin_breaks_hold(const struct debug_area *a, uint64_t pc, bool rough)
{
    static const struct agent_ops ops = {.read_register = read_register, .read_memory = read_memory};
    struct here here = {pc, rough};
    uint32_t number = breaks_find(a, pc);

    return number != BREAKS_NONE && breaks_hold(a, number, &ops, &here);
}
