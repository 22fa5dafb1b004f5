/*
 * Grants harts, waits for them, and places them on the host's processors.
 *
 * While harts run for short times only, one processor is faster than two: a hand-over by futex takes a few microseconds
 * on one processor and 25 to 50 across two. So ncube and its cabinets stay together on one, the home processor, which
 * few other runs use (processors.h). A hart is placed on another only for a long run beside other harts
 * (docs/performance.md has the figures).
 */
#include "emu/qemu/harts.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/qemu/debug_area.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/inside.h"

/* Placing threads only affects speed, so a refusal by the host is ignored. */
static void keep_on(pid_t thread, int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(thread, sizeof set, &set);
}

#define CLAIMS "ncube-processor"

static void find_processors(struct harts *h, uint32_t most)
{
    int here = sched_getcpu();

    h->claim.fd = -1;
    if (here < 0 || sched_getaffinity(0, sizeof h->allowed, &h->allowed) != 0)
        return;
    if (most == 0 || most > HARTS_PROCESSORS_MAX)
        most = HARTS_PROCESSORS_MAX;
    h->claim = processors_claim(CLAIMS, &h->allowed, here);
    int home = h->claim.processor;
    h->processor[h->processors++] = home;
    for (int cpu = 0; cpu < CPU_SETSIZE && h->processors < most; cpu++)
        if (cpu != home && CPU_ISSET(cpu, &h->allowed))
            h->processor[h->processors++] = cpu;
    keep_on(0, home);
}

/* Makes a processor home: it swaps places with the former home, if it is in the list. */
static void change_home(struct harts *h, int home)
{
    int before = h->processor[0];

    for (uint32_t p = 1; p < h->processors; p++)
        if (h->processor[p] == home)
            h->processor[p] = before;
    h->processor[0] = home;
}

/* ---- Carriers ---- */

static struct carrier *carrier_of(const struct harts *h, uint32_t index)
{
    return slots_carrier(h->control, 0) + index;
}

/* Returns the first slot of the cabinet. */
static uint32_t cabinet_first(const struct harts *h, uint32_t index)
{
    return index - index % h->cabinet_slots;
}

/* Returns the number of processors on which this hart may be placed. */
static uint32_t places(const struct harts *h, uint32_t index)
{
    if (h->cabinet_slots == 0)
        return h->processors;
    uint32_t left = h->count - cabinet_first(h, index);

    return slots_carriers(h->control, left < h->cabinet_slots ? left : h->cabinet_slots);
}

/* Carriers, or threads of harts, go to their processors. */
static void place_threads(const struct harts *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        const struct carrier *c = carrier_of(h, i);

        if (h->cabinet_slots > 0 && c->thread != 0)
            keep_on((pid_t)c->thread, h->processor[i % h->cabinet_slots]);
        else if (harts_slot(h, i)->thread != 0)
            keep_on((pid_t)harts_slot(h, i)->thread, h->processor[h->place[i]]);
    }
}

/* Appends a hart to the list of its carrier. */
static void carrier_grant(struct harts *h, uint32_t index)
{
    uint32_t first = cabinet_first(h, index), k = first + h->place[index];

    if (slots_push(&carrier_of(h, k)->granted, index - first + 1, &harts_slot(h, index)->next_granted) == 0)
        h->to_wake[h->n_to_wake++] = k;
}

static void wake_carriers(struct harts *h)
{
    while (h->n_to_wake > 0) {
        struct carrier *c = carrier_of(h, h->to_wake[--h->n_to_wake]);

        futex_wake_sleeper(&c->granted, &c->asleep);
    }
}

bool harts_follow(struct harts *h)
{
    if (h->processors == 0 || h->claim.rank == 0 || !processors_reclaim(&h->claim, &h->allowed))
        return false;
    change_home(h, h->claim.processor);
    keep_on(0, h->processor[0]);
    place_threads(h);
    return true;
}

void harts_rest(struct harts *h)
{
    if (h->processors == 0)
        return;
    processors_release(&h->claim);
    h->claim.rank = PROCESSORS_RANKS;
}

void harts_bring(const struct harts *h, pid_t thread)
{
    for (uint32_t i = 0; i < h->count; i++)
        if ((pid_t)harts_slot(h, i)->thread == thread || (pid_t)carrier_of(h, i)->thread == thread)
            return;
    keep_on(thread, h->processor[0]);
}

/* Returns the processor with the fewest running harts, but the preferred one unless a move makes them more even. */
static uint32_t least_busy(const struct harts *h, uint32_t processors, uint32_t preferred)
{
    uint32_t best = preferred;

    for (uint32_t p = 0; p < processors; p++)
        if (h->running[p] < h->running[best])
            best = p;
    return h->running[best] + 1 < h->running[preferred] ? best : preferred;
}

/* Returns the thread that executes the hart where it is placed. */
static uint32_t thread_of(const struct harts *h, uint32_t index)
{
    return h->cabinet_slots > 0 ? carrier_of(h, cabinet_first(h, index) + h->place[index])->thread
                                : harts_slot(h, index)->thread;
}

static void place(struct harts *h, uint32_t index, bool spread)
{
    uint32_t where = spread ? least_busy(h, places(h, index), h->place[index]) : 0;

    h->running[where]++;
    if (h->place[index] == where || h->processors < 2)
        return;
    h->place[index] = (uint8_t)where;
    keep_on((pid_t)thread_of(h, index), h->processor[where]);
}

static size_t round_up_to_carrier(size_t bytes)
{
    return (bytes + sizeof(struct carrier) - 1) / sizeof(struct carrier) * sizeof(struct carrier);
}

void harts_start_on(struct harts *h, pid_t process, uint32_t first, uint32_t n, uint32_t turn)
{
    if (h->processors < 2)
        return;
    uint32_t where = turn % places(h, first);
    keep_on(process, h->processor[where]);
    for (uint32_t i = first; i < first + n; i++)
        h->place[i] = (uint8_t)where;
    h->running[0] -= n;
    h->running[where] += n;
}

/* The pages of the debug area take no memory of the host unless they are used. */
static size_t segment_bytes(uint32_t count)
{
    return sizeof(struct control) + count * sizeof(struct slot) + sizeof(struct debug_area) +
           count * sizeof(struct debug_hart) + (count + 1) * sizeof(struct carrier);
}

int harts_init(struct harts *h, uint32_t count, uint32_t processors)
{
    size_t bytes = segment_bytes(count);

    *h =
        (struct harts){.fd = memfd_create("ncube-control", MFD_CLOEXEC), .count = count, .place = memory_new(count, 1)};
    find_processors(h, processors);
    void *p = MAP_FAILED;
    if (h->fd >= 0 && ftruncate(h->fd, (off_t)bytes) == 0)
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    if (p == MAP_FAILED) {
        processors_release(&h->claim);
        free(h->place);
        if (h->fd >= 0)
            close(h->fd);
        return -1;
    }
    h->control = p;
    h->control->debug_offset = sizeof(struct control) + count * sizeof(struct slot);
    h->control->carriers_offset =
        round_up_to_carrier(h->control->debug_offset + sizeof(struct debug_area) + count * sizeof(struct debug_hart));
    h->running[0] = count;
    return 0;
}

void harts_take_turns(struct harts *h, uint32_t cabinet_slots)
{
    h->cabinet_slots = cabinet_slots;
    h->control->processors = h->processors > 0 ? h->processors : 1;
    h->to_wake = memory_new(h->count, sizeof *h->to_wake);
}

void harts_go_far(struct harts *h, const struct harts_far *far, void *ctx)
{
    h->far = far;
    h->far_ctx = ctx;
}

void harts_free(struct harts *h)
{
    processors_release(&h->claim);
    munmap(h->control, segment_bytes(h->count));
    close(h->fd);
    free(h->place);
    free(h->to_wake);
}

struct slot *harts_slot(const struct harts *h, uint32_t index)
{
    return &h->control->slot[index];
}

void harts_grant(struct harts *h, uint32_t index, const struct harts_grant *grant)
{
    struct slot *s = harts_slot(h, index);

    if (!h->far)
        place(h, index, grant->spread);
    s->base_cycles = grant->base_cycles;
    s->budget_cycles = grant->budget_cycles;
    s->pass_cycles = grant->pass_cycles;
    s->progress = grant->base_cycles + grant->silent_cycles;
    s->quiet = grant->quiet_cycles;
    s->stop_soon = 0;
    s->posts = s->passed = 0;
    s->attention = grant->attention;
    s->watch = grant->watch;
    s->batched = grant->batched;
    if (s->batched && !h->far)
        __atomic_add_fetch(&h->control->batch, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&s->go, 1, __ATOMIC_SEQ_CST);
    if (h->far)
        h->far->grant(h->far_ctx, index, grant->spread);
    else if (h->cabinet_slots > 0)
        carrier_grant(h, index);
    else
        futex_wake_sleeper(&s->go, &s->asleep);
    if (h->n_to_wake == h->count || (h->place[index] != 0 && h->n_to_wake > 0))
        wake_carriers(h);
}

/* Notes that a hart no longer runs. */
static void leave_place(struct harts *h, uint32_t index)
{
    if (!h->far)
        h->running[h->place[index]]--;
}

void harts_note_stopped(struct harts *h, uint32_t index)
{
    slots_push(&h->control->stopped, index + 1, &harts_slot(h, index)->next_stopped);
}

int64_t harts_take_stopped(struct harts *h)
{
    if (h->taken == 0)
        h->taken = __atomic_exchange_n(&h->control->stopped, 0, __ATOMIC_SEQ_CST);
    if (h->taken == 0)
        return -1;
    uint32_t index = h->taken - 1;
    h->taken = harts_slot(h, index)->next_stopped;
    leave_place(h, index);
    return index;
}

uint64_t harts_progress(const struct harts *h, uint32_t index)
{
    return __atomic_load_n(&harts_slot(h, index)->progress, __ATOMIC_SEQ_CST);
}

uint64_t harts_quiet(const struct harts *h, uint32_t index)
{
    return __atomic_load_n(&harts_slot(h, index)->quiet, __ATOMIC_SEQ_CST);
}

void harts_call(struct harts *h, uint32_t index)
{
    __atomic_store_n(&harts_slot(h, index)->stop_soon, 1, __ATOMIC_SEQ_CST);
    if (h->far)
        h->far->call(h->far_ctx, index);
}

uint32_t harts_watch(struct harts *h, uint64_t wanted_cycles)
{
    __atomic_store_n(&h->control->wanted, wanted_cycles, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&h->control->doorbell, __ATOMIC_SEQ_CST);
}

bool harts_undisturbed(void)
{
    return !signals_any() || (!signals_end() && !signals_take_child());
}

void harts_begin(struct harts *h)
{
    wake_carriers(h);
}

/* Lets harts run, or others of this processor, for a moment. Returns true if the doorbell has been rung. */
static bool has_rung_meanwhile(struct harts *h, uint32_t bell)
{
    const uint32_t *doorbell = &h->control->doorbell;

    if (!inside.carry)
        return h->cabinet_slots > 0 && yields_await(&h->yields, doorbell, bell);
    inside.carry(bell);
    return __atomic_load_n(doorbell, __ATOMIC_SEQ_CST) != bell;
}

/* Sleeps for at most limit_ms, or less. Returns false if a signal came or a process ended. */
static bool doze(struct harts *h, uint32_t bell, int limit_ms)
{
    struct control *c = h->control;

    if (h->far)
        return h->far->await(h->far_ctx, bell, limit_ms) && !signals_end();
    wake_carriers(h);
    if (has_rung_meanwhile(h, bell))
        return !signals_end() && !signals_take_child();
    __atomic_store_n(&c->asleep, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&c->doorbell, __ATOMIC_SEQ_CST) == bell &&
        !signals_any()) /* a signal may have come before `bell` was read */
        futex_wait(&c->doorbell, bell, limit_ms);
    __atomic_store_n(&c->asleep, 0, __ATOMIC_SEQ_CST);
    return !signals_end() && !signals_take_child();
}

bool harts_sleep(struct harts *h, uint32_t bell)
{
    uint64_t silent_ms = 0; /* since when; 0: not at all */

    for (;;) {
        if (!doze(h, bell, HARTS_SILENCE_MS))
            return false;
        if (__atomic_load_n(&h->control->doorbell, __ATOMIC_SEQ_CST) != bell)
            return true;
        uint64_t now = host_ms();
        if (silent_ms == 0)
            silent_ms = now;
        if (now - silent_ms < HARTS_SILENCE_MS)
            continue;
        silent_ms = now;
        if (h->is_lost && h->is_lost(h->ctx))
            return false;
    }
}

bool harts_wait_injector(struct harts *h, uint32_t index, uint32_t stops)
{
    for (;;) {
        uint32_t bell = harts_watch(h, UINT64_MAX);

        if (__atomic_load_n(&harts_slot(h, index)->stops, __ATOMIC_SEQ_CST) >= stops) {
            leave_place(h, index);
            return true;
        }
        if (!harts_sleep(h, bell))
            return false;
    }
}

uint32_t harts_wait(struct harts *h, uint32_t n, uint32_t silence_ms)
{
    uint64_t end_ms = host_ms() + silence_ms;

    while (n > 0) {
        uint32_t bell = harts_watch(h, UINT64_MAX);

        if (harts_take_stopped(h) >= 0) {
            n--;
            end_ms = host_ms() + silence_ms;
            continue;
        }
        uint64_t now = host_ms();
        h->silent = now >= end_ms;
        if (h->silent || !doze(h, bell, (int)(end_ms - now)))
            return n;
    }
    return 0;
}

bool harts_have_come(const struct harts *h, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        if (__atomic_load_n(&harts_slot(h, i)->stops, __ATOMIC_SEQ_CST) == 0)
            return false;
    return true;
}

bool harts_can_copy(const struct harts *h)
{
    return h->cabinet_slots > 0 && h->control->debug == SLOT_NO_DEBUG;
}

/* Gives the cabinet with slots from `first` on an order, and returns its answer; 0 if a signal came or a process
 * ended. */
static int32_t order_cabinet(struct harts *h, uint32_t first, uint32_t order, const int32_t *answer)
{
    __atomic_store_n(&carrier_of(h, first)->granted, order, __ATOMIC_SEQ_CST);
    h->to_wake[h->n_to_wake++] = first;
    for (;;) {
        uint32_t bell = harts_watch(h, UINT64_MAX);
        int32_t answered = __atomic_load_n(answer, __ATOMIC_SEQ_CST);

        if (answered != 0)
            return answered;
        if (!harts_sleep(h, bell))
            return 0;
    }
}

pid_t harts_copy(struct harts *h, uint32_t original, uint32_t first, int ram_fd, int log_fd)
{
    struct slot_copy *copy = &h->control->copy;

    *copy = (struct slot_copy){.first = first, .ram_fd = (uint32_t)ram_fd, .log_fd = (uint32_t)log_fd};
    return order_cabinet(h, original, SLOT_COPY, &copy->process);
}

bool harts_code_is_due(const struct harts *h)
{
    return __atomic_load_n(&h->control->code_due, __ATOMIC_RELAXED) != h->code_done;
}

bool harts_stand(const struct harts *h)
{
    uint32_t running = h->running[0];

    for (uint32_t p = 1; p < h->processors; p++)
        running += h->running[p];
    return running == 0;
}

bool harts_renew_code(struct harts *h, uint32_t first)
{
    if (!carrier_of(h, first)->code_due)
        return true;
    h->control->flushed = 0;
    int32_t answer = order_cabinet(h, first, SLOT_FLUSH, &h->control->flushed);
    h->code_done += answer != 0;
    h->flushes += answer == SLOT_FLUSH_DONE;
    return answer != 0;
}
