/* Each hart executes its part itself, as a fiber: QEMU finds the hart that it executes by thread-local storage. */
#include "emu/plugin/plugin_flush.h"

#include <stdlib.h>

#include "emu/plugin/plugin_hart.h"
#include "emu/plugin/plugin_turns.h"

/* QEMU's, as of version 10.0. */
struct qemu_cpu;
__attribute__((weak)) struct qemu_cpu *qemu_get_cpu(int index);
__attribute__((weak)) bool cpu_restore_state(struct qemu_cpu *cpu, uintptr_t place);
__attribute__((weak)) void cpu_exec_start(struct qemu_cpu *cpu); /* it counts as executing, */
__attribute__((weak)) void cpu_exec_end(struct qemu_cpu *cpu);   /* and no longer */
__attribute__((weak)) void start_exclusive(void);                /* waits until no other one executes */
__attribute__((weak)) void end_exclusive(void);
__attribute__((weak)) void tb_flush(struct qemu_cpu *cpu);
__attribute__((weak, noreturn)) void cpu_loop_exit(struct qemu_cpu *cpu);
__attribute__((weak)) size_t tcg_code_size(void);

#define BLOCKS_APART 64u /* counting the bytes takes a moment for each hart */

struct stopped {                    /* a hart */
    uintptr_t place;                /* in its block, from where it has called the plugin */
    uint64_t cycles, kernel_cycles; /* its counter, when it left the block in the middle */
};

static struct {
    uint32_t harts, blocks;
    struct stopped *stopped;
    bool refused; /* a hart has not stopped where its registers can be put back */
} flush;

int flush_init(uint32_t harts)
{
    flush.harts = harts;
    flush.stopped = calloc(harts, sizeof *flush.stopped);
    return flush.stopped ? 0 : -1;
}

static bool is_possible(void)
{
    return qemu_get_cpu && cpu_restore_state && cpu_exec_start && cpu_exec_end && start_exclusive && end_exclusive &&
           tb_flush && cpu_loop_exit && tcg_code_size && plugin.control->processors > 0 &&
           plugin.control->debug == SLOT_NO_DEBUG && !flush.refused;
}

static uint32_t *due(void)
{
    return &slots_carrier(plugin.control, plugin.first)->code_due;
}

void flush_note_block(void)
{
    if (__atomic_add_fetch(&flush.blocks, 1, __ATOMIC_RELAXED) % BLOCKS_APART == 0 && is_possible() &&
        tcg_code_size() > plugin.code_most && !__atomic_exchange_n(due(), 1, __ATOMIC_SEQ_CST))
        __atomic_add_fetch(&plugin.control->code_due, 1, __ATOMIC_SEQ_CST);
}

/* ---- The parts of a hart ---- */

static void put_registers_back(unsigned hart)
{
    struct counter *c = counter_of(hart);

    if (!c->left)
        c->left = cpu_restore_state(qemu_get_cpu((int)hart), flush.stopped[hart].place);
    cpu_exec_end(qemu_get_cpu((int)hart));
}

static void empty(unsigned hart)
{
    start_exclusive();
    tb_flush(qemu_get_cpu((int)hart));
    end_exclusive();
}

static void execute(unsigned hart)
{
    cpu_exec_start(qemu_get_cpu((int)hart));
}

static int32_t make(void)
{
    bool all_left = true;

    for (uint32_t i = 0; i < flush.harts; i++) {
        turns_visit(i, put_registers_back);
        all_left = all_left && counter_of(i)->left;
    }
    if (all_left)
        turns_visit(0, empty);
    for (uint32_t i = 0; i < flush.harts; i++)
        turns_visit(i, execute);
    flush.refused = !all_left;
    __atomic_store_n(due(), 0, __ATOMIC_SEQ_CST);
    return all_left ? SLOT_FLUSH_DONE : SLOT_FLUSH_REFUSED;
}

void flush_make(void)
{
    __atomic_store_n(&plugin.control->flushed, make(), __ATOMIC_SEQ_CST);
    doorbell_ring(plugin.control);
}

/* ---- Blocks that are gone ---- */

void flush_note_place(unsigned hart, void *place)
{
    flush.stopped[hart].place = (uintptr_t)place;
}

void flush_begin_again(unsigned hart)
{
    struct counter *c = counter_of(hart);

    c->again = false;
    c->cycles = flush.stopped[hart].cycles;
    c->kernel_cycles = flush.stopped[hart].kernel_cycles;
}

void flush_leave_block(unsigned hart, bool again)
{
    struct counter *c = counter_of(hart);

    c->left = false;
    c->again = again;
    flush.stopped[hart].cycles = c->cycles;
    flush.stopped[hart].kernel_cycles = c->kernel_cycles;
    cpu_loop_exit(qemu_get_cpu((int)hart));
}
