/*
 * The NCU's instructions (plugin_ncu.h). Those that need no answer are posted: ncube learns of them when the hart
 * stops. Traps go on without a stop where no cause can be due; the clock is set as plugin.c says.
 */
#include "emu/plugin/plugin_ncu.h"

#include <string.h>

#include "emu/plugin/plugin_flush.h"
#include "emu/plugin/plugin_hart.h"
#include "emu/plugin/plugin_registers.h"
#include "vertex/contract/machine.h"

/* ---- Posts ---- */

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

/* STATED takes effect: the clock moves on to the stated time, if it is not there yet. Work that is late by no more than
 * is allowed can make up for it; for the rest the stated time follows. */
static void reach_stated(unsigned hart)
{
    struct counter *c = counter_of(hart);
    struct ncu_mailbox *m = mailbox_of(hart);
    uint64_t now = hart_cycles(hart), row = c->stated - 1;

    c->stated = 0;
    if (now <= m->stated_cycles) {
        hart_set_cycles(hart, m->stated_cycles);
        return;
    }
    if (now - m->stated_cycles <= c->stated_late)
        return;
    uint64_t late = now - m->stated_cycles - c->stated_late;
    m->stated_cycles += late;
    if (row < STATED_ROWS) {
        struct stated_excess *excess = &m->excess[row];

        m->excesses++;
        excess->count++;
        if (late > excess->most_cycles)
            excess->most_cycles = late > UINT32_MAX ? UINT32_MAX : (uint32_t)late;
    }
}

static void ncu_post(unsigned hart, uint32_t op)
{
    struct slot *s = slot_of(hart);

    if (counter_of(hart)->stated && (op == NCU_SEND || op == NCU_DISK))
        reach_stated(hart);
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
    if (plugin.traps == SLOT_TRAPS_WHERE)
        registers_read_frame(&s->trap_frame);
}

/* ---- Traps ---- */

/* Returns true if an ENTER or CAUSES now can find no cause. */
static bool trap_may_pass(unsigned hart)
{
    const struct slot *s = slot_of(hart);

    return counter_elapsed(counter_of(hart)) < s->pass_cycles && s->passed < SLOT_PASSED && !s->watch;
}

/* ncube learns of it at the next stop. No SEND or ARM comes sooner after it. */
static void trap_pass(unsigned hart, bool is_causes, uint64_t quiet_cycles)
{
    struct slot *s = slot_of(hart);

    s->passed_trap[s->passed] = (struct slot_trap){.is_causes = is_causes,
                                                   .cycles = hart_cycles(hart),
                                                   .user_since = s->user_since,
                                                   .instructions = counter_of(hart)->instructions,
                                                   .entry_cycles = s->entry_cycles};
    __atomic_store_n(&s->passed, s->passed + 1, __ATOMIC_SEQ_CST);
    if (s->posts == 0)
        publish_progress(plugin.control, s, hart_cycles(hart), quiet_cycles);
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
        trap_pass(hart, false, plugin.control->trap_quiet_cycles);
    else
        stop_at_trap(hart);
    counter_of(hart)->entered_cycles = hart_cycles(hart);
}

/* With `handling`, the causes are in the mailbox already. */
static void ncu_causes(unsigned hart)
{
    struct slot *s = slot_of(hart);

    if (s->handling)
        hart_set_cycles(hart, s->causes_cycles);
    else if (trap_may_pass(hart))
        trap_pass(hart, true, plugin.control->wake_quiet_cycles);
    else
        hart_stop(hart, SLOT_OP, NCU_CAUSES);
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

/* Takes the place of END, perhaps for causes that were handled at QUANTUM, after an earlier END: the code that this one
 * has resumed does not go on, so its clock is not set again. */
static void ncu_drop(unsigned hart)
{
    counter_of(hart)->settle = false;
    hart_stop(hart, SLOT_OP, NCU_DROP);
}

static uint64_t cycles_left_to_pass(unsigned hart)
{
    uint64_t elapsed = counter_elapsed(counter_of(hart)), pass = slot_of(hart)->pass_cycles;

    return pass > elapsed ? pass - elapsed : 0;
}

uint64_t user_quiet(const struct slot *s)
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
        if (counter_of(hart)->stated)
            reach_stated(hart);
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

static void execute(unsigned hart, uint32_t op)
{
    switch (op) {
    case NCU_TIME:
        mailbox_of(hart)->ans[0] = hart_cycles(hart);
        break;
    case NCU_CHARGE:
        hart_set_cycles(hart, hart_cycles(hart) + mailbox_of(hart)->arg[0]);
        break;
    case NCU_ENTERED:
        mailbox_of(hart)->ans[0] = counter_of(hart)->entered_cycles;
        break;
    case NCU_STATED:
        counter_of(hart)->stated = (uint32_t)mailbox_of(hart)->arg[0] + 1;
        counter_of(hart)->stated_late = mailbox_of(hart)->arg[1];
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
    case NCU_DROP:
        ncu_drop(hart);
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

bool ncu_waits(uint32_t op)
{
    return op == NCU_IDLE || op == NCU_ENTER || op == NCU_INJECT;
}

/* Executes one at which the hart may be told to leave its block. */
static void wait_at(unsigned hart, uint32_t op)
{
    const struct counter *c = counter_of(hart);

    if (c->again) {
        flush_begin_again(hart);
        return;
    }
    execute(hart, op);
    if (c->left)
        flush_leave_block(hart, true);
}

void hart_execute_ncu(unsigned hart, void *userdata)
{
    uint32_t op = (uint32_t)(uintptr_t)userdata;

    if (ncu_waits(op)) {
        flush_note_place(hart, __builtin_return_address(0));
        wait_at(hart, op);
    } else {
        execute(hart, op);
    }
}

uint32_t ncu_op_of(uint32_t insn)
{
    return (insn & 0xfffff) == 0x2013 ? insn >> 20 : 0;
}
