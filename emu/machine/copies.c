#include "emu/machine/copies.h"

#include <signal.h>

struct inside_copy *copies_at(uint32_t i)
{
    return &inside.page->copy[i];
}

struct inside_copy *copies_present(void)
{
    return copies_at(INSIDE_COPIES - 1);
}

bool copy_waits(const struct inside_copy *c)
{
    return __atomic_load_n(&c->pid, __ATOMIC_SEQ_CST) > 0 && !c->ended;
}

void copy_drop(struct inside_copy *c)
{
    c->ended = 1;
    kill(c->pid, SIGKILL);
}

/* Returns the one whose neighbours are closest to each other, compared with how far back it is; not the first, and not
 * the last before the present one. NULL: there are no more. */
static struct inside_copy *find_closest(uint64_t now_ns, uint64_t interval_ns)
{
    struct inside_copy *closest = NULL;
    double least = 0;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        struct inside_copy *c = copies_at(i);
        uint64_t before_ns = 0, after_ns = now_ns;

        if (!copy_waits(c) || c->cycles == 0)
            continue;
        for (uint32_t k = 0; k < INSIDE_COPIES; k++) {
            const struct inside_copy *other = copies_at(k);

            if (k == i || !copy_waits(other))
                continue;
            if (other->way_ns <= c->way_ns && other->way_ns > before_ns)
                before_ns = other->way_ns;
            if (other->way_ns > c->way_ns && (other->way_ns < after_ns || after_ns == now_ns))
                after_ns = other->way_ns;
        }
        uint64_t back_ns = now_ns > c->way_ns ? now_ns - c->way_ns : c->way_ns - now_ns;
        double measure = (double)(after_ns - before_ns) / ((double)back_ns + (double)interval_ns + 1);
        if (!closest || measure < least) {
            closest = c;
            least = measure;
        }
    }
    return closest;
}

static uint64_t taken_bytes(void)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++)
        bytes += copy_waits(copies_at(i)) ? copies_at(i)->bytes : 0;
    return bytes;
}

/* Those that have been given up are free when the guard has taken their ends. The last one is for the present. */
static struct inside_copy *find_free(void)
{
    for (uint32_t i = 0; i < INSIDE_COPIES - 1; i++)
        if (__atomic_load_n(&copies_at(i)->pid, __ATOMIC_SEQ_CST) == 0)
            return copies_at(i);
    return NULL;
}

static bool is_one_ending(void)
{
    bool ending = false;

    for (uint32_t i = 0; i < INSIDE_COPIES - 1; i++)
        ending = ending || (copies_at(i)->ended && __atomic_load_n(&copies_at(i)->pid, __ATOMIC_SEQ_CST) != 0);
    return ending;
}

struct inside_copy *copies_make_room(uint64_t bytes, uint64_t most_bytes, uint64_t now_ns, uint64_t interval_ns)
{
    struct inside_copy *free = find_free(), *closest;

    if (free && taken_bytes() + bytes <= most_bytes)
        return free;
    closest = bytes > most_bytes || is_one_ending() ? NULL : find_closest(now_ns, interval_ns);
    if (closest)
        copy_drop(closest);
    return NULL;
}

bool copies_are_known(uint64_t cycles, uint64_t from_ns, uint64_t to_ns)
{
    bool known = false;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        const struct inside_copy *c = copies_at(i);

        known = known || (copy_waits(c) && c->cycles <= cycles && c->way_ns > from_ns && c->way_ns <= to_ns);
    }
    return known;
}
