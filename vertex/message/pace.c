/*
 * The pace at which messages may interrupt (pace.h).
 */
#include "vertex/message/pace.h"

#include "vertex/base/attr.h"
#include "vertex/message/channels.h"
#include "vertex/trap/timer.h"

int32_t pace_left = PACE_WORK_CYCLES;
static uint64_t since_cycles; /* pace_left was PACE_WORK_CYCLES */
static bool resting;

RARE bool pace_look(const struct ncu_cause *cause)
{
    uint64_t now_cycles = cause->done_cycles;

    if (!resting && (NODE_IS_IO(MAILBOX->node) || now_cycles - since_cycles >= 2 * PACE_WORK_CYCLES)) {
        since_cycles = now_cycles;
        pace_left = PACE_WORK_CYCLES;
        return true;
    }
    if (!resting)
        timer_set_rest(now_cycles + PACE_REST_CYCLES);
    resting = true;
    since_cycles = now_cycles;
    return false;
}

RARE void pace_end_rest(void)
{
    resting = false;
    pace_left = PACE_WORK_CYCLES;
    timer_set_rest(NCU_TIMER_NONE);
    channels_end_rest();
}
