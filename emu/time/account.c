#include "emu/time/account.h"

#include "emu/time/eventq.h"

void account_init(struct account *a)
{
    *a = (struct account){.idle_since = EVENTQ_NEVER, .user_since = EVENTQ_NEVER};
}

void account_idle(struct account *a, uint64_t now_cycles)
{
    a->idle_since = now_cycles;
}

void account_wake(struct account *a, uint64_t now_cycles)
{
    if (a->idle_since != EVENTQ_NEVER)
        a->idle_cycles += now_cycles - a->idle_since;
    a->idle_since = EVENTQ_NEVER;
}

static void enter_kernel(struct account *a, uint64_t now_cycles)
{
    a->user_since = EVENTQ_NEVER;
    a->kernel_since = now_cycles;
}

/* A cause may fall due on the way into the kernel. Then account_handled has counted the part of the way before the
 * cause as user code, and this addition takes it back: it may be negative, but the sum is not. */
void account_trap(struct account *a, uint64_t user_since, uint64_t now_cycles, uint64_t entry_cycles,
                  uint64_t instructions)
{
    a->user_cycles += now_cycles - user_since - entry_cycles;
    a->instructions = instructions - a->discarded;
    a->traps++;
    enter_kernel(a, now_cycles);
}

void account_turns(struct account *a, uint64_t n, const struct account_turn *turn)
{
    a->user_cycles += n * turn->user_cycles;
    a->instructions += n * turn->instructions;
    a->traps += n;
    a->kernel_since += n * turn->cycles;
}

void account_handled(struct account *a, uint64_t user_since, uint64_t start, uint64_t now_cycles)
{
    a->user_cycles += start - user_since;
    a->user_since = now_cycles;
}

void account_dropped(struct account *a, uint64_t user_since, uint64_t start, uint64_t now_cycles, uint64_t instructions)
{
    a->user_cycles += start - user_since;
    a->discarded = instructions - a->instructions;
    enter_kernel(a, now_cycles);
}

struct account_totals account_totals(const struct account *a, uint64_t now_cycles, uint64_t left_cycles,
                                     uint64_t handled_since)
{
    struct account_totals t = {.user_cycles = a->user_cycles, .idle_cycles = a->idle_cycles};
    uint64_t user_since = a->user_since, user_end = handled_since < now_cycles ? handled_since : now_cycles;

    if (user_since == EVENTQ_NEVER && left_cycles > a->kernel_since)
        user_since = left_cycles;
    if (user_since < user_end)
        t.user_cycles += user_end - user_since;
    if (a->idle_since < now_cycles)
        t.idle_cycles += now_cycles - a->idle_since;
    t.kernel_cycles = now_cycles - t.user_cycles - t.idle_cycles;
    return t;
}
