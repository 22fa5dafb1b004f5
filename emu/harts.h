/*
 * Granting harts and waiting for them: ncube's end of the control segment (slots.h).
 */
#ifndef NCUBE_HARTS_H
#define NCUBE_HARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/slots.h"

struct harts {
    struct control *control; /* shared with the plugins */
    int fd;                  /* of the memfd, for them to inherit */
    uint32_t count;          /* slots */
};

/* Keeps this process, and the cabinets that it will start, on the processor where it is now. */
void harts_share_processor(void);

/* Makes the control segment. `starting` harts are counted as granted: they stop by themselves when they are created.
 * Returns 0 or -1 with errno. */
int harts_init(struct harts *h, uint32_t count, uint32_t starting);
void harts_free(struct harts *h);

struct slot *harts_slot(const struct harts *h, uint32_t index);

/* Lets one stopped hart run from `base_cycles`; user code only as far as the budget. */
void harts_grant(struct harts *h, uint32_t index, uint64_t base_cycles, uint64_t budget_cycles);

/* Waits until every granted hart has stopped, or a signal came (signals.h). True: all have stopped. */
bool harts_wait(struct harts *h);

#endif
