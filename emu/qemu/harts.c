/*
 * Grants harts, and waits for them.
 */
#include "emu/qemu/harts.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/qemu/debug_area.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/inside.h"
#include "emu/qemu/placement.h"

/* ---- Carriers ---- */

/* Appends a hart to the list of its carrier. */
static void carrier_grant(struct harts *h, uint32_t index)
{
    uint32_t first = placement_cabinet(h, index), k = first + h->place[index];

    if (slots_push(&placement_carrier(h, k)->granted, index - first + 1, &harts_slot(h, index)->next_granted) == 0)
        h->to_wake[h->n_to_wake++] = k;
}

static void wake_carriers(struct harts *h)
{
    while (h->n_to_wake > 0) {
        struct carrier *c = placement_carrier(h, h->to_wake[--h->n_to_wake]);

        futex_wake_sleeper(&c->granted, &c->asleep);
    }
}

static size_t round_up_to_carrier(size_t bytes)
{
    return (bytes + sizeof(struct carrier) - 1) / sizeof(struct carrier) * sizeof(struct carrier);
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

    *h = (struct harts){.fd = memfd_create("ncube-control", MFD_CLOEXEC), .count = count};
    placement_init(h, processors);
    void *p = MAP_FAILED;
    if (h->fd >= 0 && ftruncate(h->fd, (off_t)bytes) == 0)
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    if (p == MAP_FAILED) {
        placement_free(h);
        if (h->fd >= 0)
            close(h->fd);
        return -1;
    }
    h->control = p;
    h->control->debug_offset = sizeof(struct control) + count * sizeof(struct slot);
    h->control->carriers_offset =
        round_up_to_carrier(h->control->debug_offset + sizeof(struct debug_area) + count * sizeof(struct debug_hart));
    return 0;
}

void harts_take_turns(struct harts *h, uint32_t cabinet_slots)
{
    h->cabinet_slots = cabinet_slots;
    placement_take_turns(h);
    h->to_wake = memory_new(h->count, sizeof *h->to_wake);
}

void harts_go_far(struct harts *h, const struct harts_far *far, void *ctx)
{
    h->far = far;
    h->far_ctx = ctx;
}

void harts_free(struct harts *h)
{
    placement_free(h);
    munmap(h->control, segment_bytes(h->count));
    close(h->fd);
    free(h->to_wake);
}

struct slot *harts_slot(const struct harts *h, uint32_t index)
{
    return &h->control->slot[index];
}

/* The carriers elsewhere need not wait until the caller sleeps. */
static void wake_soon(struct harts *h, uint32_t index)
{
    if (h->n_to_wake == h->count || (h->place[index] != 0 && h->n_to_wake > 0))
        wake_carriers(h);
}

void harts_grant(struct harts *h, uint32_t index, const struct harts_grant *grant)
{
    struct slot *s = harts_slot(h, index);

    if (!h->far)
        placement_choose(h, index, grant->spread);
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
    wake_soon(h, index);
}

void harts_release(struct harts *h, uint32_t index)
{
    struct debug_hart *d = &debug_area_of(h->control)->hart[index];

    __atomic_sub_fetch(&debug_area_of(h->control)->stopped, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&d->stopped, 0, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&d->go, 1, __ATOMIC_SEQ_CST);
    if (h->cabinet_slots == 0) {
        futex_wake_sleeper(&d->go, &d->asleep);
        return;
    }
    carrier_grant(h, index);
    wake_soon(h, index);
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
    placement_leave(h, index);
    width_count(&h->width);
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

bool harts_shorten_pass(struct harts *h, uint32_t index, uint64_t pass_cycles)
{
    if (h->far || h->control->debug == SLOT_NO_DEBUG || !debug_area_of(h->control)->hart[index].stopped)
        return false;
    if (pass_cycles < harts_slot(h, index)->pass_cycles)
        harts_slot(h, index)->pass_cycles = pass_cycles;
    return true;
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

static bool waits(struct harts *h, uint32_t bell)
{
    struct control *c = h->control;

    return yields_await(&h->yields, &c->doorbell, bell, &c->patience, &c->useful);
}

/* Lets harts run, or others of this processor, for a moment. Returns true if the doorbell has been rung. */
static bool has_rung_meanwhile(struct harts *h, uint32_t bell)
{
    const uint32_t *doorbell = &h->control->doorbell;

    if (!inside.carry)
        return h->cabinet_slots > 0 && waits(h, bell);
    inside.carry(bell);
    if (__atomic_load_n(doorbell, __ATOMIC_SEQ_CST) != bell)
        return true;
    return h->control->patience.ns > 0 && waits(h, bell);
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
    useful_begin(&c->useful, &c->patience);
    return !signals_end() && !signals_take_child();
}

bool harts_sleep(struct harts *h, uint32_t bell)
{
    uint64_t silent_ms = 0; /* since when; 0: not at all */

    placement_look(h);
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
            placement_leave(h, index);
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

uint32_t harts_running(const struct harts *h)
{
    uint32_t running = h->running[0];

    for (uint32_t p = 1; p < h->processors; p++)
        running += h->running[p];
    return running;
}

bool harts_stand(const struct harts *h)
{
    return harts_running(h) == 0;
}

void harts_calm(struct harts *h)
{
    const uint32_t *in_debug_stops = &debug_area_of(h->control)->stopped;
    uint32_t bell;

    for (uint32_t i = 0; i < h->count; i++)
        harts_call(h, i);
    do {
        bell = harts_watch(h, UINT64_MAX);
        while (harts_take_stopped(h) >= 0)
            ;
    } while (harts_running(h) != __atomic_load_n(in_debug_stops, __ATOMIC_SEQ_CST) && harts_sleep(h, bell));
}
