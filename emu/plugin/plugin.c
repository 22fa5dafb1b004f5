/*
 * plugin.so: gives the harts of one QEMU process ("cabinet") exact virtual time and the NCU's instructions.
 * It makes no decisions: it counts cycles, stops harts and passes requests to ncube.
 *
 * Clock. Each translation block adds the cycles of its instructions to the hart's counter, inline. The counter is set
 * so that it reaches COUNTER_LIMIT at the next mark; a block of user code that would take it there calls the plugin
 * before its first instruction. The comparison comes before the addition: after it, it waits for the addition's store,
 * which costs up to 7 % (docs/performance.md). At the mark at the end of the budget the hart stops: no block of user
 * code that ends at or after the budget is executed. At the marks before, the hart only publishes its clock. Kernel
 * code (what is fetched from the addresses of the shared region) has no marks: it sees the outside through NCU
 * instructions only, and those stop it when they need an answer.
 *
 * Interrupts. ncube has them raised while the hart is stopped; QEMU takes them at the next block boundary. Where that
 * is depends on the host unless the hart is exact (sched.h), and user code must not see it. It would see it in one
 * case: QEMU drops a reservation (lr) at every trap, and the sc that follows fails. So a hart is not stopped between
 * the two. The clock of the handling is set here, as the grant says (sched.h): at CAUSES to the time of the causes, at
 * END to that of the interrupted code.
 *
 * With statistics there is one more inline addition per block: instructions in user code, cycles in kernel code.
 *
 * For a trace, the plugin also reads two registers at ENTER, to tell why user code was left. For a debugger, it looks
 * before each instruction whether the hart is to stop there (plugin_debug.c); that costs no cycles.
 *
 * Options: control=FD,ram=FD (of the inherited memfds), first=SLOT (of hart 0), ram_bytes=BYTES (per node),
 * statistics=0 or 1, traps=0 or 1, code=BYTES (of translated code, before its buffer is to be emptied). With inside=FD
 * (inside.h) instead of control, ncube gives statistics and traps.
 */
#include "emu/qemu/cost.h"
#include "emu/qemu/inside.h"
#include "emu/plugin/plugin_breaks.h"
#include "emu/plugin/plugin_copy.h"
#include "emu/plugin/plugin_debug.h"
#include "emu/plugin/plugin_flush.h"
#include "emu/plugin/plugin_hart.h"
#include "emu/plugin/plugin_ncu.h"
#include "emu/plugin/plugin_pages.h"
#include "emu/plugin/plugin_registers.h"
#include "emu/plugin/plugin_turns.h"
#include "emu/plugin/qemu_abi.h"
#include "emu/qemu/slots.h"
#include "vertex/contract/machine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

_Static_assert(COST_CLASS_COUNT <= SLOT_COST_CLASSES, "the cost table of the control segment");

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = QEMU_ABI_VERSION;

/* After an lr a hart runs on to its sc for at most the first time, whatever is due: RISC-V guarantees success within 16
 * instructions, none of them slower than a division. An lr without an sc, as in a comparison that fails, delays a stop
 * no longer than that; a loop of such lr, as in waiting for a lock, no longer than the second time. */
#define RESERVATION_CYCLES  1000u
#define RESERVATIONS_CYCLES 20000u

/* ---- Translation ---- */

static bool in_kernel(uint64_t va)
{
    return va >= CABINET_RAM_BASE && va < CABINET_RAM_BASE + CABINET_SHARED_BYTES;
}

/* A hart's first instructions are QEMU's reset vector, which is no user code. */
#define RESET_VECTOR     0x1000u
#define RESET_VECTOR_END 0x2000u

static bool in_reset_vector(uint64_t va)
{
    return va >= RESET_VECTOR && va < RESET_VECTOR_END;
}

/* The first block of all stops the hart; the rest of the reset vector could not be interrupted. */
static bool has_marks(uint64_t va)
{
    return !in_kernel(va) && (va == RESET_VECTOR || !in_reset_vector(va));
}

/* For a QEMU without ncube inside: it ends by waiting for its harts, which wait for ncube. So a signal must end the
 * process at once; ncube notices. */
static void end_by_signals(void)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

static void hart_created_stop(unsigned hart)
{
    if (!inside_is())
        end_by_signals();
    if (plugin.control->processors == 0)
        slot_of(hart)->thread = (uint32_t)gettid();
    hart_stop(hart, SLOT_START, 0);
}

/* ---- What a block tells its callbacks ---- */

#define BLOCK_RESERVES 1u

_Static_assert(sizeof(void *) == 8, "a block is packed into a pointer");

struct block {
    uint32_t cycles; /* 512 instructions of at most 100,000 each fit, and are less than COUNTER_LIMIT */
    uint32_t about;  /* mark_reached: its address, below 4 GB as all code; reservation_note: BLOCK_RESERVES or 0 */
};

static void *block_pack(uint64_t cycles, uint64_t about)
{
    return (void *)(uintptr_t)(cycles << 32 | (uint32_t)about);
}

static struct block block_unpack(const void *packed)
{
    uintptr_t bits = (uintptr_t)packed;

    return (struct block){.cycles = (uint32_t)(bits >> 32), .about = (uint32_t)bits};
}

/* ---- Reservations ---- */

static bool reservation_is_young(const struct counter *c)
{
    uint64_t elapsed = counter_elapsed(c);

    return c->reserved && elapsed - c->reserved_at < RESERVATION_CYCLES &&
           elapsed - c->reserved_since < RESERVATIONS_CYCLES;
}

/* Runs before a block of user code that contains an lr or sc, and before its comparison. */
static void reservation_note(unsigned hart, void *what)
{
    struct counter *c = counter_of(hart);
    struct block block = block_unpack(what);
    uint64_t elapsed = counter_elapsed(c) + block.cycles;

    if (!c->reserved || elapsed - c->reserved_at >= RESERVATION_CYCLES)
        c->reserved_since = elapsed;
    c->reserved = block.about == BLOCK_RESERVES;
    c->reserved_at = elapsed;
}

/* ---- Marks ---- */

/* A hart that runs long keeps neither others of its carrier from running, nor ncube from what those have done. */
static void hart_shares(unsigned hart, uint64_t elapsed)
{
    if (elapsed >= LONG_TURN_CYCLES) {
        hart_leave_batch(hart);
        turns_yield(hart);
    } else if (elapsed >= RACK_TURN_CYCLES && plugin.control->wake_fd > 0) {
        turns_let_fresh(hart);
    }
}

/* Called with the cycles of the block added. */
static void pass_mark(unsigned hart)
{
    struct slot *s = slot_of(hart);
    struct counter *c = counter_of(hart);
    if (s->why == 0) {
        hart_created_stop(hart);
        return;
    }
    if (reservation_is_young(c))
        return; /* the counter stays beyond the mark: the next block asks again */
    uint64_t elapsed = counter_elapsed(c);
    if (elapsed >= s->budget_cycles || __atomic_load_n(&s->stop_soon, __ATOMIC_SEQ_CST)) {
        hart_stop(hart, SLOT_BUDGET, 0);
        return;
    }
    if (plugin.control->debug)
        plugin_debug_ask(hart);
    if (s->posts == 0)
        publish_progress(plugin.control, s, s->base_cycles + elapsed, user_quiet(s));
    if (plugin.control->processors > 0)
        hart_shares(hart, elapsed);
    c->apart = c->apart * 2 < LAST_MARK_CYCLES ? c->apart * 2 : LAST_MARK_CYCLES;
    uint64_t mark = elapsed + c->apart;
    counter_set(c, elapsed, mark < s->budget_cycles ? mark : s->budget_cycles);
}

/* For who asks where the hart computes. */
static void note_place(unsigned hart, uint64_t pc)
{
    struct slot *s = slot_of(hart);

    __atomic_store_n(&s->user_pc, pc, __ATOMIC_RELAXED);
    if (s->why != 0 && hart_cycles(hart) >= s->user_since + SLOT_PLACED_CYCLES)
        registers_read_frame(&s->user_frame);
    else
        s->user_frame.sp = 0;
}

/* Runs before a block of user code whose end is at or beyond the mark. */
static void mark_reached(unsigned hart, void *what)
{
    struct block block = block_unpack(what);

    flush_note_place(hart, __builtin_return_address(0));
    if (plugin.control->debug)
        plugin_debug_at_block(hart, block.about);
    note_place(hart, block.about);
    counter_of(hart)->cycles += block.cycles;
    pass_mark(hart);
    counter_of(hart)->cycles -= block.cycles; /* the block adds them next */
    if (counter_of(hart)->left)
        flush_leave_block(hart, false);
}

static void add_inline(struct qemu_plugin_tb *tb, qemu_plugin_u64 counter, uint64_t by)
{
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64, counter, by);
}

/* The effect of the last lr or sc of a block on the reservation. */
static enum reservation {
    RESERVATION_NONE,
    RESERVATION_HELD,
    RESERVATION_ENDED
} reservation_after(enum reservation before, uint32_t insn)
{
    if ((insn & 0x7f) != 0x2f)
        return before;
    return insn >> 27 == 2 ? RESERVATION_HELD : insn >> 27 == 3 ? RESERVATION_ENDED : before;
}

static int flags_for(uint32_t op)
{
    return plugin.control->debug || ncu_waits(op) ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS;
}

static uint64_t insn_cycles(const struct qemu_plugin_insn *insn, uint32_t *bits)
{
    *bits = 0;
    qemu_plugin_insn_data(insn, bits, sizeof *bits);
    return plugin.control->cycles_of_class[cost_class_of(*bits)];
}

/* Lets the debugger look before each instruction at which it wants to. */
static void translate_for_debugger(struct qemu_plugin_tb *tb, bool kernel, bool has_ncu)
{
    size_t n = qemu_plugin_tb_n_insns(tb);
    uint64_t rest_cycles = 0;
    uint32_t bits;

    for (size_t i = 0; i < n; i++)
        rest_cycles += insn_cycles(qemu_plugin_tb_get_insn(tb, i), &bits);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        uint64_t cycles = insn_cycles(insn, &bits);

        plugin_debug_translate(insn, kernel, has_ncu && ncu_op_of(bits) != 0, (uint32_t)rest_cycles);
        rest_cycles -= cycles;
    }
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    __atomic_add_fetch(&plugin.control->translated, 1, __ATOMIC_RELAXED);
    flush_note_block();
    bool kernel = in_kernel(qemu_plugin_tb_vaddr(tb));
    if (kernel)
        plugin_pages_expect_code(tb);
    if (plugin.control->debug)
        translate_for_debugger(tb, kernel || in_reset_vector(qemu_plugin_tb_vaddr(tb)), kernel);
    enum reservation reservation = RESERVATION_NONE;
    uint64_t cycles = 0;
    size_t n = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t bits;

        cycles += insn_cycles(insn, &bits);
        reservation = reservation_after(reservation, bits);
        uint32_t op = kernel ? ncu_op_of(bits) : 0;
        if (op != 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, hart_execute_ncu, flags_for(op), (void *)(uintptr_t)op);
    }
    if (plugin.statistics)
        add_inline(tb, kernel ? plugin.kernel_cycles : plugin.instructions, kernel ? cycles : n);
    if (!kernel && reservation != RESERVATION_NONE)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, reservation_note, QEMU_PLUGIN_CB_NO_REGS,
                                             block_pack(cycles, reservation == RESERVATION_HELD ? BLOCK_RESERVES : 0));
    if (has_marks(qemu_plugin_tb_vaddr(tb)))
        qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, mark_reached, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_GE,
                                                  plugin.cycles, COUNTER_LIMIT - cycles,
                                                  block_pack(cycles, qemu_plugin_tb_vaddr(tb)));
    add_inline(tb, plugin.cycles, cycles);
    if (!kernel && plugin.control->debug == SLOT_DEBUG_KERNEL)
        qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, plugin_debug_at_return, QEMU_PLUGIN_CB_R_REGS,
                                                  QEMU_PLUGIN_COND_NE, plugin.returns, 0,
                                                  (void *)(uintptr_t)qemu_plugin_tb_vaddr(tb));
}

/* The first block of a hart finds the counter at its limit. */
static void hart_created(qemu_plugin_id_t id, unsigned hart)
{
    (void)id;
    counter_set(counter_of(hart), 0, 0);
    slot_of(hart)->trap = SLOT_TRAP_UNKNOWN;
    if (hart == 0)
        registers_find();
}

/* ---- The debugger ---- */

/* The hart stays where it is: ncube need not wait for its next mark. After END and with causes to handle, its clock is
 * not that of its next request; after a post, that request may be the post. */
static void hart_stands(unsigned hart, bool in_user)
{
    struct slot *s = slot_of(hart);
    uint64_t cycles = hart_cycles(hart), quiet = in_user && s->posts == 0 ? plugin.control->user_quiet_cycles : 0;

    if (s->posts > 0 && s->post[0].cycles < cycles)
        cycles = s->post[0].cycles;
    if (!s->handling && !counter_of(hart)->settle && cycles > s->progress)
        publish_progress(plugin.control, s, cycles, cycles + quiet > s->quiet ? quiet : s->quiet - cycles);
    doorbell_ring(plugin.control);
}

static void hart_await_returns(unsigned hart, uint32_t n)
{
    counter_of(hart)->returns = n;
}

static void hart_recall(unsigned hart)
{
    hart_limit_budget(hart, 0);
}

static const struct plugin_debug_ops debug_ops = {
    .cycles = hart_cycles, .stands = hart_stands, .await_returns = hart_await_returns, .recall = hart_recall};

/* ---- Installation ---- */

static bool option_read(const char *option, const char *name, uint64_t *value)
{
    size_t n = strlen(name);

    if (strncmp(option, name, n) != 0 || option[n] != '=')
        return false;
    char *end;
    errno = 0;
    *value = strtoull(option + n + 1, &end, 10);
    return errno == 0 && end != option + n + 1 && *end == '\0';
}

static void *map_descriptor(const char *name, uint64_t fd)
{
    struct stat st;
    void *p = MAP_FAILED;

    if (fstat((int)fd, &st) == 0)
        p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "plugin.so: cannot map %s (descriptor %d): %s\n", name, (int)fd, strerror(errno));
        return NULL;
    }
    return p;
}

static void note_all(void)
{
    plugin_debug_note_all();
    __atomic_store_n(&plugin.control->noted, 1, __ATOMIC_SEQ_CST);
    doorbell_ring(plugin.control);
}

static void obey(uint32_t order)
{
    if (order == SLOT_COPY)
        copy_make();
    else if (order == SLOT_FLUSH)
        flush_make();
    else
        note_all();
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    uint64_t control_fd = UINT64_MAX, page_fd = UINT64_MAX;

    plugin.ram_fd = UINT64_MAX;
    plugin.code_most = UINT64_MAX;
    for (int i = 0; i < argc; i++)
        if (!option_read(argv[i], "control", &control_fd) && !option_read(argv[i], "inside", &page_fd) &&
            !option_read(argv[i], "ram", &plugin.ram_fd) && !option_read(argv[i], "first", &plugin.first) &&
            !option_read(argv[i], "ram_bytes", &plugin.ram_bytes) &&
            !option_read(argv[i], "statistics", &plugin.statistics) && !option_read(argv[i], "traps", &plugin.traps) &&
            !option_read(argv[i], "code", &plugin.code_most)) {
            fprintf(stderr,
                    "plugin.so: bad option '%s'; known: control=FD inside=FD ram=FD first=SLOT ram_bytes=BYTES "
                    "statistics=0|1 traps=0|1 code=BYTES\n",
                    argv[i]);
            return -1;
        }
    if (page_fd != UINT64_MAX) {
        if (!inside_start || inside_start((int)page_fd, (int)plugin.ram_fd) != 0)
            return -1;
        control_fd = (uint64_t)inside.control_fd;
        plugin.statistics = inside.statistics;
        plugin.traps = inside.traps;
    }
    if (control_fd == UINT64_MAX || plugin.ram_fd == UINT64_MAX || plugin.ram_bytes == 0) {
        fprintf(stderr, "plugin.so: control=, ram= and ram_bytes= are needed; ncube gives them\n");
        return -1;
    }
    plugin.control = map_descriptor("control", control_fd);
    plugin.ram = map_descriptor("ram", plugin.ram_fd);
    if (!plugin.control || !plugin.ram)
        return -1;
    plugin.counters = qemu_plugin_scoreboard_new(sizeof(struct counter));
    plugin.cycles = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, cycles)};
    plugin.instructions = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, instructions)};
    plugin.returns = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, returns)};
    plugin.kernel_cycles = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, kernel_cycles)};
    if (plugin.control->debug)
        plugin_debug_init(plugin.control, plugin.first, (uint32_t)info->system.smp_vcpus, &debug_ops);
    plugin_breaks_init(plugin.ram, CABINET_SHARED_BYTES + (uint64_t)info->system.smp_vcpus * plugin.ram_bytes);
    copy_init((uint32_t)info->system.smp_vcpus);
    if (flush_init((uint32_t)info->system.smp_vcpus) != 0)
        return -1;
    if (plugin.control->processors > 0 &&
        turns_init(plugin.control, plugin.first, (uint32_t)info->system.smp_vcpus, report_stop, obey) != 0) {
        fprintf(stderr, "plugin.so: cannot make carriers of the harts: %s\n", strerror(errno));
        return -1;
    }
    qemu_plugin_register_vcpu_init_cb(id, hart_created);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
