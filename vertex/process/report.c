#include "vertex/process/report.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/page.h"
#include "vertex/message/buffers.h"
#include "vertex/message/sends.h"
#include "vertex/trap/event.h"
#include "vertex/trap/timer.h"

#define FIRST_WAIT_CYCLES (CLOCK_HZ / 1000)
#define WAIT_MAX_CYCLES   (60ull * CLOCK_HZ) /* the longest single wait; all waits together take about as long */

static struct message *kept;
static uint64_t wait_cycles;

static uint32_t text_length(const char *text)
{
    uint32_t n = 0;

    while (text[n])
        n++;
    return n;
}

static RARE uint32_t fault_length(const struct exit_fault *fault)
{
    return sizeof *fault + fault->returns * sizeof(struct exit_return);
}

static void report(uint32_t type, const struct job_exit *exit, const struct exit_fault *fault, const char *text)
{
    uint32_t n = text_length(text), fault_bytes = fault ? fault_length(fault) : 0;
    struct message *m = message_new(sizeof *exit + fault_bytes + n);

    if (!m)
        panic("no memory to report an exit: %u pages free", page_free_count());
    m->bytes = sizeof *exit + fault_bytes + n;
    copy_bytes(m->payload, exit, sizeof *exit);
    copy_bytes((char *)m->payload + sizeof *exit, fault, fault_bytes);
    copy_bytes((char *)m->payload + sizeof *exit + fault_bytes, text, n);
    message_post(m, NODE_HOST, TAG(type, 0, 0));
}

void report_exit(const struct job_exit *exit, const struct exit_fault *fault, const char *text)
{
    wait_cycles = FIRST_WAIT_CYCLES;
    report(N_EXIT, exit, fault, text);
}

void report_started(const struct job_exit *started)
{
    report(N_STARTED, started, NULL, "");
}

/* Keeps the N_EXIT and sets the timer to send it again, unless the minute is over. */
void report_failed(struct message *m, uint32_t node)
{
    (void)node;
    if (kept || wait_cycles > WAIT_MAX_CYCLES)
        return;
    m->holds++;
    kept = m;
    timer_set_report(ncu_time() + wait_cycles);
    wait_cycles *= 2;
}

bool report_is_kept(void)
{
    return kept;
}

void report_again(void)
{
    struct message *m = kept;

    kept = NULL;
    message_post(m, NODE_HOST, TAG(N_EXIT, 0, 0));
}
