/*
 * A round: grants, then one wait.
 *
 * As long as rounds are short, one processor is faster than two: a hand-over by futex costs about 5 microseconds
 * on one processor and 25 to 50 across two, and windows of 117 cycles leave little to do in parallel. So ncube and
 * its cabinets stay together on one processor (docs/performance.md has the figures).
 */
#define _GNU_SOURCE
#include "emu/harts.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/futex.h"
#include "emu/signals.h"

void harts_share_processor(void) {
    cpu_set_t set;
    int cpu = sched_getcpu();
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set); /* a matter of speed only: refused, all works as well */
}

int harts_init(struct harts *h, uint32_t count, uint32_t starting) {
    size_t bytes = sizeof(struct control) + count * sizeof(struct slot);
    *h = (struct harts){.fd = memfd_create("ncube-control", MFD_CLOEXEC), .count = count};
    if (h->fd < 0)
        return -1;
    void *p = MAP_FAILED;
    if (ftruncate(h->fd, (off_t)bytes) == 0)
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, 0);
    if (p == MAP_FAILED) {
        close(h->fd);
        return -1;
    }
    h->control = p;
    h->control->outstanding = starting;
    return 0;
}

void harts_free(struct harts *h) {
    munmap(h->control, sizeof(struct control) + h->count * sizeof(struct slot));
    close(h->fd);
}

struct slot *harts_slot(const struct harts *h, uint32_t index) {
    return &h->control->slot[index];
}

void harts_grant(struct harts *h, uint32_t index, uint64_t base_cycles, uint64_t budget_cycles) {
    struct slot *s = harts_slot(h, index);
    s->base_cycles = base_cycles;
    s->budget_cycles = budget_cycles;
    __atomic_add_fetch(&h->control->outstanding, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&s->go, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&s->asleep, __ATOMIC_SEQ_CST))
        futex_wake(&s->go);
}

static bool all_stopped(const struct control *c) {
    return __atomic_load_n(&c->outstanding, __ATOMIC_SEQ_CST) == 0;
}

bool harts_wait(struct harts *h) {
    struct control *c = h->control;
    for (;;) {
        uint32_t bell = __atomic_load_n(&c->doorbell, __ATOMIC_SEQ_CST);
        if (all_stopped(c))
            return true;
        if (signals_end() || signals_take_child())
            return false;
        __atomic_store_n(&c->asleep, 1, __ATOMIC_SEQ_CST);
        futex_wait(&c->doorbell, bell);
        __atomic_store_n(&c->asleep, 0, __ATOMIC_SEQ_CST);
    }
}
