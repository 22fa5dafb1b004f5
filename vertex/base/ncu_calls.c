#include "vertex/base/ncu_calls.h"

#include "vertex/base/addr.h"

uint64_t ncu_idle(enum ncu_wait why, uint64_t node, uint64_t type)
{
    MAILBOX->arg[0] = why;
    MAILBOX->arg[1] = node;
    MAILBOX->arg[2] = type;
    ncu_execute(NCU_IDLE);
    return MAILBOX->ans[0];
}

uint64_t ncu_causes(void)
{
    ncu_execute(NCU_CAUSES);
    return MAILBOX->ans[0];
}

void ncu_disk(uint32_t drive, int write, uint64_t sector, uint64_t sectors, void *buffer, uint64_t cookie)
{
    MAILBOX->arg[0] = drive;
    MAILBOX->arg[1] = write;
    MAILBOX->arg[2] = sector;
    MAILBOX->arg[3] = sectors;
    MAILBOX->arg[4] = addr_to_node(buffer);
    MAILBOX->arg[5] = cookie;
    ncu_execute(NCU_DISK);
}

void ncu_reap(int wanted)
{
    MAILBOX->arg[0] = wanted;
    ncu_execute(NCU_REAP);
}

uint64_t ncu_sent(void)
{
    ncu_execute(NCU_SENT);
    return MAILBOX->ans[0];
}

uint64_t ncu_text(const void *pages, uint64_t bytes)
{
    MAILBOX->arg[0] = addr_to_node(pages);
    MAILBOX->arg[1] = bytes;
    ncu_execute(NCU_TEXT);
    return MAILBOX->ans[0];
}

void ncu_mark(const uint64_t *text)
{
    for (int i = 0; i < 6; i++)
        MAILBOX->arg[i] = text[i];
    ncu_execute(NCU_MARK);
}

uint64_t ncu_time(void)
{
    ncu_execute(NCU_TIME);
    return MAILBOX->ans[0];
}

void ncu_timer(uint64_t at_cycles)
{
    MAILBOX->arg[0] = at_cycles;
    ncu_execute(NCU_TIMER);
}

int ncu_enter(void)
{
    ncu_execute(NCU_ENTER);
    return MAILBOX->ans[0] != 0;
}

int ncu_quantum(void)
{
    ncu_execute(NCU_QUANTUM);
    return MAILBOX->ans[0] != 0;
}

void ncu_end(void)
{
    ncu_execute(NCU_END);
}

void ncu_drop(void)
{
    ncu_execute(NCU_DROP);
}

void ncu_fault(const char *text, uint64_t bytes)
{
    MAILBOX->arg[0] = addr_to_node(text);
    MAILBOX->arg[1] = bytes;
    for (;;)
        ncu_execute(NCU_FAULT);
}
