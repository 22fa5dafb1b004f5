/*
 * How a hart stops, and how ncube learns of it (plugin_hart.h).
 */
#include "emu/plugin/plugin_hart.h"

#include <unistd.h>

#include "emu/qemu/futex.h"
#include "emu/plugin/plugin_debug.h"
#include "emu/plugin/plugin_turns.h"

struct plugin plugin;

/* The eventfd's count does not matter, so it may be full. */
static void wake_rack(int fd)
{
    static const uint64_t one = 1;
    ssize_t written = write(fd, &one, sizeof one);

    (void)written;
}

void doorbell_ring(struct control *c)
{
    __atomic_add_fetch(&c->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->asleep, __ATOMIC_SEQ_CST) == SLOT_POLLS)
        wake_rack((int)c->wake_fd);
    else
        futex_wake_sleeper(&c->doorbell, &c->asleep);
}

void publish_progress(struct control *c, struct slot *s, uint64_t cycles, uint64_t quiet_cycles)
{
    __atomic_store_n(&s->quiet, cycles + quiet_cycles, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->progress, cycles, __ATOMIC_SEQ_CST);
    if (!s->batched && cycles >= __atomic_load_n(&c->wanted, __ATOMIC_SEQ_CST))
        doorbell_ring(c);
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

/* Returns true if ncube waits for this one. */
static bool batch_ends(void)
{
    return __atomic_sub_fetch(&plugin.control->batch, 1, __ATOMIC_SEQ_CST) == 0;
}

void hart_leave_batch(unsigned hart)
{
    struct slot *s = slot_of(hart);

    if (!s->batched)
        return;
    s->batched = 0;
    if (batch_ends())
        doorbell_ring(plugin.control);
}

void report_stop(unsigned hart)
{
    struct slot *s = slot_of(hart);
    bool listed = s->why != SLOT_OP || s->op != NCU_INJECT, rings = !s->batched;

    __atomic_add_fetch(&s->stops, 1, __ATOMIC_SEQ_CST);
    if (listed)
        slots_push(&plugin.control->stopped, (uint32_t)(s - plugin.control->slot) + 1, &s->next_stopped);
    if (rings || batch_ends())
        doorbell_ring(plugin.control);
}

void hart_stop(unsigned hart, enum slot_stop why, uint32_t op)
{
    struct slot *s = slot_of(hart);
    uint32_t last = __atomic_load_n(&s->go, __ATOMIC_SEQ_CST);

    s->cycles = why == SLOT_START ? 0 : hart_cycles(hart);
    s->why = why;
    s->op = op;
    s->instructions = counter_of(hart)->instructions;
    if (plugin.control->processors > 0) {
        turns_stop(hart); /* registers are read when they are asked for: SLOT_NOTE */
    } else {
        if (plugin.control->debug)
            plugin_debug_note(hart);
        report_stop(hart);
        futex_await_change(&s->go, last, &s->asleep);
    }
    counter_begin(counter_of(hart), s->budget_cycles);
    note_attention(hart);
    if (plugin.control->debug)
        plugin_debug_ask(hart);
}

void hart_limit_budget(unsigned hart, uint64_t cycles)
{
    struct slot *s = slot_of(hart);
    struct counter *c = counter_of(hart);
    uint64_t elapsed = counter_elapsed(c), end = elapsed + cycles;

    if (end < s->budget_cycles)
        s->budget_cycles = end;
    if (end < c->mark)
        counter_set(c, elapsed, end);
}
