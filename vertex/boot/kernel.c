/*
 * Vertex, the operating system of every node, compute and I/O. boot.S and machine_mode.c have walled the hart in and
 * turned translation on; from here on it is S-mode, and time is the NCU's.
 */
#include <stdint.h>

#include "vertex/base/addr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/contract/machine.h"
#include "vertex/memory/page.h"
#include "vertex/message/channels.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/load.h"
#include "vertex/trap/trap.h"

extern char kernel_end[];

void main(uint64_t window);

static void memory_init(uint64_t window)
{
    addr_window = window;
    page_init(kernel_end, (char *)VERTEX_WINDOW_VA + MAILBOX->ram_bytes);
}

void main(uint64_t window)
{
    memory_init(window); /* pages */
    trap_init();         /* where traps go */
    channels_init();     /* a receive armed on every channel */
    if (NODE_IS_IO(MAILBOX->node))
        load_builtin(); /* nsdisk */
    sched_main();       /* and wait for a program */
}
