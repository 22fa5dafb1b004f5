#include "emu/machine/renew.h"

/* A hart can leave its block where it waits in the kernel, which is not interrupted, or has not begun. One that is
 * stopped in user code has told the clock at the end of its block, which it must execute before it is interrupted. */
static bool can_leave_block(const struct slot *s)
{
    return s->why == SLOT_START ||
           (s->why == SLOT_OP && (s->op == NCU_IDLE || s->op == NCU_ENTER || s->op == NCU_INJECT));
}

static bool all_can_leave(const struct machine *m, const struct cabinet *c)
{
    for (uint32_t k = 0; k <= c->nodes; k++)
        if (!can_leave_block(harts_slot(&m->harts, c->first_slot + k)))
            return false;
    return true;
}

bool machine_renew_code(struct machine *m)
{
    bool good = true;

    if (!harts_code_is_due(&m->harts) || !harts_stand(&m->harts))
        return true;
    for (uint32_t c = m->first_cabinet; good && c < m->end_cabinet; c++)
        if (all_can_leave(m, &m->cabinet[c]))
            good = harts_renew_code(&m->harts, m->cabinet[c].first_slot);
    return good;
}
