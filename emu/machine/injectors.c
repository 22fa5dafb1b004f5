#include "emu/machine/injectors.h"

#include <string.h>

#include "emu/qemu/harts.h"
#include "emu/state/explain.h"
#include "vertex/contract/system.h"

/* Lets an injector hart run until it asks for more work. */
static bool run_injector(struct machine *m, const struct cabinet *c)
{
    uint32_t slot = c->first_slot + c->nodes, stops = harts_slot(&m->harts, slot)->stops;

    /* The first time, it executes QEMU's reset code. */
    harts_grant(&m->harts, slot, &(struct harts_grant){.budget_cycles = EVENTQ_NEVER >> 2});
    return harts_wait_injector(&m->harts, slot, stops + 1);
}

/* Makes a cabinet's injector write SSWI for up to NCU_INJECT_MAX harts. */
static bool inject(struct machine *m, uint32_t cabinet, const uint32_t *harts, uint32_t n)
{
    const struct cabinet *c = &m->cabinet[cabinet];
    struct ncu_mailbox *mailbox = (struct ncu_mailbox *)(cabinet_window(c, c->nodes) + NCU_MAILBOX_PA);

    memcpy(mailbox->inject, harts, n * sizeof *harts);
    mailbox->ans[0] = n;
    return run_injector(m, c);
}

bool machine_raise(void *ctx, const uint32_t *nodes, uint32_t n)
{
    struct machine *m = ctx;

    for (uint32_t cabinet = 0; cabinet < m->cabinets; cabinet++) {
        uint32_t batch[NCU_INJECT_MAX], count = 0;

        for (uint32_t k = 0; k < n; k++) {
            if (machine_cabinet_of(m, nodes[k]) == cabinet)
                batch[count++] = machine_hart_of(m, nodes[k]);
            if ((count == NCU_INJECT_MAX || k == n - 1) && count > 0) {
                if (!inject(m, cabinet, batch, count))
                    return false;
                count = 0;
            }
        }
    }
    return true;
}

int machine_start_injectors(struct machine *m)
{
    for (uint32_t k = 0; k < m->cabinets; k++)
        if (!run_injector(m, &m->cabinet[k]))
            return machine_explain_stop(m);
    return 0;
}
