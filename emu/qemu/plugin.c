/*
 * plugin.so: gives the harts of one QEMU process ("cabinet") exact virtual time and the NCU's instructions.
 * It makes no decisions: it counts cycles, stops harts and passes requests to ncube.
 *
 * Clock. Each translation block adds the cycles of its instructions to the hart's counter, inline. The counter is set
 * so that it reaches COUNTER_LIMIT at the next mark; a block of user code that finds it there calls the plugin before
 * its first instruction. At the mark at the end of the budget the hart stops: no block of user code that ends at or
 * after the budget is executed. At the marks before, the hart only publishes its clock. Kernel code (what is fetched
 * from the addresses of the shared region) has no marks: it sees the outside through NCU instructions only, and those
 * stop it when they need an answer.
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
 * statistics=0 or 1, traps=0 or 1.
 */
#define _GNU_SOURCE
#include "emu/qemu/cost.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/plugin_debug.h"
#include "emu/qemu/plugin_registers.h"
#include "emu/qemu/plugin_turns.h"
#include "emu/qemu/qemu_abi.h"
#include "emu/qemu/slots.h"
#include "vertex/contract/machine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(COST_CLASS_COUNT <= SLOT_COST_CLASSES, "the cost table of the control segment");

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = QEMU_ABI_VERSION;

#define COUNTER_LIMIT (1ull << 62)

#define FIRST_MARK_CYCLES 2000u /* after the grant; then twice as far each time, up to */
#define LAST_MARK_CYCLES  100000u

/* After an lr a hart runs on to its sc for at most the first time, whatever is due: RISC-V guarantees success within 16
 * instructions, none of them slower than a division. An lr without an sc, as in a comparison that fails, delays a stop
 * no longer than that; a loop of such lr, as in waiting for a lock, no longer than the second time. */
#define RESERVATION_CYCLES  1000u
#define RESERVATIONS_CYCLES 20000u

/* One per hart, on separate cache lines: on shared ones, harts run three times slower. */
struct counter {
    _Alignas(128) uint64_t cycles;
    uint64_t mark;          /* cycles from the grant to the next mark */
    uint64_t apart;         /* from the mark before */
    uint64_t instructions;  /* of user code */
    uint64_t kernel_cycles; /* since the last user code */
    bool settle; /* END has set the clock; LEAVE or ENTER sets it again, so that the way there costs nothing: */
    uint64_t settled_cycles;
    /* The reservation that user code holds after this block, since the last trap; cycles from the grant, modulo
     * 2^64. */
    bool reserved;
    uint64_t reserved_at;    /* its lr */
    uint64_t reserved_since; /* the first of the lr before it that followed each other soon, without an sc */
    bool reaps;              /* the end of a send is a cause */
};

static struct {
    struct control *control;
    uint8_t *ram; /* the whole RAM of the cabinet */
    uint64_t ram_bytes;
    uint64_t first;
    uint64_t statistics; /* not 0: count instructions and kernel cycles */
    uint64_t traps;      /* not 0: read why user code was left */
    struct qemu_plugin_scoreboard *counters;
    qemu_plugin_u64 cycles, instructions, kernel_cycles;
} plugin;

static struct slot *slot_of(unsigned hart)
{
    return &plugin.control->slot[plugin.first + hart];
}

static struct counter *counter_of(unsigned hart)
{
    return qemu_plugin_scoreboard_find(plugin.counters, hart);
}

static struct ncu_mailbox *mailbox_of(unsigned hart)
{
    return (struct ncu_mailbox *)(plugin.ram + CABINET_SHARED_BYTES + hart * plugin.ram_bytes + NCU_MAILBOX_PA);
}

/* Returns the cycles since the grant. */
static uint64_t counter_elapsed(const struct counter *c)
{
    return c->cycles - (COUNTER_LIMIT - c->mark);
}

static void counter_set(struct counter *c, uint64_t elapsed, uint64_t mark)
{
    c->mark = mark;
    c->cycles = COUNTER_LIMIT - mark + elapsed;
}

static uint64_t hart_cycles(unsigned hart)
{
    return slot_of(hart)->base_cycles + counter_elapsed(counter_of(hart));
}

/* The marks stay where they are, at their distance from the grant. */
static void hart_set_cycles(unsigned hart, uint64_t cycles)
{
    counter_set(counter_of(hart), cycles - slot_of(hart)->base_cycles, counter_of(hart)->mark);
}

static void doorbell_ring(struct control *c)
{
    __atomic_add_fetch(&c->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->asleep, __ATOMIC_SEQ_CST))
        futex_wake(&c->doorbell);
}

static void list_stopped(struct control *c, struct slot *s)
{
    uint32_t own = (uint32_t)(s - c->slot) + 1, head = __atomic_load_n(&c->stopped, __ATOMIC_SEQ_CST);

    do
        s->next_stopped = head;
    while (!__atomic_compare_exchange_n(&c->stopped, &head, own, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

/* The hart is at `cycles` and executes no SEND or ARM for so long. */
static void publish_progress(struct control *c, struct slot *s, uint64_t cycles, uint64_t quiet_cycles)
{
    __atomic_store_n(&s->quiet, cycles + quiet_cycles, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->progress, cycles, __ATOMIC_SEQ_CST);
    if (!s->batched && cycles >= __atomic_load_n(&c->wanted, __ATOMIC_SEQ_CST))
        doorbell_ring(c);
}

static void slot_await_go(struct slot *s, uint32_t last)
{
    __atomic_store_n(&s->asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) == last)
        futex_wait(&s->go, last, FUTEX_FOREVER);
    __atomic_store_n(&s->asleep, 0, __ATOMIC_SEQ_CST);
}

/* Starts a grant: its cycles count from 0. */
static void counter_begin(struct counter *c, uint64_t budget_cycles)
{
    c->reserved_at -= counter_elapsed(c);
    c->reserved_since -= counter_elapsed(c);
    c->apart = FIRST_MARK_CYCLES;
    counter_set(c, 0, budget_cycles < FIRST_MARK_CYCLES ? budget_cycles : FIRST_MARK_CYCLES);
}

/* Tells the kernel what the interrupt is for that ncube has raised, or will tell of at ENTER. */
static void note_attention(unsigned hart)
{
    const struct slot *s = slot_of(hart);

    if (s->handling || s->attention == NCU_ATTEND_ONLY)
        mailbox_of(hart)->attention = s->attention;
}

/* Tells ncube that the hart has stopped. */
static void report_stop(unsigned hart)
{
    struct slot *s = slot_of(hart);
    bool listed = s->why != SLOT_OP || s->op != NCU_INJECT, rings = !s->batched;

    __atomic_add_fetch(&s->stops, 1, __ATOMIC_SEQ_CST);
    if (listed)
        list_stopped(plugin.control, s);
    if (rings || __atomic_sub_fetch(&plugin.control->batch, 1, __ATOMIC_SEQ_CST) == 0)
        doorbell_ring(plugin.control);
}

/* Hands the hart to ncube and returns when it is granted again. */
static void hart_stop(unsigned hart, enum slot_stop why, uint32_t op)
{
    struct slot *s = slot_of(hart);
    uint32_t last = __atomic_load_n(&s->go, __ATOMIC_SEQ_CST);

    s->cycles = why == SLOT_START ? 0 : hart_cycles(hart);
    s->why = why;
    s->op = op;
    s->instructions = counter_of(hart)->instructions;
    if (plugin.control->debug)
        plugin_debug_note(hart);
    if (plugin.control->processors > 0) {
        turns_stop(hart);
    } else {
        report_stop(hart);
        slot_await_go(s, last);
    }
    counter_begin(counter_of(hart), s->budget_cycles);
    note_attention(hart);
}

/* Cuts the budget so that user code stops after at most that many more cycles. */
static void hart_limit_budget(unsigned hart, uint64_t cycles)
{
    struct slot *s = slot_of(hart);
    struct counter *c = counter_of(hart);
    uint64_t elapsed = counter_elapsed(c), end = elapsed + cycles;

    if (end < s->budget_cycles)
        s->budget_cycles = end;
    if (end < c->mark)
        counter_set(c, elapsed, end);
}

/* ---- NCU instructions ---- */

/* Returns true if a SEND of this hart surely succeeds: in a machine without faults, to another compute node, from the
 * node's memory. */
static bool send_succeeds(const struct ncu_mailbox *m, const uint64_t *arg)
{
    return plugin.control->arrival_cycles > 0 && arg[0] < 1ull << m->dim && arg[0] != m->node &&
           arg[1] <= m->ram_bytes && arg[2] <= m->ram_bytes - arg[1] && arg[5] == NCU_VIA_NEAREST;
}

/* Returns the cycles after a post before which it brings no cause to its own hart. A SEND reaches its receiver first;
 * an answer to it takes as long again. Its end may come sooner, but need not be a cause. */
static uint64_t cycles_to_own_cause(unsigned hart, uint32_t op, const uint64_t *arg)
{
    const struct counter *c = counter_of(hart);

    if (op == NCU_SEND && send_succeeds(mailbox_of(hart), arg))
        return plugin.control->arrival_cycles + (c->reaps ? 0 : plugin.control->answer_cycles);
    if (op == NCU_MARK || (op == NCU_ARM && slot_of(hart)->arm_is_clear))
        return UINT64_MAX;
    return 0;
}

/* Ends the time in which ENTERs pass where a post may bring a cause. */
static void post_limit_pass(unsigned hart, uint32_t op, const uint64_t *arg)
{
    struct slot *s = slot_of(hart);
    uint64_t elapsed = counter_elapsed(counter_of(hart)), after = cycles_to_own_cause(hart, op, arg);

    if (s->pass_cycles > elapsed && s->pass_cycles - elapsed > after)
        s->pass_cycles = elapsed + after;
    if (op == NCU_REAP)
        counter_of(hart)->reaps = arg[0] != 0;
}

static void ncu_post(unsigned hart, uint32_t op)
{
    struct slot *s = slot_of(hart);

    if (s->posts == NCU_POSTED)
        hart_stop(hart, SLOT_POSTS, 0);
    struct slot_post *p = &s->post[s->posts++];
    p->cycles = hart_cycles(hart);
    p->op = op;
    memcpy(p->arg, mailbox_of(hart)->arg, sizeof p->arg);
    post_limit_pass(hart, op, p->arg);
}

/* Sets the clock of the code that END has resumed. */
static void hart_settle(unsigned hart)
{
    struct counter *c = counter_of(hart);

    if (c->settle)
        hart_set_cycles(hart, c->settled_cycles);
    c->settle = false;
}

/* Records the cycles of the way in at the first ENTER after user code; after END the way costs nothing. */
static void note_way_in(struct slot *s, const struct counter *c)
{
    if (!c->settle && s->entry_cycles == 0)
        s->entry_cycles = c->kernel_cycles;
}

/* ---- The reason of a trap ---- */

#define SCAUSE_INTERRUPT (1ull << 63)
#define SCAUSE_ECALL     8u

/* Notes the hart's state at ENTER. If QEMU does not know all registers, no two states are the same. */
static void note_registers(struct slot *s)
{
    static uint64_t unlike;

    if (!registers_read_state(s->registers))
        s->registers[0] = __atomic_add_fetch(&unlike, 1, __ATOMIC_SEQ_CST);
}

/* Called at the first ENTER after user code, when no register that is read has changed since. */
static void note_trap(struct slot *s)
{
    uint64_t cause, call;

    if (!registers_read_scause(&cause) || !registers_read_call(&call))
        s->trap = SLOT_TRAP_UNKNOWN;
    else if (cause == SCAUSE_ECALL)
        s->trap = call < SLOT_TRAP_UNKNOWN ? (uint32_t)call : SLOT_TRAP_UNKNOWN;
    else
        s->trap = cause & SCAUSE_INTERRUPT ? SLOT_TRAP_INTERRUPT : SLOT_TRAP_EXCEPTION;
}

/* ---- Traps ---- */

/* Returns true if an ENTER now can find no cause. */
static bool trap_may_pass(unsigned hart)
{
    const struct slot *s = slot_of(hart);

    return counter_elapsed(counter_of(hart)) < s->pass_cycles && s->passed < SLOT_PASSED && !s->watch;
}

/* ncube learns of it at the next stop. */
static void trap_pass(unsigned hart)
{
    struct slot *s = slot_of(hart);

    s->passed_trap[s->passed] = (struct slot_trap){.cycles = hart_cycles(hart),
                                                   .user_since = s->user_since,
                                                   .instructions = counter_of(hart)->instructions,
                                                   .entry_cycles = s->entry_cycles};
    __atomic_store_n(&s->passed, s->passed + 1, __ATOMIC_SEQ_CST);
    if (s->posts == 0)
        publish_progress(plugin.control, s, hart_cycles(hart), plugin.control->trap_quiet_cycles);
    mailbox_of(hart)->ans[0] = 0;
}

/* Whatever is set then, hart_settle will set the clock to its present value: what comes before costs nothing. */
static void hart_hold_clock(unsigned hart, uint64_t cycles)
{
    struct counter *c = counter_of(hart);

    c->settle = true;
    c->settled_cycles = cycles;
}

static void stop_at_trap(unsigned hart)
{
    if (slot_of(hart)->watch)
        note_registers(slot_of(hart));
    hart_stop(hart, SLOT_OP, NCU_ENTER);
}

static void withdraw_attention(unsigned hart)
{
    slot_of(hart)->attention = NCU_ATTEND_NOT;
    hart_hold_clock(hart, hart_cycles(hart));
    mailbox_of(hart)->ans[0] = 1;
}

/* With `handling`, the trap came before an interrupt that has been raised: then the causes are handled first, and the
 * trap continues after them. Their number is the answer, which is in the mailbox already. An interrupt that has no
 * causes is not needed, as the trap attends: the answer makes the kernel withdraw it. */
static void ncu_enter(unsigned hart)
{
    struct slot *s = slot_of(hart);

    mailbox_of(hart)->attend = 0;
    if (plugin.traps && s->trap == SLOT_TRAP_UNKNOWN)
        note_trap(s);
    note_way_in(s, counter_of(hart));
    hart_settle(hart);
    if (s->handling)
        s->shift_cycles += hart_cycles(hart) - s->base_cycles;
    else if (s->attention == NCU_ATTEND_ONLY)
        withdraw_attention(hart);
    else if (trap_may_pass(hart))
        trap_pass(hart);
    else
        stop_at_trap(hart);
}

/* With `handling`, the causes are in the mailbox already. */
static void ncu_causes(unsigned hart)
{
    struct slot *s = slot_of(hart);

    if (!s->handling)
        hart_stop(hart, SLOT_OP, NCU_CAUSES);
    else
        hart_set_cycles(hart, s->causes_cycles);
    s->handling = 0;
}

/* Resumes the interrupted code, later by the time of the handling. Its quantum ends as much later. */
static void ncu_end(unsigned hart)
{
    struct slot *s = slot_of(hart);

    ncu_post(hart, NCU_END);
    s->user_since = hart_cycles(hart);
    s->quantum_end += s->user_since - (s->causes_cycles - NCU_INTERRUPT_CYCLES);
    hart_hold_clock(hart, s->user_since + s->shift_cycles);
    hart_set_cycles(hart, counter_of(hart)->settled_cycles);
}

/* With ONLY, ncube knows already that no cause is due. */
static void ncu_quantum(unsigned hart)
{
    struct slot *s = slot_of(hart);

    if (s->attention == NCU_ATTEND_ONLY) {
        s->attention = NCU_ATTEND_NOT;
        hart_hold_clock(hart, s->base_cycles);
        mailbox_of(hart)->ans[0] = 0;
        return;
    }
    hart_set_cycles(hart, counter_of(hart)->settled_cycles);
    hart_stop(hart, SLOT_OP, NCU_QUANTUM);
}

static uint64_t cycles_left_to_pass(unsigned hart)
{
    uint64_t elapsed = counter_elapsed(counter_of(hart)), pass = slot_of(hart)->pass_cycles;

    return pass > elapsed ? pass - elapsed : 0;
}

/* Returns the cycles before which user code that is running now brings no SEND or ARM. At the end of its quantum the
 * kernel may attend, without a way in. */
static uint64_t user_quiet(const struct slot *s)
{
    return s->exact == NCU_EXACT_IN_QUANTA ? plugin.control->trap_quiet_cycles : plugin.control->user_quiet_cycles;
}

/* Stops user code in time if it can see where an interrupt falls. */
static void limit_exact(unsigned hart)
{
    const struct slot *s = slot_of(hart);
    uint64_t now = hart_cycles(hart);

    if (s->exact == NCU_EXACT_AT_ONCE)
        hart_limit_budget(hart, cycles_left_to_pass(hart));
    else if (s->exact == NCU_EXACT_IN_QUANTA)
        hart_limit_budget(hart, s->quantum_end > now ? s->quantum_end - now : 0);
}

/* LEAVE is in the block that ends with sret, and the block's cycles are in the counter already: so this is the time at
 * which user code resumes, without a reservation. ncube granted the budget before it could know that the user code must
 * be exact, or that there would be posts: it learns of posts when the hart stops, and until then can process nothing
 * later. */
static void ncu_leave(unsigned hart)
{
    struct slot *s = slot_of(hart);

    s->entry_cycles = 0;
    s->trap = SLOT_TRAP_UNKNOWN;
    counter_of(hart)->kernel_cycles = 0;
    if (s->user_since == 0)
        counter_of(hart)->instructions = 0; /* the reset vector's */
    if (counter_of(hart)->settle) {
        hart_settle(hart);
    } else {
        __atomic_store_n(&s->user_since, hart_cycles(hart), __ATOMIC_SEQ_CST);
        s->quantum_end = s->user_since + plugin.control->quantum_cycles;
    }
    counter_of(hart)->reserved = false;
    s->exact = mailbox_of(hart)->exact;
    s->attend = mailbox_of(hart)->attend;
    if (s->posts == 0)
        publish_progress(plugin.control, s, hart_cycles(hart), user_quiet(s));
    if (s->posts > 0)
        hart_limit_budget(hart, plugin.control->run_on_cycles);
    limit_exact(hart);
}

static void ncu_execute(unsigned hart, void *userdata)
{
    uint32_t op = (uint32_t)(uintptr_t)userdata;

    switch (op) {
    case NCU_TIME:
        mailbox_of(hart)->ans[0] = hart_cycles(hart);
        break;
    case NCU_CHARGE:
        hart_set_cycles(hart, hart_cycles(hart) + mailbox_of(hart)->arg[0]);
        break;
    case NCU_ENTER:
        ncu_enter(hart);
        break;
    case NCU_CAUSES:
        ncu_causes(hart);
        break;
    case NCU_END:
        ncu_end(hart);
        break;
    case NCU_LEAVE:
        ncu_leave(hart);
        break;
    case NCU_QUANTUM:
        ncu_quantum(hart);
        break;
    default:
        if (slot_op_is_posted(op))
            ncu_post(hart, op);
        else
            hart_stop(hart, SLOT_OP, op);
    }
}

/* Returns op for `slti x0, x0, op`, else 0. ncube refuses an op that does not exist. */
static uint32_t ncu_op_of(uint32_t insn)
{
    return (insn & 0xfffff) == 0x2013 ? insn >> 20 : 0;
}

/* ---- Translation ---- */

static bool in_kernel(uint64_t va)
{
    return va >= CABINET_RAM_BASE && va < CABINET_RAM_BASE + CABINET_SHARED_BYTES;
}

/* QEMU ends by waiting for its harts, which wait for ncube. So a signal must end the process at once; ncube notices. */
static void end_by_signals(void)
{
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

static void hart_created_stop(unsigned hart)
{
    end_by_signals();
    if (plugin.control->processors == 0)
        slot_of(hart)->thread = (uint32_t)gettid();
    hart_stop(hart, SLOT_START, 0);
}

/* ---- Reservations ---- */

static bool reservation_is_young(const struct counter *c)
{
    uint64_t elapsed = counter_elapsed(c);

    return c->reserved && elapsed - c->reserved_at < RESERVATION_CYCLES &&
           elapsed - c->reserved_since < RESERVATIONS_CYCLES;
}

/* Runs before a block of user code that contains an lr or sc, after its cycles have been added. */
static void reservation_note(unsigned hart, void *holds_one)
{
    struct counter *c = counter_of(hart);
    uint64_t elapsed = counter_elapsed(c);

    if (!c->reserved || elapsed - c->reserved_at >= RESERVATION_CYCLES)
        c->reserved_since = elapsed;
    c->reserved = holds_one != NULL;
    c->reserved_at = elapsed;
}

/* ---- Marks ---- */

/* Runs before the block of user code at `pc`, whose end is at or beyond the mark. */
static void mark_reached(unsigned hart, void *pc)
{
    struct slot *s = slot_of(hart);
    struct counter *c = counter_of(hart);
    if (plugin.control->debug)
        plugin_debug_at_block(hart, (uintptr_t)pc);
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
    if (s->posts == 0)
        publish_progress(plugin.control, s, s->base_cycles + elapsed, user_quiet(s));
    if (c->apart == LAST_MARK_CYCLES && plugin.control->processors > 0)
        turns_yield(hart);
    c->apart = c->apart * 2 < LAST_MARK_CYCLES ? c->apart * 2 : LAST_MARK_CYCLES;
    uint64_t mark = elapsed + c->apart;
    counter_set(c, elapsed, mark < s->budget_cycles ? mark : s->budget_cycles);
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
    return plugin.control->debug || op == NCU_ENTER ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS;
}

static void block_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    __atomic_add_fetch(&plugin.control->translated, 1, __ATOMIC_RELAXED);
    bool kernel = in_kernel(qemu_plugin_tb_vaddr(tb));
    enum reservation reservation = RESERVATION_NONE;
    uint64_t cycles = 0;
    size_t n = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t bits = 0;

        if (plugin.control->debug)
            plugin_debug_translate(insn, kernel);
        qemu_plugin_insn_data(insn, &bits, sizeof bits);
        cycles += plugin.control->cycles_of_class[cost_class_of(bits)];
        reservation = reservation_after(reservation, bits);
        uint32_t op = kernel ? ncu_op_of(bits) : 0;
        if (op != 0)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, ncu_execute, flags_for(op), (void *)(uintptr_t)op);
    }
    add_inline(tb, plugin.cycles, cycles);
    if (plugin.statistics)
        add_inline(tb, kernel ? plugin.kernel_cycles : plugin.instructions, kernel ? cycles : n);
    if (!kernel && reservation != RESERVATION_NONE)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, reservation_note, QEMU_PLUGIN_CB_NO_REGS,
                                             reservation == RESERVATION_HELD ? &plugin : NULL);
    if (!kernel)
        qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, mark_reached, flags_for(0), QEMU_PLUGIN_COND_GE, plugin.cycles,
                                                  COUNTER_LIMIT, (void *)(uintptr_t)qemu_plugin_tb_vaddr(tb));
}

/* The first block of a hart, in QEMU's reset vector, counts as user code and finds the counter at its limit. */
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

static const struct plugin_debug_ops debug_ops = {.cycles = hart_cycles, .stands = hart_stands};

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

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    uint64_t control_fd = UINT64_MAX, ram_fd = UINT64_MAX;
    for (int i = 0; i < argc; i++)
        if (!option_read(argv[i], "control", &control_fd) && !option_read(argv[i], "ram", &ram_fd) &&
            !option_read(argv[i], "first", &plugin.first) && !option_read(argv[i], "ram_bytes", &plugin.ram_bytes) &&
            !option_read(argv[i], "statistics", &plugin.statistics) && !option_read(argv[i], "traps", &plugin.traps)) {
            fprintf(stderr,
                    "plugin.so: bad option '%s'; known: control=FD ram=FD first=SLOT ram_bytes=BYTES statistics=0|1 "
                    "traps=0|1\n",
                    argv[i]);
            return -1;
        }
    if (control_fd == UINT64_MAX || ram_fd == UINT64_MAX || plugin.ram_bytes == 0) {
        fprintf(stderr, "plugin.so: control=, ram= and ram_bytes= are needed; ncube gives them\n");
        return -1;
    }
    plugin.control = map_descriptor("control", control_fd);
    plugin.ram = map_descriptor("ram", ram_fd);
    if (!plugin.control || !plugin.ram)
        return -1;
    plugin.counters = qemu_plugin_scoreboard_new(sizeof(struct counter));
    plugin.cycles = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, cycles)};
    plugin.instructions = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, instructions)};
    plugin.kernel_cycles = (qemu_plugin_u64){plugin.counters, offsetof(struct counter, kernel_cycles)};
    if (plugin.control->debug)
        plugin_debug_init(plugin.control, plugin.first, &debug_ops);
    if (plugin.control->processors > 0 &&
        turns_init(plugin.control, plugin.first, (uint32_t)info->system.smp_vcpus, report_stop) != 0) {
        fprintf(stderr, "plugin.so: cannot make carriers of the harts: %s\n", strerror(errno));
        return -1;
    }
    qemu_plugin_register_vcpu_init_cb(id, hart_created);
    qemu_plugin_register_vcpu_tb_trans_cb(id, block_translated);
    return 0;
}
