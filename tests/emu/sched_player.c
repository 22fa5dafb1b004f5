/* A hart that is a thread: reports as the plugin would, and does what kernel and program would (sched_play.h). */
#include "tests/emu/sched_play.h"

#include <stdlib.h>
#include <unistd.h>

#include "emu/qemu/futex.h"

/* Some are killed by the second cause that interrupts them. */
enum { KILLED_BY = 2 };

/* What one that breaks a promise takes instead. */
#define CHEAT_CYCLES 1u

/* ---- As the plugin would report it ---- */

static void count(uint64_t *n)
{
    __atomic_add_fetch(n, 1, __ATOMIC_RELAXED);
}

static void ring(struct control *c)
{
    __atomic_add_fetch(&c->doorbell, 1, __ATOMIC_SEQ_CST);
    futex_wake(&c->doorbell);
}

static void tell_progress(struct player *a, uint64_t quiet_cycles)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    struct control *c = a->play->harts.control;

    __atomic_store_n(&s->quiet, a->clock + quiet_cycles, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->progress, a->clock, __ATOMIC_SEQ_CST);
    if (!s->batched && a->clock >= __atomic_load_n(&c->wanted, __ATOMIC_SEQ_CST))
        ring(c);
}

static void stop(struct player *a, enum slot_stop why, uint32_t op)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    struct control *c = a->play->harts.control;
    uint32_t last = __atomic_load_n(&s->go, __ATOMIC_SEQ_CST);

    s->cycles = a->clock;
    s->why = why;
    s->op = op;
    s->instructions = a->instructions;
    __atomic_store_n(&s->asleep, 1, __ATOMIC_SEQ_CST);
    slots_push(&c->stopped, a->hart + 1, &s->next_stopped);
    if (!s->batched || __atomic_sub_fetch(&c->batch, 1, __ATOMIC_SEQ_CST) == 0)
        ring(c);
    while (__atomic_load_n(&s->go, __ATOMIC_SEQ_CST) == last)
        futex_wait(&s->go, last, FUTEX_FOREVER);
    if (__atomic_load_n(&a->play->over, __ATOMIC_SEQ_CST))
        pthread_exit(NULL);
    if (s->batched)
        count(&a->play->counts.batched);
    a->clock = s->base_cycles;
    if (s->budget_cycles > a->longest)
        a->longest = s->budget_cycles;
    if (s->handling || s->attention == NCU_ATTEND_ONLY)
        a->attention = s->attention;
}

static uint64_t cycles_left_to_pass(const struct player *a)
{
    const struct slot *s = harts_slot(&a->play->harts, a->hart);
    uint64_t elapsed = a->clock - s->base_cycles;

    return s->pass_cycles > elapsed ? s->pass_cycles - elapsed : 0;
}

/* A message to itself comes sooner than an answer from another. */
static void limit_pass(struct player *a, uint32_t op, uint64_t to)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);
    const struct control *c = a->play->harts.control;
    uint64_t after = op != NCU_SEND ? 0 : c->arrival_cycles + (to == a->hart ? 0 : c->answer_cycles);

    if (cycles_left_to_pass(a) > after)
        s->pass_cycles = a->clock - s->base_cycles + after;
}

static void post_op(struct player *a, uint32_t op, uint64_t to)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (s->posts == NCU_POSTED) {
        count(&a->play->counts.posts_full);
        stop(a, SLOT_POSTS, 0);
    }
    s->post[s->posts++] = (struct slot_post){.cycles = a->clock, .op = op, .arg = {to}};
    limit_pass(a, op, to);
}

/* Returns how long the kernel takes to a SEND. */
static uint64_t cycles_unless(const struct player *a, enum cheat cheat, uint64_t cycles)
{
    return a->part.cheat == cheat ? CHEAT_CYCLES : cycles;
}

static void post(struct player *a, uint32_t to)
{
    post_op(a, NCU_SEND, to);
}

static void limit_budget(struct player *a, uint64_t cycles)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (a->clock - s->base_cycles + cycles < s->budget_cycles)
        s->budget_cycles = a->clock - s->base_cycles + cycles;
}

static void settle(struct player *a)
{
    if (a->settle)
        a->clock = a->settled;
    a->settle = false;
}

static void take_due(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (s->handling)
        a->clock = s->causes_cycles;
    else
        stop(a, SLOT_OP, NCU_CAUSES);
    s->handling = 0;
}

static void end(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    post_op(a, NCU_END, 0);
    s->user_since = a->clock;
    s->quantum_end += a->clock - (s->causes_cycles - NCU_INTERRUPT_CYCLES);
    a->clock = a->settled = a->clock + s->shift_cycles;
    a->settle = true;
}

/* Returns true if causes must be handled first. */
static bool quantum(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (s->attention == NCU_ATTEND_ONLY) {
        s->attention = NCU_ATTEND_NOT;
        a->settle = true;
        a->settled = s->base_cycles;
        return false;
    }
    a->clock = a->settled;
    stop(a, SLOT_OP, NCU_QUANTUM);
    return a->play->answer[a->hart] != 0;
}

_Noreturn static void play_end(struct player *a, uint32_t op)
{
    stop(a, SLOT_OP, op);
    a->clock += cycles_unless(a, CHEAT_AWAKE, WAKE_CYCLES);
    post(a, 0);
    stop(a, SLOT_OP, NCU_FAULT); /* never granted again until the process ends */
    abort();
}

/* At ENTER or CAUSES; no SEND comes sooner after it than `quiet_cycles`. */
static bool pass(struct player *a, bool is_causes, uint64_t quiet_cycles)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (cycles_left_to_pass(a) == 0 || s->watch)
        return false;
    if (s->passed == SLOT_PASSED) {
        count(&a->play->counts.passed_full);
        return false;
    }
    s->passed_trap[s->passed] = (struct slot_trap){.is_causes = is_causes,
                                                   .cycles = a->clock,
                                                   .user_since = s->user_since,
                                                   .instructions = a->instructions,
                                                   .entry_cycles = s->entry_cycles};
    __atomic_store_n(&a->play->passed_cycles[a->hart], a->clock, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->passed, s->passed + 1, __ATOMIC_SEQ_CST);
    count(is_causes ? &a->play->counts.passed_causes : &a->play->counts.passed);
    if (s->posts == 0)
        tell_progress(a, quiet_cycles);
    return true;
}

static void ask(struct player *a)
{
    if (pass(a, true, a->play->harts.control->wake_quiet_cycles))
        a->play->answer[a->hart] = 0;
    else
        stop(a, SLOT_OP, NCU_CAUSES);
}

/* Returns how many causes the kernel has got, with those for which it asks then. */
static uint64_t take_more(struct player *a)
{
    uint64_t taken = a->play->answer[a->hart];

    while (a->play->answer[a->hart] == TAKEN_MOST) {
        a->clock += SILENT_CYCLES;
        ask(a);
        taken += a->play->answer[a->hart];
    }
    return taken;
}

/* The kernel's handling of the causes that were due; sometimes it sends a message itself. */
static void handle_due(struct player *a)
{
    a->play->interrupt[a->hart] = false;
    take_due(a);
    uint64_t taken = take_more(a);
    a->clock += cycles_unless(a, CHEAT_AWAKE, WAKE_CYCLES);
    a->taken += taken;
    if (taken % 3 == 2 || a->part.answers)
        post(a, (a->hart + 1) % HARTS);
    a->clock += 5 * taken;
    if (a->part.mortal && a->taken >= KILLED_BY)
        play_end(a, NCU_DROP);
    a->must_attend = a->part.exact != NCU_EXACT_NOT;
    end(a);
}

static uint64_t user_quiet(const struct player *a)
{
    const struct control *c = a->play->harts.control;

    return a->part.exact == NCU_EXACT_IN_QUANTA ? c->trap_quiet_cycles : c->user_quiet_cycles;
}

static void leave(struct player *a)
{
    struct slot *s = harts_slot(&a->play->harts, a->hart);

    a->clock += EXIT_CYCLES;
    s->entry_cycles = 0;
    if (a->settle)
        settle(a);
    else
        s->quantum_end = (s->user_since = a->clock) + a->play->harts.control->quantum_cycles;
    s->exact = a->part.exact;
    s->attend = a->must_attend;
    if (s->posts == 0)
        tell_progress(a, user_quiet(a));
    if (s->posts > 0)
        limit_budget(a, a->play->harts.control->run_on_cycles);
    if (s->exact == NCU_EXACT_AT_ONCE)
        limit_budget(a, cycles_left_to_pass(a));
    else if (s->exact == NCU_EXACT_IN_QUANTA)
        limit_budget(a, s->quantum_end > a->clock ? s->quantum_end - a->clock : 0);
}

static void withdraw(struct player *a)
{
    harts_slot(&a->play->harts, a->hart)->attention = NCU_ATTEND_NOT;
    a->play->interrupt[a->hart] = false;
    a->play->answer[a->hart] = 1;
    a->settle = true;
    a->settled = a->clock;
    count(&a->play->counts.withdrawn);
}

static void enter(struct player *a)
{
    for (;;) {
        struct slot *s = harts_slot(&a->play->harts, a->hart);

        a->clock += ENTRY_CYCLES;
        if (!a->settle && s->entry_cycles == 0)
            s->entry_cycles = ENTRY_CYCLES;
        settle(a);
        if (s->handling)
            s->shift_cycles += a->clock - s->base_cycles;
        else if (s->attention == NCU_ATTEND_ONLY)
            withdraw(a);
        else if (pass(a, false, a->play->harts.control->trap_quiet_cycles))
            return;
        else
            stop(a, SLOT_OP, NCU_ENTER);
        if (a->play->answer[a->hart] == 0)
            return;
        if (a->attention == NCU_ATTEND_ONLY)
            a->attention = NCU_ATTEND_NOT;
        else
            handle_due(a);
    }
}

/* The rest of a trap that the kernel has entered. */
static void attend(struct player *a)
{
    if (!a->must_attend)
        return;
    a->must_attend = false;
    a->clock += cycles_unless(a, CHEAT_IN_TRAP, TRAP_CYCLES);
    post(a, (a->hart + 2) % HARTS);
}

/* As trap_interrupt of vertex/trap/trap.c. */
static void take_interrupt(struct player *a)
{
    uint32_t attention = a->attention;

    a->clock += ENTRY_CYCLES;
    a->play->interrupt[a->hart] = false;
    if (attention != NCU_ATTEND_ONLY)
        handle_due(a);
    while (attention >= NCU_ATTEND_QUANTUM && quantum(a))
        handle_due(a);
    if (attention != NCU_ATTEND_NOT && a->must_attend) {
        count(attention >= NCU_ATTEND_QUANTUM ? &a->play->counts.attended : &a->play->counts.at_once);
        enter(a);
        attend(a);
    }
    leave(a);
}

static void user_block(struct player *a, const struct step *step)
{
    const struct slot *s = harts_slot(&a->play->harts, a->hart);

    if (step->host_us > 0)
        usleep(step->host_us);
    a->place++;
    a->clock += step->user_cycles;
    a->instructions += step->user_cycles;
    bool called = __atomic_load_n(&s->stop_soon, __ATOMIC_SEQ_CST);
    if (called)
        count(&a->play->counts.called);
    if (called || a->clock - s->base_cycles >= s->budget_cycles)
        stop(a, SLOT_BUDGET, 0);
    else if (s->posts == 0)
        tell_progress(a, user_quiet(a));
    if (step->trap == TRAP_NONE && a->play->interrupt[a->hart]) /* taken at the block's end */
        take_interrupt(a);
}

/* Sometimes the kernel answers a cause at once. */
static void wait_for_causes(struct player *a, const struct step *step)
{
    if (step->trap == TRAP_ASK)
        ask(a);
    else
        stop(a, SLOT_OP, NCU_IDLE);
    uint64_t taken = take_more(a);
    a->clock += cycles_unless(a, CHEAT_AWAKE, WAKE_CYCLES);
    if (taken % 2 == 1)
        post(a, step->to);
}

static void play_trap(struct player *a, const struct step *step)
{
    enter(a);
    a->clock += cycles_unless(a, CHEAT_IN_TRAP, TRAP_CYCLES + step->kernel_cycles);
    for (uint32_t n = step->sends > 0 ? step->sends : 1; n > 0 && step->trap == TRAP_SEND; n--)
        post(a, step->to);
    if (step->trap == TRAP_TIMER)
        post_op(a, NCU_TIMER, a->clock + TIMER_CYCLES * (1 + step->to));
    if (step->trap == TRAP_ASK || step->trap == TRAP_WAIT)
        wait_for_causes(a, step);
    attend(a);
    leave(a);
}

static void play_step(struct player *a, const struct step *step)
{
    for (uint32_t n = step->times > 0 ? step->times : 1; n > 0; n--) {
        user_block(a, step);
        if (step->trap != TRAP_NONE)
            play_trap(a, step);
    }
}

/* The state of this loop is the number of causes it has taken and sent for, and its place. */
static void play_polls(struct player *a)
{
    static const struct step turn = {.trap = TRAP_WORK, .user_cycles = 30, .kernel_cycles = 40};
    uint64_t sent = 0;

    for (bool again = false;; again = !again) {
        if (a->part.life == LIFE_POLLS)
            a->place = 0;
        else if (a->part.life == LIFE_POLLS_TWICE)
            a->place = again;
        play_step(a, &turn);
        if (sent == a->taken)
            continue;
        sent = a->taken;
        play_trap(a, &(struct step){.trap = TRAP_SEND, .to = (a->hart + 1) % HARTS});
    }
}

static void *play_hart(void *arg)
{
    struct player *a = arg;

    stop(a, SLOT_START, 0);
    leave(a);
    while (a->part.life == LIFE_ENDLESS)
        user_block(a, &(struct step){.trap = TRAP_NONE, .user_cycles = 1000});
    if (a->part.life != LIFE_SCRIPT)
        play_polls(a);
    for (int i = 0; i < STEPS; i++)
        play_step(a, &a->play->script[a->hart][i]);
    enter(a);
    a->clock += TRAP_CYCLES;
    play_end(a, NCU_CAUSES);
}

void player_start(struct player *a)
{
    pthread_create(&a->thread, NULL, play_hart, a);
}
