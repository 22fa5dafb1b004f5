#include "vertex/process/kin.h"

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/message/console_line.h"
#include "vertex/process/proc.h"
#include "vertex/trap/signal.h"

enum kin_state { KIN_FREE, KIN_ALIVE, KIN_ENDED };

static struct kin {
    enum kin_state state;
    struct proc *parent; /* NULL: it has ended */
    uint32_t status;     /* of <sys/wait.h>, when ENDED */
} kin[PROCS_MAX] RARE_DATA;
static bool have_been RARE_DATA;

bool kin_have_been(void)
{
    return have_been;
}

bool kin_is_known(uint32_t procid)
{
    return procid < PROCS_MAX && kin[procid].state != KIN_FREE;
}

int kin_find_procid(const struct proc *p)
{
    for (uint32_t i = p->procs; i < PROCS_MAX; i++)
        if (!kin_is_known(i))
            return (int)i;
    return -N_EAGAIN;
}

void kin_add(uint32_t procid, struct proc *parent)
{
    kin[procid] = (struct kin){.state = KIN_ALIVE, .parent = parent};
    have_been = true;
}

void kin_forget_all(void)
{
    if (!have_been)
        return;
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        kin[i].state = KIN_FREE;
    have_been = false;
}

/* ---- Ends ---- */

/* As <sys/wait.h> takes it apart: the exit status from bit 8 on, or the signal. */
static uint32_t status_of(const struct proc *p)
{
    switch (p->death.how) {
    case EXIT_NORMAL:
        return ((uint32_t)p->death.status & 0xff) << 8;
    case EXIT_SIGNAL:
        return (uint32_t)p->death.status - SIGNAL_STATUS;
    case EXIT_FAULT:
        return signal_of_fault(p->fault.cause);
    default:
        return SIGNAL_KILL;
    }
}

static void leave_children(const struct proc *p)
{
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (kin[i].state != KIN_FREE && kin[i].parent == p) {
            kin[i].parent = NULL;
            if (kin[i].state == KIN_ENDED)
                kin[i].state = KIN_FREE;
        }
}

/* The text begins with the node, which a console line names anyway. */
static void tell_fault(const struct proc *p)
{
    const char *text = p->exit_text;

    while (*text && *text != ':')
        text++;
    console_line("child process %u%s", p->procid, text);
}

/* Only the parent learns of the end; for who looks for a fault, its line is printed. */
bool kin_end(const struct proc *p)
{
    struct kin *k = &kin[p->procid];

    if (!have_been)
        return false;
    leave_children(p);
    if (k->state == KIN_FREE)
        return false;
    if (p->death.how == EXIT_FAULT)
        tell_fault(p);
    k->status = status_of(p);
    k->state = k->parent && !signal_is_ignored(k->parent, SIGNAL_CHLD) ? KIN_ENDED : KIN_FREE;
    if (k->parent)
        signal_child(k->parent);
    return true;
}

/* ---- Children ---- */

static bool is_child(const struct proc *p, int32_t wanted, uint32_t procid)
{
    return kin[procid].state != KIN_FREE && kin[procid].parent == p &&
           (wanted == KIN_NONE || wanted == (int32_t)procid);
}

bool kin_has_child(const struct proc *p, int32_t procid)
{
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (is_child(p, procid, i))
            return true;
    return false;
}

int64_t kin_take_ended(const struct proc *p, int32_t procid)
{
    for (uint32_t i = 0; i < PROCS_MAX; i++)
        if (is_child(p, procid, i) && kin[i].state == KIN_ENDED) {
            kin[i].state = KIN_FREE;
            return (int64_t)kin[i].status << 16 | i;
        }
    return 0;
}

int32_t kin_parent(const struct proc *p)
{
    const struct proc *parent = kin_is_known(p->procid) ? kin[p->procid].parent : NULL;

    return parent ? (int32_t)parent->procid : KIN_NONE;
}
