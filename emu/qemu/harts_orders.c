/* Orders to cabinets whose harts do nothing, by a grant to their first carrier (slots.h). */
#include "emu/qemu/debug_area.h"
#include "emu/qemu/harts.h"

bool harts_can_copy(const struct harts *h)
{
    return h->cabinet_slots > 0;
}

/* Gives the cabinet with slots from `first` on an order, and returns its answer; 0 if a signal came or a process
 * ended. */
static int32_t order_cabinet(struct harts *h, uint32_t first, uint32_t order, const int32_t *answer)
{
    __atomic_store_n(&slots_carrier(h->control, first)->granted, order, __ATOMIC_SEQ_CST);
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

bool harts_renew_code(struct harts *h, uint32_t first)
{
    if (!slots_carrier(h->control, first)->code_due)
        return true;
    h->control->flushed = 0;
    int32_t answer = order_cabinet(h, first, SLOT_FLUSH, &h->control->flushed);
    h->code_done += answer != 0;
    h->flushes += answer == SLOT_FLUSH_DONE;
    return answer != 0;
}

/* Those that have been granted and have not begun count as running. */
void harts_note_registers(struct harts *h)
{
    uint32_t first = 0;
    int32_t done = 1;

    if (h->cabinet_slots == 0 || harts_running(h) != debug_area_of(h->control)->stopped)
        return;
    for (; first < h->count && done != 0; first += h->cabinet_slots) {
        h->control->noted = 0;
        done = order_cabinet(h, first, SLOT_NOTE, &h->control->noted);
    }
}
