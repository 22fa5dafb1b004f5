/* abort, in a file of its own, so that a program may define another. */
#include <signal.h>
#include <stdlib.h>

#include "vertex/contract/traps.h"

#define STATUS_OF_SIGNAL 128 /* added to the number of the signal that ended a process, as shells do */

/* Ends the process even if SIGABRT is blocked, or if its handler returns. */
void abort(void)
{
    trap_sigblock(0, 1u << SIGABRT);
    raise(SIGABRT);
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    trap_exit(STATUS_OF_SIGNAL + SIGABRT);
}
